// ProseMirror's own Markdown package: parse with its default parser, write with its serialiser.
import { defaultMarkdownParser, defaultMarkdownSerializer } from "prosemirror-markdown";

export const variants = {
  default: (text) => defaultMarkdownSerializer.serialize(defaultMarkdownParser.parse(text)),
};
