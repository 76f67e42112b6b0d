/**
 * Where the engine is: `bridge.json`, which `throughline-nb lmstudio install` wrote. LM Studio gives
 * a plugin next to no environment, so the record holds all that the engine needs of it.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { RECORD_FORMAT, say } from "./generated";

export interface Command {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
}

/** A failure that has a line for the status, and its reason in a few words. */
export class EngineError extends Error {
  constructor(
    readonly line: string,
    readonly why: string = line,
  ) {
    super(line);
  }
}

/** LM Studio's folder, found as its SDK does (`findLMStudioHome`): a pointer file, then two places. */
export function lmstudioHome(user: string = homedir()): string {
  let home = user;
  try {
    home = realpathSync(user);
  } catch {
    // A home that cannot be resolved is taken as it is.
  }
  try {
    const pointer = readFileSync(join(home, ".lmstudio-home-pointer"), "utf-8").trim();
    if (pointer !== "") return pointer;
  } catch {
    // No pointer: LM Studio is in its usual place.
  }
  const cached = join(home, ".cache", "lm-studio");
  return existsSync(cached) ? cached : join(home, ".lmstudio");
}

/**
 * How to start the engine.
 *
 * @param python - An interpreter that wins over the recorded one; empty for none.
 * @throws EngineError - Nothing usable is recorded.
 */
export function engineCommand(python: string, home: string = lmstudioHome()): Command {
  const file = join(home, "throughline", "bridge.json");
  const record = readRecord(file, python !== "");
  const program = python || record.python;
  if (program === "") throw new EngineError(say.absent({ file }));
  const cwd = existsSync(dirname(file)) ? dirname(file) : homedir();
  return { program, args: ["-m", "throughline_nb", "bridge"], env: environment(record.env), cwd };
}

interface Recorded {
  python: string;
  env: NodeJS.ProcessEnv | null;
}

function readRecord(file: string, optional: boolean): Recorded {
  let text: string;
  try {
    text = readFileSync(file, "utf-8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw new EngineError(say.damaged({ file, why: reason(error) }));
    }
    if (optional) return { python: "", env: null };
    throw new EngineError(say.absent({ file }));
  }
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new EngineError(say.damaged({ file, why: reason(error) }));
  }
  const record = isRecord(found) ? found : {};
  if (typeof record["format"] === "number" && record["format"] > RECORD_FORMAT) {
    throw new EngineError(say.newer({ file }));
  }
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(isRecord(record["env"]) ? record["env"] : {})) {
    if (typeof value === "string") env[name] = value;
  }
  return { python: typeof record["python"] === "string" ? record["python"] : "", env };
}

/** The recorded environment and nothing else, but for what changes at each login or Windows needs. */
function environment(recorded: NodeJS.ProcessEnv | null): NodeJS.ProcessEnv {
  if (recorded === null) return { ...process.env };
  const env = { ...recorded };
  const agent = process.env["SSH_AUTH_SOCK"];
  if (agent) env["SSH_AUTH_SOCK"] = agent;
  if (process.platform === "win32") {
    const names = new Set(Object.keys(env).map((name) => name.toUpperCase()));
    if (!names.has("SYSTEMROOT")) env["SYSTEMROOT"] = process.env["SYSTEMROOT"] ?? "C:\\Windows";
    if (!names.has("PATHEXT")) env["PATHEXT"] = process.env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD";
  }
  return env;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Why something failed, in one line of at most 200 characters. */
export function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, " ").trim().slice(0, 200) || "unknown";
}
