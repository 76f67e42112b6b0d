import assert from "node:assert/strict";
import { test } from "node:test";

import { Chat, type ChatHistoryData, type LMStudioClient } from "@lmstudio/sdk";

import { Chats, History, type WireMessage } from "../src/history";

type Message = ChatHistoryData["messages"][number];

const client = { files: {} } as LMStudioClient;
const text = (role: "user" | "assistant" | "system", said: string): Message =>
  ({ role, content: [{ type: "text", text: said }] }) as Message;
const call: Message = {
  role: "assistant",
  content: [
    {
      type: "toolCallRequest",
      toolCallRequest: { id: "7", type: "function", name: "fetch", arguments: { url: "u" } },
    },
  ],
};
const result: Message = {
  role: "tool",
  content: [{ type: "toolCallResult", toolCallId: "7", content: "a page" }],
};

function history(messages: Message[]): History {
  return new History(Chat.from({ messages }), client);
}

function turns(count: number, answer = (n: number) => `answer ${n}`): Message[] {
  return Array.from({ length: count }, (_, n) => [
    text("user", `question ${n + 1}`),
    text("assistant", answer(n + 1)),
  ]).flat();
}

function all(of: History, first = 1): WireMessage[] {
  const found: WireMessage[] = [];
  for (let more = true; more; ) {
    const page = of.page(first, found.length);
    found.push(...page.messages);
    more = page.more;
  }
  return found;
}

test("a user's message begins a turn; a system prompt belongs to none", () => {
  const found = history([text("system", "Be kind"), ...turns(1), call, result, ...turns(1)]);
  assert.equal(found.turn, 2);
  assert.deepEqual(
    all(found).map(({ turn, role }) => [turn, role]),
    [
      [1, "user"],
      [1, "assistant"],
      [1, "assistant"],
      [1, "tool"],
      [2, "user"],
      [2, "assistant"],
    ],
  );
});

test("parts are what the protocol names, with all their keys and no other", () => {
  const attached = {
    role: "user",
    content: [
      { type: "text", text: "Read this" },
      { type: "file", name: "a.txt", identifier: "f1", sizeBytes: 1, fileType: "text/plain" },
    ],
  } as Message;
  assert.deepEqual(
    all(history([attached, call, result])).map(({ parts }) => parts),
    [
      [
        { type: "text", text: "Read this" },
        { type: "file", name: "a.txt" },
      ],
      [{ type: "toolCallRequest", id: "7", name: "fetch", arguments: { url: "u" } }],
      [{ type: "toolCallResult", id: "7", content: "a page" }],
    ],
  );
});

test("calls without id or arguments leave them out", () => {
  const bare = {
    role: "assistant",
    content: [{ type: "toolCallRequest", toolCallRequest: { type: "function", name: "list" } }],
  } as Message;
  const [, message] = all(history([text("user", "Hi"), bare]));
  assert.deepEqual(message?.parts, [{ type: "toolCallRequest", name: "list", arguments: null }]);
});

test("an empty history has no turn and an empty head", () => {
  const found = history([]);
  const given = { turn: 0, head: "", changed: 1, base: "", messages: [] };
  assert.deepEqual(found.given(undefined), given);
  assert.deepEqual(found.page(1, 0), { messages: [], more: false, turn: 0, head: "" });
});

test("the first turn that changed is found, whatever was edited, cut or added", () => {
  const before = history(turns(40));
  for (let turn = 1; turn <= 40; turn += 1) {
    const edited = turns(40, (n) => (n === turn ? "regenerated" : `answer ${n}`));
    for (const length of [turn, 40]) {
      const chats = new Chats();
      chats.note("c", before, { turn: 40, head: before.heads[40] ?? "" });
      const given = history(edited.slice(0, 2 * length)).given(chats.get("c"));
      assert.equal(given.changed, turn);
      assert.equal(given.base, before.heads[40]);
      assert.equal(given.messages?.length, 2 * (length - turn + 1));
    }
  }
});

test("nothing changed: only what was added is given; what was cut gives nothing", () => {
  const before = history(turns(3));
  const chats = new Chats();
  chats.note("c", before, { turn: 3, head: before.heads[3] ?? "" });
  assert.equal(history(turns(3)).given(chats.get("c")).changed, 4);
  assert.deepEqual(history(turns(3)).given(chats.get("c")).messages, []);
  const more = history(turns(4)).given(chats.get("c"));
  assert.deepEqual([more.changed, more.messages?.length], [4, 2]);
  const fewer = history(turns(2)).given(chats.get("c"));
  assert.deepEqual([fewer.turn, fewer.changed, fewer.messages], [2, 3, []]);
});

test("only what the engine holds counts, not what was pulled since", () => {
  const before = history(turns(10));
  const chats = new Chats();
  chats.note("c", before, { turn: 4, head: before.heads[4] ?? "" });
  assert.equal(history(turns(10)).given(chats.get("c")).changed, 5);
});

test("another engine's state, and none, mean the whole history", () => {
  const before = history(turns(3));
  const chats = new Chats();
  chats.note("c", before, { turn: 3, head: "of another process" });
  assert.equal(chats.get("c"), undefined);
  chats.note("c", before, { turn: 3, head: before.heads[3] ?? "" });
  chats.note("c", before, null);
  const given = before.given(chats.get("c"));
  assert.deepEqual([given.changed, given.base, given.messages?.length], [1, "", 6]);
});

test("heads are the same in every process, and differ with every part", () => {
  const variants: Message[][] = [
    turns(1),
    [...turns(1), call],
    [...turns(1), call, result],
    [text("user", "question 1"), text("assistant", "answer 1 ")],
    [text("user", "question 1answer 1")],
    [text("assistant", "before"), ...turns(1).slice(0, 1)],
  ];
  const heads = variants.map((each) => history(each).heads.at(-1));
  assert.equal(new Set(heads).size, variants.length);
  assert.equal(history(turns(2)).heads[1], history(turns(1)).heads[1]);
  assert.equal(history(turns(1)).heads[1], "YKgA8TRckaSCBsHfzwVacOWe0aSTiJB68aAdVWGuKC4");
  const otherwise = history(turns(2, (n) => (n === 1 ? "edited" : `answer ${n}`)));
  assert.notEqual(otherwise.heads[2], history(turns(2)).heads[2], "a head covers all before it");
  for (const head of heads) assert.ok((head?.length ?? 99) <= 64);
});

test("a long history goes in pages that together are all of it", () => {
  const long = history(turns(400, (n) => `${n} `.repeat(2000)));
  assert.equal(long.given(undefined).messages, null);
  let skip = 0;
  let pages = 0;
  let turn = 0;
  for (let more = true; more; pages += 1) {
    const page = long.page(1, skip);
    assert.ok(JSON.stringify(page.messages).length < 1.1 * 1024 * 1024);
    assert.ok(page.turn >= turn);
    assert.equal(page.head, long.heads[page.turn]);
    skip += page.messages.length;
    assert.equal(page.turn, Math.floor(skip / 2));
    ({ more, turn } = page);
  }
  assert.equal(skip, 800);
  assert.ok(pages > 2);
  assert.equal(all(long, 399).length, 4);
});

test("one message that is larger than a page is a page", () => {
  const large = history([text("user", "x".repeat(3_000_000)), ...turns(1)]);
  const page = large.page(1, 0);
  assert.deepEqual([page.messages.length, page.more, page.turn], [1, true, 1]);
  assert.equal(all(large).length, 3);
});

test("a text beyond what a line holds is cut", () => {
  const [message] = all(history([text("user", "x".repeat(5_000_000))]));
  const part = message?.parts[0];
  assert.equal(part?.type === "text" && part.text.length, 4_000_000);
});

test("only the chats used last are remembered", () => {
  const chats = new Chats();
  const one = history(turns(1));
  for (let n = 0; n < 100; n += 1) chats.note(`c${n}`, one, { turn: 1, head: one.heads[1] ?? "" });
  assert.equal(chats.get("c0"), undefined);
  assert.ok(chats.get("c99"));
  chats.clear();
  assert.equal(chats.get("c99"), undefined);
});
