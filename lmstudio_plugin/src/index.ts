/**
 * throughLine in LM Studio: a prompt preprocessor, a tools provider, a status line and a settings
 * form around the Python engine, which decides everything. Whatever fails, the chat goes on.
 */
import { basename } from "node:path";

import {
  rawFunctionTool,
  type ChatMessage,
  type PluginContext,
  type PromptPreprocessorController,
  type Tool,
  type ToolsProviderController,
} from "@lmstudio/sdk";

import { patience, values, type Controller, type Values } from "./config";
import { Engine } from "./engine";
import { chatForm, globalForm, say } from "./generated";
import { Chats, History } from "./history";
import { EngineError, isRecord, reason } from "./record";
import { takeTurn } from "./turn";

const chats = new Chats();
const engine = new Engine(() => chats.clear());

export async function main(context: PluginContext): Promise<void> {
  context.withConfigSchematics(chatForm);
  context.withGlobalConfigSchematics(globalForm);
  context.withPromptPreprocessor(preprocess);
  context.withToolsProvider(offerTools);
  process.on("exit", () => engine.close());
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => process.exit(0));
  }
}

async function preprocess(
  ctl: PromptPreprocessorController,
  message: ChatMessage,
): Promise<ChatMessage> {
  const chat = chatOf(ctl);
  if (chat === null) return message;
  const status = new StatusLine(ctl);
  const outcome = await takeTurn(engine, chats, {
    chat,
    text: message.getText(),
    settings: values(ctl),
    signal: ctl.abortSignal,
    pull: async () => new History(await ctl.pullHistory(), ctl.client),
    progress: (text) => status.show("loading", text),
  });
  status.show(outcome.failed ? "error" : "done", outcome.status);
  if (outcome.name !== "") await suggestName(ctl, outcome.name);
  // Files and other parts of the message stay; all its text is what the engine made of it.
  if (outcome.text !== null) message.replaceText(outcome.text);
  return message;
}

async function suggestName(ctl: PromptPreprocessorController, name: string): Promise<void> {
  try {
    if (await ctl.needsNaming()) await ctl.suggestName(name);
  } catch (error) {
    console.warn(reason(error)); // a chat without a name is still a chat
  }
}

async function offerTools(ctl: ToolsProviderController): Promise<Tool[]> {
  const chat = chatOf(ctl);
  if (chat === null) return [];
  const settings = values(ctl);
  try {
    const offered = engine
      .request("tools", { chat, settings }, settings)
      .then(({ answer }) => answer);
    const result = await Promise.race([offered, tooLate(patience(settings))]);
    const tools = isRecord(result) && Array.isArray(result["tools"]) ? result["tools"] : [];
    return tools.filter(isRecord).map((tool) => toolOf(chat, settings, tool));
  } catch (error) {
    console.warn(reason(error)); // the status line of the turn says why
    return [];
  }
}

function toolOf(chat: string, settings: Values, tool: Record<string, unknown>): Tool {
  const name = String(tool["name"]);
  return rawFunctionTool({
    name,
    description: String(tool["description"]),
    parametersJsonSchema: tool["parameters"],
    implementation: async (given, { signal }) => {
      try {
        const params = { chat, tool: name, arguments: given, settings };
        const { answer, cancel } = await engine.request("call", params, settings);
        signal.addEventListener("abort", cancel);
        if (signal.aborted) cancel();
        const result = await answer.finally(() => signal.removeEventListener("abort", cancel));
        if (isRecord(result) && typeof result["text"] === "string") return result["text"];
        return say.undone({ why: say.odd() });
      } catch (error) {
        return say.undone({ why: error instanceof EngineError ? error.why : reason(error) });
      }
    },
  });
}

/** LM Studio's id of the chat; null for what runs in the background without one. */
function chatOf(ctl: Controller): string | null {
  try {
    return basename(ctl.getWorkingDirectory()) || null;
  } catch {
    return null;
  }
}

function tooLate(seconds: number): Promise<never> {
  return new Promise((_, reject) => {
    const why = say.silent({ seconds: String(seconds) });
    setTimeout(() => reject(new EngineError(why)), seconds * 1000).unref();
  });
}

/** The one line above a reply: made when there is something to say, then changed. */
class StatusLine {
  private shown: ReturnType<PromptPreprocessorController["createStatus"]> | null = null;

  constructor(private readonly ctl: PromptPreprocessorController) {}

  show(status: "loading" | "done" | "error", text: string): void {
    if (text !== "") {
      if (this.shown === null) this.shown = this.ctl.createStatus({ status, text });
      else this.shown.setState({ status, text });
    } else if (this.shown !== null) {
      this.shown.remove();
      this.shown = null;
    }
  }
}
