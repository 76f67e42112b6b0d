// An engine for the tests of the plugin: a real process that speaks the bridge's protocol, and does
// with a turn what its text says. `call` with the tool `log` tells what it received.
import { createInterface } from "node:readline";

const log = [];
const asked = new Map();
let nextId = 1;
const held = {};

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function answer(id, result) {
  send({ id, result });
}

function ask(method, params) {
  const id = nextId++;
  send({ id, method, params });
  return new Promise((resolve) => asked.set(id, resolve));
}

async function pull(request) {
  const messages = [];
  let page;
  do {
    page = await ask("history", { request, first: 1, skip: messages.length });
    messages.push(...page.messages);
  } while (page.more);
  return { ...page, messages };
}

async function turn(id, { chat, text, history }) {
  const [what, number] = text.split(" ");
  const kept = { turn: history.turn, head: history.head };
  const result = (said) => ({ text: said, status: "fine", name: "", held: kept });
  held[chat] = kept;
  switch (what) {
    case "slow":
      await new Promise((resolve) => setTimeout(resolve, Number(number)));
      return answer(id, result(`${text}!`));
    case "pid":
      return answer(id, result(String(process.pid)));
    case "hang":
      return undefined;
    case "die":
      return process.exit(3);
    case "words":
      process.stderr.write("Traceback\nNo module named throughline_nb\n");
      return process.exit(1);
    case "garbage":
      return process.stdout.write("Hello!\n");
    case "stuck": // not even the reader reads
      return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    case "refuse":
      return send({ id, error: { code: -32603, message: "it was refused.", data: { held: kept } } });
    case "long":
      send({ method: "progress", params: { request: id, text: "half done", unlimited: true } });
      await new Promise((resolve) => setTimeout(resolve, Number(number)));
      return answer(id, result(`${text}!`));
    case "odd":
      return answer(id, { text: 5 });
    case "same":
      return answer(id, { ...result(text), status: "" });
    case "history": {
      const page = await pull(id);
      return answer(id, result(JSON.stringify(page)));
    }
    default:
      return answer(id, result(`${text}!`));
  }
}

const requests = {
  hello: (id) => answer(id, { protocol: 1, engine: "0", notices: [] }),
  turn,
  tools: (id) => answer(id, { tools: [] }),
  call: (id, { tool }) => answer(id, { text: tool === "log" ? JSON.stringify(log) : tool }),
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    log.push(message);
    if (message.method === undefined) {
      asked.get(message.id)?.(message.result ?? message.error);
      asked.delete(message.id);
    } else if (message.id !== undefined) {
      void requests[message.method](message.id, message.params);
    }
  })
  .on("close", () => process.exit(0));
