// Lexical without a document: Markdown in, its editor state, Markdown out, all its transformers.
import { CodeNode } from "@lexical/code";
import { createHeadlessEditor } from "@lexical/headless";
import { LinkNode } from "@lexical/link";
import { ListItemNode, ListNode } from "@lexical/list";
import {
  $convertFromMarkdownString,
  $convertToMarkdownString,
  CHECK_LIST,
  TRANSFORMERS,
} from "@lexical/markdown";
import { HeadingNode, QuoteNode } from "@lexical/rich-text";

const transformers = [CHECK_LIST, ...TRANSFORMERS];

export const variants = {
  default: (text) => {
    const editor = createHeadlessEditor({
      nodes: [CodeNode, HeadingNode, LinkNode, ListItemNode, ListNode, QuoteNode],
      onError: (error) => {
        throw error;
      },
    });
    let saved = "";
    editor.update(() => $convertFromMarkdownString(text, transformers), { discrete: true });
    editor.read(() => {
      saved = $convertToMarkdownString(transformers);
    });
    return saved;
  },
};
