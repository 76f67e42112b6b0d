// A plugin with one tool, which a Python process answers with what it was given: what a call costs
// through the SDK and a pipe.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { rawFunctionTool, type PluginContext } from "@lmstudio/sdk";

const ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)";

export async function main(context: PluginContext): Promise<void> {
  const child = spawn(process.env["ECHO_PYTHON"] ?? "python3", ["-c", ECHO]);
  const waiting = new Map<number, (text: string) => void>();
  let last = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, text } = JSON.parse(line) as { id: number; text: string };
    waiting.get(id)?.(text);
    waiting.delete(id);
  });
  process.on("exit", () => child.kill());
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));
  const echo = rawFunctionTool({
    name: "echo",
    description: "Says what it is told.",
    parametersJsonSchema: { type: "object", properties: { text: { type: "string" } } },
    implementation: ({ text }) =>
      new Promise((resolve) => {
        last += 1;
        waiting.set(last, resolve);
        child.stdin.write(`${JSON.stringify({ id: last, text })}\n`);
      }),
  });
  context.withPromptPreprocessor(async (_, message) => message);
  context.withToolsProvider(async () => [echo]);
}
