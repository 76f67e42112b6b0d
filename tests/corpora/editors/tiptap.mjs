// Tiptap, mounted in a document, with its two Markdown extensions: its own and the community's.
import { place } from "./browser.mjs";
import { Editor } from "@tiptap/core";
import { TaskItem, TaskList } from "@tiptap/extension-list";
import { TableKit } from "@tiptap/extension-table";
import { Markdown } from "@tiptap/markdown";
import StarterKit from "@tiptap/starter-kit";
import { Markdown as CommunityMarkdown } from "tiptap-markdown";

const lists = [TaskList, TaskItem.configure({ nested: true })];

function save(extensions, options, markdown) {
  const editor = new Editor({ element: place(), extensions, ...options });
  const text = markdown(editor);
  editor.destroy();
  return text;
}

export const variants = {
  official: (text) =>
    save(
      [StarterKit, ...lists, TableKit, Markdown],
      { content: text, contentType: "markdown" },
      (editor) => editor.getMarkdown(),
    ),
  community: (text) =>
    save(
      [StarterKit, ...lists, TableKit, CommunityMarkdown],
      { content: text },
      (editor) => editor.storage.markdown.getMarkdown(),
    ),
  bare: (text) =>
    save([StarterKit, CommunityMarkdown], { content: text }, (editor) =>
      editor.storage.markdown.getMarkdown(),
    ),
};
