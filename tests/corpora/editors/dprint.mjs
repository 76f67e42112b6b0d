// dprint's Markdown plugin: its default configuration, and with wrapping.
import { readFileSync } from "node:fs";
import { createFromBuffer } from "@dprint/formatter";
import { getPath } from "@dprint/markdown";

const formatter = createFromBuffer(readFileSync(getPath()));

function save(fileText, configuration) {
  formatter.setConfig({}, configuration);
  return formatter.formatText({ filePath: "ledger.md", fileText });
}

export const variants = {
  default: (text) => save(text, {}),
  wrap: (text) => save(text, { lineWidth: 80, textWrap: "always" }),
};
