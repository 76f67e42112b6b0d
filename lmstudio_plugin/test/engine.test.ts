import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Chat, type LMStudioClient } from "@lmstudio/sdk";

import type { Values } from "../src/config";
import { Engine, type EngineOptions } from "../src/engine";
import { Chats, History } from "../src/history";
import { takeTurn, type Outcome } from "../src/turn";

const FAKE = join(process.cwd(), "test", "fake-engine.mjs");
const client = { files: {} } as LMStudioClient;
const engines: Engine[] = [];
// Nothing of an engine keeps a process alive, so the test has to.
const alive = setInterval(() => undefined, 1000);
after(() => {
  for (const engine of engines) engine.close();
  clearInterval(alive);
});

interface World {
  engine: Engine;
  chats: Chats;
  starts: () => number;
  say: (text: string, more?: Said) => Promise<Outcome>;
  log: (settings?: Values) => Promise<{ method?: string; params?: Record<string, unknown>; id?: number }[]>;
}

interface Said {
  chat?: string;
  settings?: Values;
  signal?: AbortSignal;
  turns?: number;
  progress?: (text: string) => void;
}

function pulled(turns: number): History {
  const chat = Chat.empty();
  for (let n = 1; n <= turns; n += 1) {
    chat.append("user", `question ${n}`);
    chat.append("assistant", `answer ${n} `.repeat(100));
  }
  return new History(chat, client);
}

function world(options: EngineOptions = {}): World {
  let started = 0;
  const command = () => {
    started += 1;
    return { program: process.execPath, args: [FAKE], env: {}, cwd: process.cwd() };
  };
  const chats = new Chats();
  const engine = new Engine(() => chats.clear(), { command, ...options });
  engines.push(engine);
  return {
    engine,
    chats,
    starts: () => started,
    say: (text, { chat = "c", settings, signal, turns = 0, progress = () => undefined } = {}) =>
      takeTurn(engine, chats, {
        chat,
        text,
        settings: { turn_seconds: 30, ...settings },
        signal: signal ?? new AbortController().signal,
        pull: async () => pulled(turns),
        progress,
      }),
    log: async (settings = {}) => {
      const { answer } = await engine.request("call", { chat: "c", tool: "log" }, settings);
      return JSON.parse(((await answer) as { text: string }).text);
    },
  };
}

test("a message goes through the engine", async () => {
  const { say, starts } = world();
  assert.deepEqual(await say("Hello"), { text: "Hello!", status: "fine", failed: false, name: "" });
  assert.equal((await say("same")).text, null, "an unchanged message is not replaced");
  assert.equal(starts(), 1);
});

test("hello comes first, and again when the form changed", async () => {
  const { say, log } = world();
  await say("one", { settings: { orphan_days: 7 } });
  await say("two", { settings: { orphan_days: 7, recall: false } });
  await say("three", { settings: { orphan_days: 8 } });
  const all = await log({ orphan_days: 8, turn_seconds: 30 });
  const seen = all.filter(({ method }) => method === "hello" || method === "turn");
  assert.deepEqual(
    seen.map(({ method }) => method),
    ["hello", "turn", "turn", "hello", "turn"],
  );
});

test("only what is new of a history is sent, and all of it to a new engine", async () => {
  const { say, log } = world();
  const sent = async () => {
    const turns = (await log()).filter(({ method }) => method === "turn");
    const { messages, changed } = turns.at(-1)?.params?.["history"] as {
      messages: unknown[];
      changed: number;
    };
    return [changed, messages.length];
  };
  await say("one", { turns: 5 });
  assert.deepEqual(await sent(), [1, 10]);
  await say("two", { turns: 6 });
  assert.deepEqual(await sent(), [6, 2]);
  await say("refuse", { turns: 7 });
  await say("three", { turns: 8 });
  assert.deepEqual(await sent(), [8, 2], "an error says as well what is held");
  await say("die", { turns: 8 });
  await say("four", { turns: 8 });
  assert.deepEqual(await sent(), [1, 16]);
});

test("the engine asks for the history in pages", async () => {
  const { say } = world();
  const { text } = await say("history", { turns: 3000 });
  const page = JSON.parse(text ?? "") as { messages: { turn: number }[]; turn: number };
  assert.equal(page.messages.length, 6000);
  assert.equal(page.turn, 3000);
});

test("a message waits as long as the setting says; what comes later is not lost", async () => {
  const { say, log } = world();
  await say("warm");
  const begin = Date.now();
  const late = await say("slow 2500", { settings: { turn_seconds: 0.2 }, turns: 3 });
  assert.ok(Date.now() - begin < 2400);
  assert.equal(late.text, null);
  assert.match(late.status, /no answer within 0\.2 s/);
  await sleep(2600);
  await say("next", { turns: 3 });
  const seen = await log();
  const turns = seen.filter(({ method }) => method === "turn");
  const cancelled = seen.filter(({ method }) => method === "cancel");
  assert.deepEqual(
    cancelled.map(({ params }) => params?.["id"]),
    [turns[1]?.id],
  );
  assert.equal((turns[2]?.params?.["history"] as { changed: number }).changed, 4);
});

test("a request of unlimited time shows what it does", async () => {
  const { say } = world();
  const shown: string[] = [];
  await say("warm");
  const settings = { turn_seconds: 0.2 };
  const outcome = await say("long 500", { settings, progress: (line) => shown.push(line) });
  assert.equal(outcome.text, "long 500!");
  assert.deepEqual(shown, ["half done"]);
});

test("the user can abort it at any time", async () => {
  const { say, log } = world();
  for (const text of ["hang", "long 5000"]) {
    const abort = new AbortController();
    const sent = say(text, { signal: abort.signal });
    await sleep(300);
    abort.abort();
    await assert.rejects(sent, { name: "AbortError" });
  }
  const aborted = AbortSignal.abort();
  await assert.rejects(say("Hello", { signal: aborted }), { name: "AbortError" });
  assert.equal((await log()).filter(({ method }) => method === "cancel").length, 2);
});

test("many chats at once do not wait for each other", async () => {
  const { say } = world();
  const hanging = say("slow 2000", { chat: "slow" });
  let over = false;
  void hanging.then(() => (over = true));
  const chats = Array.from({ length: 20 }, (_, n) => say(`Hello ${n}`, { chat: `c${n}` }));
  for (const [n, outcome] of (await Promise.all(chats)).entries()) {
    assert.equal(outcome.text, `Hello ${n}!`);
  }
  assert.ok(!over);
  assert.equal((await hanging).text, "slow 2000!");
});

for (const [text, said] of [
  ["die", /the engine stopped \(it ended with 3\)/],
  ["words", /it ended with 1: No module named throughline_nb/],
  ["garbage", /no message of the bridge/],
  ["refuse", /throughLine: it was refused; your message/],
  ["odd", /no message of the bridge/],
] as const) {
  test(`an engine that fails: ${text}`, async () => {
    const { say } = world();
    const outcome = await say(text);
    assert.deepEqual([outcome.text, outcome.failed], [null, true]);
    assert.match(outcome.status, said);
    assert.equal((await say("Hello")).text, "Hello!", "the next message finds an engine");
  });
}

test("an engine that keeps ending is started less and less often", async () => {
  const { say, starts } = world();
  for (let n = 0; n < 6; n += 1) await say("die");
  assert.equal(starts(), 2);
  const { status } = await say("Hello");
  assert.match(status, /2 times in a row \(it ended with 3\)/);
  await sleep(2100);
  assert.equal((await say("Hello")).text, "Hello!");
  assert.equal(starts(), 3);
  await say("die");
  assert.equal((await say("Hello")).text, "Hello!", "after a success it begins anew");
});

test("an engine that no longer answers anything is ended", async () => {
  const { say, starts } = world({ patience: 0.2, lastChance: 0.3 });
  const pid = Number.parseInt((await say("pid")).text ?? "", 10);
  process.kill(pid, 0);
  const begin = Date.now();
  const { status } = await say("stuck");
  assert.ok(Date.now() - begin < 4000);
  assert.match(status, /it no longer answered/);
  assert.equal((await say("Hello")).text, "Hello!");
  assert.equal(starts(), 2);
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

test("an engine that is busy with one chat, and answers others, is left alone", async () => {
  const { say, starts } = world({ patience: 0.1, lastChance: 1 });
  await say("warm");
  assert.equal((await say("slow 1200")).text, "slow 1200!");
  assert.equal(starts(), 1);
});

test("one that is stuck when the plugin ends is ended at once", async () => {
  const { engine, say } = world({ patience: 0.1, lastChance: 60 });
  const pid = Number.parseInt((await say("pid")).text ?? "", 10);
  const stuck = say("stuck");
  await sleep(1000);
  engine.close();
  assert.match((await stuck).status, /it no longer answered/);
  await sleep(300);
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

test("another interpreter means another engine, once no message waits; the one before ends", async () => {
  const { say, starts } = world();
  const pid = Number.parseInt((await say("pid")).text ?? "", 10);
  await say("stuck", { settings: { turn_seconds: 0.3 } });
  await say("Hello", { settings: { python: "/another", turn_seconds: 0.3 } });
  assert.equal(starts(), 1, "not while a message waits");
  const other = world();
  const quiet = Number.parseInt((await other.say("pid")).text ?? "", 10);
  await other.say("Hello", { settings: { python: "/another" } });
  assert.equal(other.starts(), 2);
  await sleep(1000);
  assert.throws(() => process.kill(quiet, 0), { code: "ESRCH" });
  process.kill(pid, "SIGKILL");
});

test("one that never says hello is ended", async () => {
  const silent = {
    program: process.execPath,
    args: ["-e", "process.stdin.resume()"],
    env: {},
    cwd: process.cwd(),
  };
  const { say } = world({ startChance: 0.3, command: () => silent });
  assert.match((await say("Hello")).status, /it no longer answered/);
});

test("a program that is not there is tried anew with each message", async () => {
  const absent = { program: "/nowhere/python", args: [], env: {}, cwd: process.cwd() };
  const { say } = world({ command: () => absent });
  for (let n = 0; n < 5; n += 1) {
    assert.match((await say("Hello")).status, /^throughLine: \/nowhere\/python could not be started/);
  }
});

test("what LM Studio cannot pull does not stop the message", async () => {
  const { engine, chats } = world();
  const outcome = await takeTurn(engine, chats, {
    chat: "c",
    text: "Hello",
    settings: {},
    signal: new AbortController().signal,
    pull: () => Promise.reject(new Error("the host is gone")),
    progress: () => undefined,
  });
  assert.match(outcome.status, /throughLine: the host is gone; your message went on unchanged/);
});
