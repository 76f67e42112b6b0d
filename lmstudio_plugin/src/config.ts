/** The values of the settings form in force in a chat, by the names that the engine knows. */
import type { PromptPreprocessorController, ToolsProviderController } from "@lmstudio/sdk";

import { chatForm, chatKeys, globalForm, globalKeys, TURN_SECONDS } from "./generated";

export type Controller = PromptPreprocessorController | ToolsProviderController;
export type Values = Record<string, unknown>;

/** The settings that hold for all chats; what LM Studio cannot read is left to the engine. */
export function globalValues(ctl: Controller): Values {
  return readable(() => {
    const config = ctl.getGlobalPluginConfig(globalForm);
    return Object.fromEntries(globalKeys.map((key) => [key, config.get(key)]));
  });
}

/** All settings, the chat's own and those of all chats. */
export function values(ctl: Controller): Values {
  const own = readable(() => {
    const config = ctl.getPluginConfig(chatForm);
    return Object.fromEntries(chatKeys.map((key) => [key, config.get(key)]));
  });
  return { ...globalValues(ctl), ...own };
}

/** Seconds that a message, or a generation, waits for the engine. */
export function patience(settings: Values): number {
  const seconds = settings["turn_seconds"];
  return typeof seconds === "number" && seconds > 0 ? seconds : TURN_SECONDS;
}

function readable(read: () => Values): Values {
  try {
    return read();
  } catch {
    return {};
  }
}
