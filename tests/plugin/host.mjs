// A stand-in for LM Studio: the host's side of the plugin wire protocol, driven by JSON lines on
// standard input. Every frame in either direction is checked against the SDK's own schemas; one
// that does not fit is reported as `malformed`, and what drives this fails for it.
import { createRequire } from "node:module";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { createInterface } from "node:readline";

import { Checker } from "./schemas.mjs";

const folder = process.argv[2]; // where the SDK and ws are installed
const { WebSocketServer } = createRequire(join(folder, "package.json"))("ws");
const checker = new Checker(folder);
const chats = new Map(); // working directory -> { messages, naming, names, json }
const tasks = new Map(); // task id -> what is known of a message under way
const sessions = new Map();
const waiting = new Map(); // what a reply is waited for -> resolve
const registered = {};
let plugin = null;
let nextId = 1;

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function malformed(error, frame) {
  say({ event: "malformed", why: String(error.message), frame: JSON.stringify(frame).slice(0, 400) });
}

/** One connection of the plugin. */
class Connection {
  constructor(socket) {
    this.socket = socket;
    this.channels = new Map();
    this.byEndpoint = new Map();
    this.greeted = false;
    socket.on("message", (data) => this.take(String(data)));
    socket.on("close", () => say({ event: "closed" }));
  }

  send(frame, raw) {
    try {
      checker.fromHost(frame, this.channels, raw !== undefined);
    } catch (error) {
      malformed(error, frame);
      return;
    }
    this.socket.send(raw ?? JSON.stringify(frame));
  }

  toChannel(endpoint, message) {
    const channelId = this.byEndpoint.get(endpoint);
    if (channelId === undefined) throw new Error(`the plugin has no ${endpoint}`);
    this.send({ type: "channelSend", channelId, message });
  }

  take(text) {
    let frame;
    try {
      frame = JSON.parse(text);
      if (!this.greeted) {
        checker.greeting(frame);
        this.greeted = true;
        this.socket.send(JSON.stringify({ success: true }));
        return;
      }
      checker.fromPlugin(frame, this.channels);
    } catch (error) {
      malformed(error, frame ?? text);
      return;
    }
    switch (frame.type) {
      case "channelCreate":
        this.byEndpoint.set(frame.endpoint, frame.channelId);
        plugin = this;
        break;
      case "channelSend":
        if (frame.ackId !== undefined) {
          this.send({ type: "channelAck", channelId: frame.channelId, ackId: frame.ackId });
        }
        heard(frame.message);
        break;
      case "rpcCall":
        this.answer(frame);
        break;
      case "keepAlive":
        this.send({ type: "keepAliveAck" });
    }
  }

  answer({ endpoint, callId, parameter }) {
    const result = (value) => this.send({ type: "rpcResult", callId, result: value });
    const task = parameter?.pci === undefined ? null : tasks.get(parameter.pci);
    switch (endpoint) {
      case "setConfigSchematics":
      case "setGlobalConfigSchematics":
        registered[endpoint] = parameter.schematics;
        return result(undefined);
      case "pluginInitCompleted":
        plugin = this;
        say({ event: "ready", registered, channels: [...this.byEndpoint.keys()] });
        return result(undefined);
    }
    if (!task) {
      const error = { title: "no such task", cause: "it is over" };
      return this.send({ type: "rpcError", callId, error });
    }
    switch (endpoint) {
      case "processingPullHistory": {
        // It was checked and written when it was put there.
        const raw = `{"type":"rpcResult","callId":${callId},"result":${task.chat.json}}`;
        return this.send({ type: "rpcResult", callId }, raw);
      }
      case "processingHandleUpdate":
        task.updates.push(parameter.update);
        return result(undefined);
      case "processingNeedsNaming":
        return result(task.chat.naming);
      case "processingSuggestName":
        task.chat.naming = false;
        task.chat.names.push(parameter.name);
        return result(undefined);
      default:
        return malformed(new Error(`a call of ${endpoint}, which a preprocessor does not need`), {});
    }
  }
}

/** A message of the plugin on one of its channels. */
function heard(message) {
  const key = message.taskId ?? message.callId ?? message.sessionId;
  if (message.type === "toolCallStatus" || message.type === "toolCallWarn") return;
  waiting.get(key)?.(message);
  waiting.delete(key);
}

function answered(key) {
  return new Promise((resolve) => waiting.set(key, resolve));
}

function kv(values) {
  return { fields: Object.entries(values ?? {}).map(([key, value]) => ({ key, value })) };
}

function chatAt(working) {
  if (!chats.has(working)) {
    const json = JSON.stringify({ messages: [] });
    chats.set(working, { messages: [], naming: true, names: [], json });
  }
  return chats.get(working);
}

/** Add messages to a chat's stored history. */
function store(chat, messages) {
  try {
    checker.history(messages);
  } catch (error) {
    malformed(error, messages);
  }
  for (const message of messages) chat.messages.push(message);
  chat.json = JSON.stringify({ messages: chat.messages });
}

const operations = {
  /** Set, or add to, what a chat holds. */
  chat({ working, messages, add, naming }) {
    const chat = chatAt(working);
    if (messages) chat.messages = [];
    if (messages ?? add) store(chat, messages ?? add);
    if (naming !== undefined) chat.naming = naming;
    return { names: chat.names, messages: messages || add ? undefined : chat.messages };
  },
  /** Send a user's message through the plugin's preprocessor. */
  async preprocess({ working, input, config, globalConfig, plugins, keep, bare }) {
    const taskId = `task-${nextId++}`;
    const task = { chat: chatAt(working), updates: [] };
    tasks.set(taskId, task);
    const reply = answered(taskId);
    const begin = performance.now();
    plugin.toChannel("setPromptPreprocessor", {
      type: "preprocess",
      taskId,
      input,
      config: { fields: [] },
      pluginConfig: kv(config),
      globalPluginConfig: kv(globalConfig),
      workingDirectoryPath: bare ? null : working,
      enabledPluginInfos: plugins ?? [],
      pci: taskId,
      token: "token",
    });
    say({ event: "task", taskId });
    const message = await reply;
    const ms = performance.now() - begin;
    if (keep && message.processed) store(task.chat, [message.processed]);
    setTimeout(() => tasks.delete(taskId), 1000);
    const { type, processed, error } = message;
    return { type, processed, error, updates: task.updates, ms };
  },
  abort({ taskId }) {
    plugin.toChannel("setPromptPreprocessor", { type: "abort", taskId });
  },
  /** Open a session of the tools provider. */
  async session({ working, config, globalConfig }) {
    const sessionId = `session-${nextId++}`;
    const reply = answered(sessionId);
    const begin = performance.now();
    plugin.toChannel("setToolsProvider", {
      type: "initSession",
      sessionId,
      pluginConfig: kv(config),
      globalPluginConfig: kv(globalConfig),
      workingDirectoryPath: working ?? null,
    });
    const { type, toolDefinitions, error } = await reply;
    sessions.set(sessionId, true);
    return { sessionId, type, tools: toolDefinitions, error, ms: performance.now() - begin };
  },
  /** Open a session and discard it before the plugin can answer. */
  hasty({ working }) {
    const sessionId = `session-${nextId++}`;
    const given = { pluginConfig: kv({}), globalPluginConfig: kv({}) };
    const open = { type: "initSession", sessionId, ...given, workingDirectoryPath: working };
    plugin.toChannel("setToolsProvider", open);
    plugin.toChannel("setToolsProvider", { type: "discardSession", sessionId });
  },
  async call({ sessionId, name, parameters }) {
    const callId = `call-${nextId++}`;
    const reply = answered(callId);
    const begin = performance.now();
    const call = { type: "callTool", sessionId, callId, toolName: name, parameters };
    plugin.toChannel("setToolsProvider", call);
    say({ event: "call", callId, sessionId });
    const { type, result, error } = await reply;
    return { type, result, error, ms: performance.now() - begin };
  },
  abortCall({ sessionId, callId }) {
    plugin.toChannel("setToolsProvider", { type: "abortToolCall", sessionId, callId });
  },
  discard({ sessionId }) {
    sessions.delete(sessionId);
    plugin.toChannel("setToolsProvider", { type: "discardSession", sessionId });
  },
  /** Lose the connection without a word. */
  drop() {
    plugin.socket.terminate();
  },
  /** How many frames were checked. */
  frames() {
    return { plugin: checker.seen.plugin, host: checker.seen.host };
  },
};

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", (socket, request) => {
  if (request.url === "/plugins") new Connection(socket);
  else socket.close();
});
server.on("listening", () => say({ event: "listening", port: server.address().port }));

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, op, ...given } = JSON.parse(line);
    try {
      say({ id, result: (await operations[op](given)) ?? null });
    } catch (error) {
      say({ id, error: String(error.message) });
    }
  })
  .on("close", () => process.exit(0));
