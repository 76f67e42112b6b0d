/**
 * One message of the user on its way through the engine. Whatever happens, there is an outcome: the
 * engine's, or the message as it was with a line that says why.
 */
import { patience, type Values } from "./config";
import type { Engine } from "./engine";
import { say } from "./generated";
import { History, type Chats, type Held } from "./history";
import { RpcError } from "./process";
import { EngineError, isRecord, reason } from "./record";

export interface Outcome {
  /** The message as the model gets it, null for unchanged. */
  text: string | null;
  /** Line above the reply; empty for none. */
  status: string;
  failed: boolean;
  /** Name that the chat should get; empty for none. */
  name: string;
}

export interface Message {
  chat: string;
  text: string;
  settings: Values;
  signal: AbortSignal;
  /** Fetch the history before the message. */
  pull: () => Promise<History>;
  /** Show what long work is at. */
  progress: (text: string) => void;
}

/**
 * Take a message to the engine.
 *
 * @throws The signal's reason - The user aborted it.
 */
export async function takeTurn(engine: Engine, chats: Chats, message: Message): Promise<Outcome> {
  const limit = new Limit(patience(message.settings), message.signal);
  try {
    return await limit.first(converse(engine, chats, message, limit));
  } catch (error) {
    if (message.signal.aborted) throw message.signal.reason;
    if (error instanceof EngineError) return failure(error.line);
    return failure(say.refused({ why: reason(error) }));
  } finally {
    limit.clear();
  }
}

async function converse(
  engine: Engine,
  chats: Chats,
  message: Message,
  limit: Limit,
): Promise<Outcome> {
  const { chat, settings } = message;
  // Half a surrogate pair (an emoji that was cut) cannot be sent; it does not count as a change.
  const text = Buffer.from(message.text, "utf-8").toString("utf-8");
  const starting = engine.start(settings);
  const [history] = await Promise.all([message.pull(), starting]);
  if (limit.over) return failure("");
  const params = { chat, text, settings, history: history.given(chats.get(chat)) };
  const asked = await engine.request("turn", params, settings, {
    // They hold the history until the answer is there, which may come after the message went on.
    history: ({ first, skip }) => history.page(Number(first), Number(skip)),
    progress: (line, unlimited) => {
      if (unlimited) limit.lift();
      if (line !== "" && !limit.over) message.progress(line);
    },
  });
  limit.onOver(asked.cancel);
  try {
    const result = await asked.answer;
    chats.note(chat, history, heldOf(result));
    return outcomeOf(result, text);
  } catch (error) {
    if (error instanceof RpcError) chats.note(chat, history, heldOf(error.data));
    throw error;
  }
}

/** The time that a message may take; it ends too when the user aborts it. */
class Limit {
  over = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly ended: Promise<never>;
  private readonly actions: (() => void)[] = [];
  private end!: (error: unknown) => void;

  constructor(
    seconds: number,
    private readonly signal: AbortSignal,
  ) {
    this.ended = new Promise((_, reject) => (this.end = reject));
    this.ended.catch(() => undefined);
    const why = say.silent({ seconds: String(seconds) });
    const late = new EngineError(say.late({ seconds: String(seconds) }), why);
    this.timer = setTimeout(() => this.stop(late), seconds * 1000);
    signal.addEventListener("abort", this.abort);
    if (signal.aborted) this.abort();
  }

  first<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined); // what comes after the end was told already
    return Promise.race([work, this.ended]);
  }

  onOver(action: () => void): void {
    if (this.over) action();
    else this.actions.push(action);
  }

  lift(): void {
    clearTimeout(this.timer);
  }

  clear(): void {
    this.lift();
    this.signal.removeEventListener("abort", this.abort);
  }

  private readonly abort = (): void => this.stop(this.signal.reason);

  private stop(error: unknown): void {
    if (this.over) return;
    this.over = true;
    for (const action of this.actions) action();
    this.end(error);
  }
}

function failure(status: string): Outcome {
  return { text: null, status, failed: true, name: "" };
}

function outcomeOf(result: unknown, before: string): Outcome {
  const { text, status, name } = isRecord(result) ? result : {};
  if (typeof text !== "string") return failure(say.refused({ why: say.odd() }));
  return {
    text: text === before ? null : text,
    status: typeof status === "string" ? status : "",
    failed: false,
    name: typeof name === "string" ? name : "",
  };
}

function heldOf(result: unknown): Held | null {
  const held = isRecord(result) ? result["held"] : null;
  if (!isRecord(held)) return null;
  const { turn, head } = held;
  return typeof turn === "number" && typeof head === "string" ? { turn, head } : null;
}
