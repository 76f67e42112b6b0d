/**
 * The engine, whenever it is needed: started with the first message, started again after it ended,
 * each time later where it keeps ending, and ended where it no longer answers.
 */
import type { Values } from "./config";
import { globalKeys, PROTOCOL, say, VERSION } from "./generated";
import { EngineProcess, RpcError, type Asked, type Hooks } from "./process";
import { EngineError, engineCommand, type Command } from "./record";

/** Seconds until the next start after so many failures in a row. */
const DELAYS = [0, 0, 2, 10, 60];

export interface EngineOptions {
  /** How to start it, given the interpreter of the settings. */
  command?: (python: string) => Command;
  /** Seconds without an answer, after which it is asked whether it lives. */
  patience?: number;
  /** Seconds that it has for that, and for its start. */
  lastChance?: number;
  startChance?: number;
}

export class Engine {
  private current: EngineProcess | null = null;
  private ready: Promise<EngineProcess> | null = null;
  private python = "";
  private form = "";
  private failures = 0;
  private notBefore = 0;
  private lastWhy = "";
  private probing = false;
  private readonly options: Required<EngineOptions>;

  constructor(
    private readonly restarted: () => void = () => undefined,
    options: EngineOptions = {},
  ) {
    this.options = {
      command: engineCommand,
      patience: 10,
      lastChance: 5,
      startChance: 30,
      ...options,
    };
  }

  /**
   * Send a request, to an engine that is started for it where there is none.
   *
   * @param settings - The form's values; `python` is the interpreter that wins over the recorded one.
   * @throws EngineError - There is no engine, and why.
   */
  async request(
    method: string,
    params: object,
    settings: Values,
    hooks: Hooks = {},
  ): Promise<Asked & { cancel: () => void }> {
    const engine = await this.start(settings);
    this.tellForm(engine, settings);
    const asked = engine.request(method, params, hooks);
    asked.answer.then(
      () => {
        if (method !== "tools") this.failures = 0;
      },
      () => undefined,
    );
    this.watch(engine, asked);
    return { ...asked, cancel: () => engine.cancel(asked.id) };
  }

  /** End it with the plugin: gently, or at once where it is stuck. */
  close(): void {
    this.current?.close();
    if (this.probing) this.current?.kill(new EngineError(say.hung()));
  }

  /** Start it unless it runs. */
  start(settings: Values): Promise<EngineProcess> {
    const python = typeof settings["python"] === "string" ? settings["python"].trim() : "";
    if (this.ready && python !== this.python && !this.current?.busy) {
      this.current?.close(); // another interpreter was chosen
      this.forget();
    }
    if (python !== this.python) this.failures = this.notBefore = 0;
    this.ready ??= this.launch(python, settings).catch((error: unknown) => {
      this.ready = null;
      throw error;
    });
    return this.ready;
  }

  private async launch(python: string, settings: Values): Promise<EngineProcess> {
    this.python = python;
    const left = Math.ceil((this.notBefore - Date.now()) / 1000);
    if (left > 0) {
      const [times, seconds] = [String(this.failures), String(left)];
      throw new EngineError(say.resting({ times, seconds, why: this.lastWhy }), this.lastWhy);
    }
    const engine = new EngineProcess(this.options.command(python));
    this.current = engine;
    void engine.gone.then((error) => this.ended(engine, error));
    const timer = this.later(this.options.startChance, () => engine.kill(hung()));
    try {
      const welcome = await this.tellForm(engine, settings)?.answer;
      for (const notice of noticesOf(welcome)) console.info(notice);
    } catch (error) {
      if (error instanceof RpcError) engine.kill(error);
      throw error;
    } finally {
      clearTimeout(timer);
    }
    this.restarted();
    return engine;
  }

  /** Say hello, with the form's values for all chats; once more where they changed. */
  private tellForm(engine: EngineProcess, values: Values): Asked | null {
    const settings = Object.fromEntries(globalKeys.map((key) => [key, values[key]]));
    const form = JSON.stringify(settings);
    if (form === this.form) return null;
    this.form = form;
    return engine.request("hello", { protocol: PROTOCOL, plugin: VERSION, settings });
  }

  private ended(engine: EngineProcess, error: EngineError): void {
    if (engine !== this.current) return;
    this.forget();
    if (!engine.spawned) return; // the next try costs nothing, and its line says more
    this.failures += 1;
    this.lastWhy = error.why;
    const delay = DELAYS[Math.min(this.failures, DELAYS.length - 1)] ?? 0;
    this.notBefore = Date.now() + delay * 1000;
  }

  private forget(): void {
    this.current = null;
    this.ready = null;
    this.form = "";
    this.probing = false;
  }

  /** An engine that leaves a request open is asked something that it answers at once, if it lives. */
  private watch(engine: EngineProcess, asked: Asked): void {
    let timer = this.later(this.options.patience, () => {
      if (engine === this.current && !this.probing) this.probe(engine);
      timer = timer.refresh().unref();
    });
    asked.answer.catch(() => undefined).finally(() => clearTimeout(timer));
  }

  private probe(engine: EngineProcess): void {
    this.probing = true;
    const last = this.later(this.options.lastChance, () => engine.kill(hung()));
    engine
      .request("tools", { chat: null })
      .answer.catch(() => undefined)
      .finally(() => {
        clearTimeout(last);
        this.probing = false;
      });
  }

  private later(seconds: number, action: () => void): NodeJS.Timeout {
    return setTimeout(action, seconds * 1000).unref();
  }
}

function hung(): EngineError {
  return new EngineError(say.stopped({ why: say.hung() }), say.hung());
}

function noticesOf(welcome: unknown): string[] {
  const notices = (welcome as { notices?: unknown } | null)?.notices;
  return Array.isArray(notices) ? notices.map(String) : [];
}
