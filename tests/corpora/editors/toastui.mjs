// Toast UI Editor in its rich text mode.
import { place } from "./browser.mjs";
import { Editor } from "@toast-ui/editor";

export const variants = {
  wysiwyg: (text) => {
    const editor = new Editor({
      el: place(),
      initialEditType: "wysiwyg",
      initialValue: text,
      usageStatistics: false,
    });
    const saved = editor.getMarkdown();
    editor.destroy();
    return saved;
  },
};
