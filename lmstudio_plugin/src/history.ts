/**
 * A chat's history as it was pulled for one turn: numbered, hashed and handed out in pages. Of a
 * chat's past nothing is kept between turns but one hash a turn, by which a past that was edited or
 * regenerated is found.
 */
import { createHash, type Hash } from "node:crypto";

import type { Chat, ChatMessage, LMStudioClient } from "@lmstudio/sdk";

/** Characters of one text on the wire; what is longer is cut, as the protocol says. */
const LONGEST = 4_000_000;
/** Characters of JSON that go along with a turn, or in one page. */
const ALONG = 256 * 1024;
const PAGE = 1024 * 1024;
/** Chats whose hashes are kept; of any other the engine asks for the history once more. */
const CHATS = 64;

export type Part =
  | { type: "text"; text: string }
  | { type: "file"; name: string }
  | { type: "toolCallRequest"; id?: string; name: string; arguments: Record<string, unknown> | null }
  | { type: "toolCallResult"; id?: string; content: string };

export interface WireMessage {
  turn: number;
  role: string;
  parts: Part[];
}

export interface Held {
  turn: number;
  head: string;
}

export interface Page {
  messages: WireMessage[];
  more: boolean;
  turn: number;
  head: string;
}

export interface GivenHistory {
  turn: number;
  head: string;
  changed: number;
  base: string;
  messages: WireMessage[] | null;
}

/** A pulled history. Turn `n` is the `n`th message of the user and what follows it. */
export class History {
  /** `heads[n]`: chained hash of turns 1 to `n`; empty for 0. */
  readonly heads: string[] = [""];
  /** `starts[n]`: index of turn `n`'s first message; one more entry marks the end. */
  private readonly starts: number[] = [];

  constructor(
    private readonly chat: Chat,
    private readonly client: LMStudioClient,
  ) {
    let digest: Hash | null = null; // of the turn at hand; a system prompt belongs to none
    let index = 0;
    for (const message of chat) {
      if (message.isUserMessage()) {
        if (digest) this.heads.push(digest.digest("base64url"));
        digest = createHash("sha256").update(this.heads[this.turn] ?? "");
        this.starts[this.turn + 1] = index;
      }
      if (digest) addTo(digest, message, client);
      index += 1;
    }
    if (digest) this.heads.push(digest.digest("base64url"));
    this.starts[this.turn + 1] = index;
  }

  /** The last complete turn. */
  get turn(): number {
    return this.heads.length - 1;
  }

  /** What is said of the history with a turn, and its new messages where they are few. */
  given(known: Known | undefined): GivenHistory {
    const held = known?.held ?? null;
    const changed = held && known ? this.firstChange(known.heads, held.turn) : 1;
    const { messages, more } = this.page(changed, 0, ALONG);
    return {
      turn: this.turn,
      head: this.heads[this.turn] ?? "",
      changed,
      base: held?.head ?? "",
      messages: more ? null : messages,
    };
  }

  /** The messages of turns `first` on without the first `skip`, as many as a page holds. */
  page(first: number, skip: number, limit = PAGE): Page {
    const end = this.starts[this.turn + 1] ?? 0;
    const messages: WireMessage[] = [];
    let at = (this.starts[first] ?? end) + skip;
    // The turn that the message belongs to, and then the last one that is complete.
    let turn = first;
    for (let size = 0; at < end; at += 1) {
      while (turn < this.turn && (this.starts[turn + 1] ?? end) <= at) turn += 1;
      const message = wire(this.chat.at(at), turn, this.client);
      size += JSON.stringify(message).length;
      if (size > limit && messages.length > 0) break;
      messages.push(message);
    }
    while (turn <= this.turn && (this.starts[turn + 1] ?? end) <= at) turn += 1;
    turn = Math.min(turn - 1, this.turn);
    return { messages, more: at < end, turn, head: this.heads[turn] ?? "" };
  }

  private firstChange(before: readonly string[], until: number): number {
    for (let turn = 1; turn <= Math.min(until, this.turn); turn += 1) {
      if (this.heads[turn] !== before[turn]) return turn;
    }
    return Math.min(until, this.turn) + 1;
  }
}

/** What is remembered of a chat: how far the engine took it in, and the hashes up to there. */
interface Known {
  held: Held;
  heads: readonly string[];
}

/** The chats, those used last. */
export class Chats {
  private readonly known = new Map<string, Known>();

  get(chat: string): Known | undefined {
    return this.known.get(chat);
  }

  /** Note how far the engine took in a history. */
  note(chat: string, history: History, held: Held | null): void {
    this.known.delete(chat);
    if (held === null || history.heads[held.turn] !== held.head) return;
    this.known.set(chat, { held, heads: history.heads });
    for (const oldest of this.known.keys()) {
      if (this.known.size <= CHATS) break;
      this.known.delete(oldest);
    }
  }

  /** Forget all: a new engine holds nothing. */
  clear(): void {
    this.known.clear();
  }
}

/** Hash a message: what goes over the wire of it, each text with its length. */
function addTo(digest: Hash, message: ChatMessage, client: LMStudioClient): void {
  const text = message.getText();
  digest.update(`${message.getRole()} ${text.length}:${text}`);
  const calls = message.getToolCallRequests();
  const results = message.getToolCallResults();
  if (calls.length > 0 || results.length > 0) digest.update(JSON.stringify([calls, results]));
  if (message.hasFiles()) {
    digest.update(JSON.stringify(message.getFiles(client).map((file) => file.name)));
  }
}

function wire(message: ChatMessage, turn: number, client: LMStudioClient): WireMessage {
  const parts: Part[] = [];
  const text = message.getText();
  if (text !== "") parts.push({ type: "text", text: cut(text) });
  if (message.hasFiles()) {
    for (const file of message.getFiles(client)) parts.push({ type: "file", name: file.name });
  }
  for (const { id, name, arguments: given } of message.getToolCallRequests()) {
    parts.push({ type: "toolCallRequest", ...named(id), name, arguments: given ?? null });
  }
  for (const { toolCallId, content } of message.getToolCallResults()) {
    parts.push({ type: "toolCallResult", ...named(toolCallId), content: cut(content) });
  }
  return { turn, role: message.getRole(), parts };
}

function named(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id };
}

function cut(text: string): string {
  return text.length > LONGEST ? text.slice(0, LONGEST) : text;
}
