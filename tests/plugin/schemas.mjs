// The SDK's own schemas of the plugin wire protocol. The package does not export them, so its file is
// compiled once more with one line added that does.
import { isDeepStrictEqual } from "node:util";
import { createRequire, Module } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const WANTED = [
  "clientToServerMessageSchema",
  "serverToClientMessageSchema",
  "createPluginsBackendInterface",
  "deserialize",
];

function wireOf(folder) {
  const file = join(folder, "node_modules", "@lmstudio", "sdk", "dist", "index.cjs");
  const compiled = new Module(file);
  compiled.filename = file;
  compiled.paths = Module._nodeModulePaths(file);
  compiled._compile(
    `${readFileSync(file, "utf-8")}\nmodule.exports = { ${WANTED.join(", ")} };\n`,
    file,
  );
  return compiled.exports;
}

/** Checks frames; strict: what a schema does not name is refused as well. */
export class Checker {
  constructor(folder) {
    const wire = wireOf(folder);
    const { z } = createRequire(join(folder, "package.json"))("zod");
    this.wire = wire;
    this.plugins = wire.createPluginsBackendInterface();
    this.auth = z
      .object({
        authVersion: z.literal(1),
        clientIdentifier: z.string().min(1),
        clientPasskey: z.string().min(1),
      })
      .strict();
    this.calls = new Map();
    this.seen = { plugin: 0, host: 0 };
  }

  greeting(frame) {
    this.seen.plugin += 1;
    this.auth.parse(frame);
  }

  /** A frame of the plugin; `channels` maps the ids of its open channels to their endpoints. */
  fromPlugin(frame, channels) {
    this.seen.plugin += 1;
    strictly(this.wire.clientToServerMessageSchema, frame);
    if (frame.type === "channelCreate") {
      const endpoint = this.plugins.getChannelEndpoint(frame.endpoint);
      if (!endpoint) throw new Error(`no channel ${frame.endpoint}`);
      if (channels.has(frame.channelId)) throw new Error(`channel ${frame.channelId} is open`);
      this.check(endpoint, "creationParameter", frame.creationParameter);
      channels.set(frame.channelId, endpoint);
    } else if (frame.type === "channelSend") {
      this.check(channelOf(frame, channels), "toServerPacket", frame.message);
    } else if (frame.type === "rpcCall") {
      const endpoint = this.plugins.getRpcEndpoint(frame.endpoint);
      if (!endpoint) throw new Error(`no call ${frame.endpoint}`);
      this.check(endpoint, "parameter", frame.parameter);
      this.calls.set(frame.callId, endpoint);
    } else if (frame.type !== "keepAlive" && frame.type !== "channelAck") {
      throw new Error(`a ${frame.type}, which no plugin of this kind sends`);
    }
  }

  /** Messages of a chat, before they are handed out. */
  history(messages) {
    strictly(this.plugins.getRpcEndpoint("processingPullHistory").returns, { messages });
  }

  /** A frame of the host; `known` skips what was checked before. */
  fromHost(frame, channels, known = false) {
    this.seen.host += 1;
    if (known) return;
    strictly(this.wire.serverToClientMessageSchema, frame);
    if (frame.type === "channelSend") {
      this.check(channelOf(frame, channels), "toClientPacket", frame.message);
    } else if (frame.type === "rpcResult") {
      const endpoint = this.calls.get(frame.callId);
      if (!endpoint) throw new Error(`an answer to no call: ${frame.callId}`);
      this.check(endpoint, "returns", frame.result);
    }
  }

  check(endpoint, part, value) {
    const data = endpoint.serialization === "raw" ? value : this.wire.deserialize(endpoint.serialization, value);
    try {
      strictly(endpoint[part], data);
    } catch (error) {
      throw new Error(`${endpoint.name}.${part}: ${error.message}`);
    }
  }
}

function channelOf(frame, channels) {
  const endpoint = channels.get(frame.channelId);
  if (!endpoint) throw new Error(`channel ${frame.channelId} is not open`);
  return endpoint;
}

function strictly(schema, value) {
  const parsed = schema.parse(value);
  // zod leaves out what a schema does not name; as JSON both must be the same.
  if (!isDeepStrictEqual(plain(parsed), plain(value))) {
    throw new Error(`it has what the schema does not name: ${JSON.stringify(value).slice(0, 300)}`);
  }
}

function plain(value) {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
