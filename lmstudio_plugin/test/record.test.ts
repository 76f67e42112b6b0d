import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { EngineError, engineCommand, lmstudioHome, reason } from "../src/record";

function folder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "throughline-")));
}

function recorded(content: unknown): string {
  const home = folder();
  mkdirSync(join(home, "throughline"));
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(home, "throughline", "bridge.json"), text);
  return home;
}

test("LM Studio's folder is where its SDK looks", () => {
  const user = folder();
  assert.equal(lmstudioHome(user), join(user, ".lmstudio"));
  mkdirSync(join(user, ".cache", "lm-studio"), { recursive: true });
  assert.equal(lmstudioHome(user), join(user, ".cache", "lm-studio"));
  writeFileSync(join(user, ".lmstudio-home-pointer"), "/elsewhere/lms\n");
  assert.equal(lmstudioHome(user), "/elsewhere/lms");
  assert.equal(lmstudioHome(join(user, "gone")), join(user, "gone", ".lmstudio"));
});

test("the engine gets what was recorded and nothing of the plugin's own environment", () => {
  process.env["THROUGHLINE_SECRET"] = "of the plugin";
  const env = { PATH: "/bin", THROUGHLINE_HOME: "/home/t", odd: 5 };
  const home = recorded({ format: 1, python: "/opt/python", env, more: "is ignored" });
  const command = engineCommand("", home);
  assert.equal(command.program, "/opt/python");
  assert.deepEqual(command.args, ["-m", "throughline_nb", "bridge"]);
  assert.equal(command.cwd, join(home, "throughline"));
  assert.equal(command.env["PATH"], "/bin");
  assert.equal(command.env["THROUGHLINE_SECRET"], undefined);
  assert.ok(!("odd" in command.env));
});

test("the socket of the user's key agent is that of this login", () => {
  const home = recorded({ format: 1, python: "/p", env: { SSH_AUTH_SOCK: "/old" } });
  const before = process.env["SSH_AUTH_SOCK"];
  process.env["SSH_AUTH_SOCK"] = "/new";
  assert.equal(engineCommand("", home).env["SSH_AUTH_SOCK"], "/new");
  delete process.env["SSH_AUTH_SOCK"];
  assert.equal(engineCommand("", home).env["SSH_AUTH_SOCK"], "/old");
  if (before !== undefined) process.env["SSH_AUTH_SOCK"] = before;
});

test("Windows' own variables are there even where they were not recorded", () => {
  const home = recorded({ format: 1, python: "/p", env: { SystemRoot: "D:\\Win" } });
  const platform = Object.getOwnPropertyDescriptor(process, "platform");
  Object.defineProperty(process, "platform", { value: "win32" });
  try {
    const { env } = engineCommand("", home);
    assert.equal(env["SystemRoot"], "D:\\Win");
    assert.equal(env["SYSTEMROOT"], undefined);
    assert.match(env["PATHEXT"] ?? "", /\.EXE/);
  } finally {
    if (platform) Object.defineProperty(process, "platform", platform);
  }
});

test("an interpreter of the settings wins, also where nothing is recorded", () => {
  const home = recorded({ format: 1, python: "/p", env: { PATH: "/bin" } });
  assert.equal(engineCommand("/q", home).program, "/q");
  assert.equal(engineCommand("/q", home).env["PATH"], "/bin");
  const none = engineCommand("/q", folder());
  assert.equal(none.program, "/q");
  assert.equal(none.env["PATH"], process.env["PATH"]);
});

for (const [what, content, said] of [
  ["half of a file", '{"format": 1, "py', /cannot be read/],
  ["no object", "[]", /not set up/],
  ["no interpreter", { format: 1 }, /not set up/],
  ["an interpreter that is no text", { format: 1, python: 5 }, /not set up/],
  ["a newer layout", { format: 2, python: "/p" }, /newer version/],
] as const) {
  test(`a record that is of no use: ${what}`, () => {
    assert.throws(() => engineCommand("", recorded(content)), said);
    assert.throws(() => engineCommand("", recorded(content)), EngineError);
  });
}

test("a reason is one short line", () => {
  assert.equal(reason(new Error("two\n  lines")), "two lines");
  assert.equal(reason(""), "unknown");
  assert.equal(reason("x".repeat(1000)).length, 200);
});
