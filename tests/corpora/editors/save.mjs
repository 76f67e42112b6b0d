// Opens every Markdown file of a folder in one editor and saves it there.
// usage: node save.mjs EDITOR VARIANT FOLDER
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [editor, variant, folder] = process.argv.slice(2);
const { variants } = await import(`./${editor}.mjs`);
const save = variants[variant];

for (const name of readdirSync(folder).filter((name) => name.endsWith(".md")).sort()) {
  const path = join(folder, name);
  writeFileSync(path, await save(readFileSync(path, "utf8")), "utf8");
}
process.exit(0);
