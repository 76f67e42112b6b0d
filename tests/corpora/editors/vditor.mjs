// Vditor's engine Lute: Markdown to the document of its rich text mode and back, as on every save.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import vm from "node:vm";

globalThis.require = createRequire(import.meta.url);
const path = globalThis.require.resolve("vditor/dist/js/lute/lute.min.js");
vm.runInThisContext(readFileSync(path, "utf8"), { filename: path });

export const variants = {
  wysiwyg: (text) => {
    const lute = globalThis.Lute.New();
    return lute.VditorDOM2Md(lute.Md2VditorDOM(text));
  },
  ir: (text) => {
    const lute = globalThis.Lute.New();
    return lute.VditorIRDOM2Md(lute.Md2VditorIRDOM(text));
  },
};
