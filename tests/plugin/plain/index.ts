// A plugin that does nothing: what LM Studio's SDK costs by itself.
import type { PluginContext } from "@lmstudio/sdk";

export async function main(context: PluginContext): Promise<void> {
  context.withPromptPreprocessor(async (ctl, message) => {
    await ctl.pullHistory();
    return message;
  });
}
