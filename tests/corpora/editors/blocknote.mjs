// BlockNote without a browser: Markdown to its blocks and back.
import { ServerBlockNoteEditor } from "@blocknote/server-util";

const editor = ServerBlockNoteEditor.create();

export const variants = {
  default: async (text) => editor.blocksToMarkdownLossy(await editor.tryParseMarkdownToBlocks(text)),
};
