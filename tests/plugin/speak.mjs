// Connects to the stand-in host in the place of a plugin and sends frames as they are given.
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, port, ...frames] = process.argv.slice(2);
const { WebSocket } = createRequire(join(folder, "package.json"))("ws");
const socket = new WebSocket(`ws://127.0.0.1:${port}/plugins`);
const credentials = { authVersion: 1, clientIdentifier: "plugin", clientPasskey: "key" };
socket.on("open", () => socket.send(JSON.stringify(credentials)));
socket.once("message", () => {
  for (const frame of frames) socket.send(frame);
  socket.close();
});
