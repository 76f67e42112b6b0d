import assert from "node:assert/strict";
import { test } from "node:test";

import { Lines } from "../src/lines";

function lines(chunks: Buffer[]): string[] {
  const reader = new Lines();
  return chunks.flatMap((chunk) => [...reader.take(chunk)]);
}

test("lines come out whole, wherever the stream is cut", () => {
  const said = ['{"a":1}', "", "Grüße 👋 世界", "x".repeat(70_000)];
  const bytes = Buffer.from(said.map((line) => `${line}\n`).join(""));
  for (let size = 1; size < 60; size += 1) {
    const chunks = [];
    for (let at = 0; at < 200; at += size) chunks.push(bytes.subarray(at, Math.min(at + size, 200)));
    assert.deepEqual(lines([...chunks, bytes.subarray(200)]), said);
  }
});

test("half a line is kept for later", () => {
  const reader = new Lines();
  assert.deepEqual([...reader.take(Buffer.from("one\ntw"))], ["one"]);
  assert.deepEqual([...reader.take(Buffer.from("o\n"))], ["two"]);
});

test("a line without an end is given up", () => {
  const reader = new Lines();
  const chunk = Buffer.alloc(1024 * 1024, "x");
  assert.throws(() => {
    for (let n = 0; n < 33; n += 1) [...reader.take(chunk)];
  }, RangeError);
});
