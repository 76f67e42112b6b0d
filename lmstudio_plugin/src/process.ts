/**
 * One engine process: JSON-RPC 2.0, one message a line, on its input and output. It ends with its
 * input, so it never outlives the plugin; and nothing of it keeps the plugin's process alive, which
 * ends by itself when LM Studio's connection does.
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";

import { say } from "./generated";
import { Lines } from "./lines";
import { EngineError, isRecord, reason, type Command } from "./record";

/** What the engine may ask, and say, while one of its requests runs. */
export interface Hooks {
  history?: (params: Record<string, unknown>) => unknown;
  progress?: (text: string, unlimited: boolean) => void;
}

/** A request that is under way. The answer comes, or the engine ends: it never stays open. */
export interface Asked {
  id: number;
  answer: Promise<unknown>;
}

/** The engine refused a request; `message` is one sentence. */
export class RpcError extends EngineError {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(say.refused({ why: message.replace(/\.$/, "") }), message);
  }
}

interface Open {
  hooks: Hooks;
  resolve: (result: unknown) => void;
  reject: (error: EngineError) => void;
}

export class EngineProcess {
  /** Settled when the process is gone or given up, with the reason; never rejects. */
  readonly gone: Promise<EngineError>;
  /** Whether there ever was a process. */
  spawned = false;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly open = new Map<number, Open>();
  private readonly lines = new Lines();
  private nextId = 1;
  private lastWords = "";
  private why: EngineError | null = null;
  private settle!: (error: EngineError) => void;

  constructor(command: Command) {
    this.gone = new Promise((resolve) => (this.settle = resolve));
    const { program, args, env, cwd } = command;
    this.child = spawn(program, args, { env, cwd, stdio: "pipe", windowsHide: true });
    this.child.on("spawn", () => (this.spawned = true));
    this.child.on("error", (error) => {
      this.end(new EngineError(say.unstarted({ python: program, why: reason(error) })));
    });
    this.child.on("exit", (code, signal) => {
      // What it said last may still be in the pipe.
      setImmediate(() => this.end(stopped(this.exitReason(code, signal))));
    });
    this.child.stdin.on("error", () => undefined); // the exit tells
    this.child.stdout.on("data", (bytes: Buffer) => this.read(bytes));
    this.child.stderr.on("data", (bytes: Buffer) => {
      this.lastWords = (this.lastWords + bytes.toString("utf-8")).slice(-2000);
    });
    this.child.unref();
    for (const pipe of [this.child.stdin, this.child.stdout, this.child.stderr]) {
      (pipe as unknown as Socket).unref?.();
    }
  }

  /** Whether requests wait for an answer. */
  get busy(): boolean {
    return this.open.size > 0;
  }

  request(method: string, params: object, hooks: Hooks = {}): Asked {
    const id = this.nextId++;
    const answer = new Promise<unknown>((resolve, reject) => {
      if (this.why) reject(this.why);
      else this.open.set(id, { hooks, resolve, reject });
    });
    answer.catch(() => undefined); // whoever waits for it is told
    this.write({ id, method, params });
    return { id, answer };
  }

  cancel(id: number): void {
    if (this.open.has(id)) this.write({ method: "cancel", params: { id } });
  }

  /** Let it end by itself; its running work gets half a second, and one that is stuck not more. */
  close(): void {
    this.child.stdin.end();
    setTimeout(() => this.child.kill("SIGKILL"), 2000).unref();
  }

  /** End it at once. */
  kill(error: EngineError): void {
    this.end(error);
    this.child.kill("SIGKILL");
  }

  private end(error: EngineError): void {
    if (this.why) return;
    this.why = error;
    for (const { reject } of this.open.values()) reject(error);
    this.open.clear();
    this.settle(error);
  }

  private write(message: object): void {
    if (!this.why) this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  private read(bytes: Buffer): void {
    try {
      for (const line of this.lines.take(bytes)) {
        if (this.why) return;
        this.take(JSON.parse(line));
      }
    } catch {
      this.kill(stopped(say.odd()));
    }
  }

  /** @throws Error - It is no message of the bridge. */
  private take(message: unknown): void {
    if (!isRecord(message) || message["jsonrpc"] !== "2.0") throw new Error("no message");
    const { id, method, params } = message;
    if (typeof method === "string") this.serve(method, isRecord(params) ? params : {}, id);
    else if (typeof id === "number") this.settleRequest(id, message);
    else if (id !== null) throw new Error("no message");
  }

  private settleRequest(id: number, message: Record<string, unknown>): void {
    const open = this.open.get(id);
    this.open.delete(id);
    const { error, result } = message;
    if (!isRecord(error)) open?.resolve(result);
    else open?.reject(new RpcError(Number(error["code"]), String(error["message"]), error["data"]));
  }

  private serve(method: string, params: Record<string, unknown>, id: unknown): void {
    const hooks = this.open.get(Number(params["request"]))?.hooks;
    if (id === undefined) {
      if (method !== "progress") return;
      hooks?.progress?.(String(params["text"] ?? ""), params["unlimited"] === true);
    } else if (method === "history" && hooks?.history) {
      this.write({ id, result: hooks.history(params) });
    } else {
      this.write({ id, error: { code: -32601, message: `the plugin has no ${method} for it` } });
    }
  }

  private exitReason(code: number | null, signal: string | null): string {
    const words = this.lastWords.trim().split("\n").at(-1)?.trim().slice(0, 200) ?? "";
    const ended = say.ended({ code: String(signal ?? code) });
    return words === "" ? ended : `${ended}: ${words}`;
  }
}

function stopped(why: string): EngineError {
  return new EngineError(say.stopped({ why }), why);
}
