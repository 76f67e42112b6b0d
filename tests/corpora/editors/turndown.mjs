// What a page's rich text field does: Markdown to HTML (marked), HTML back to Markdown (Turndown).
import { gfm } from "turndown-plugin-gfm";
import { marked } from "marked";
import TurndownService from "turndown";

export const variants = {
  setext: (text) => new TurndownService().turndown(marked.parse(text)),
  atx: (text) => {
    const service = new TurndownService({ headingStyle: "atx", bulletListMarker: "-" });
    return service.use(gfm).turndown(marked.parse(text));
  },
};
