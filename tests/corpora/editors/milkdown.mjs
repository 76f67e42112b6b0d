// Milkdown with its CommonMark preset, and with the GFM preset as well.
import { place } from "./browser.mjs";
import { Editor, defaultValueCtx, rootCtx } from "@milkdown/kit/core";
import { commonmark } from "@milkdown/kit/preset/commonmark";
import { gfm } from "@milkdown/kit/preset/gfm";
import { getMarkdown } from "@milkdown/kit/utils";

async function save(text, presets) {
  const editor = Editor.make().config((ctx) => {
    ctx.set(rootCtx, place());
    ctx.set(defaultValueCtx, text);
  });
  for (const preset of presets) editor.use(preset);
  await editor.create();
  const saved = editor.action(getMarkdown());
  await editor.destroy();
  return saved;
}

export const variants = {
  commonmark: (text) => save(text, [commonmark]),
  gfm: (text) => save(text, [commonmark, gfm]),
};
