// Made by `python -m throughline_nb.hosts.lmstudio.form`; do not edit.
import { createConfigSchematics } from "@lmstudio/sdk";

export const VERSION = "0.1.0";
export const PROTOCOL = 1;
export const RECORD_FORMAT = 1;
export const TURN_SECONDS = 2;

export const chatForm = createConfigSchematics()
  .field("automatic_start", "boolean", { displayName: "Start by itself", subtitle: "Start a project after two heavy turns in a row in a chat that has none." }, true)
  .field("heavy_turn_calls", "numeric", { displayName: "Tool calls for a heavy turn", subtitle: "A turn with at least this many tool calls is heavy.", int: true, min: 1, max: 100 }, 3)
  .field("digest_tokens", "numeric", { displayName: "Digest cap", subtitle: "The digest is at most this long, in tokens.", int: true, min: 200, max: 4000 }, 600)
  .field("verbatim_tokens", "numeric", { displayName: "Verbatim window", subtitle: "The digest comes again when the last one lies further back than this, in tokens. Match context-compressor's \"Recent context kept verbatim\".", int: true, min: 100, max: 1000000 }, 6000)
  .field("recall", "boolean", { displayName: "Recall", subtitle: "Keep a searchable copy of long chats. Off deletes the existing copy." }, true)
  .field("recall_tokens", "numeric", { displayName: "Recall threshold", subtitle: "Recall starts at this history length, tokens.", int: true, min: 100, max: 1000000 }, 24000)
  .field("stale_turns", "numeric", { displayName: "Stale after", subtitle: "Remind the model to record after this many turns with tool calls and no change of the ledger.", int: true, min: 1, max: 100 }, 2)
  .field("refuse_empty_done", "boolean", { displayName: "Refuse an empty done", subtitle: "Refuse to mark a step done while nothing was recorded during it." }, true)
  .build();
export const chatKeys = ["automatic_start", "heavy_turn_calls", "digest_tokens", "verbatim_tokens", "recall", "recall_tokens", "stale_turns", "refuse_empty_done"] as const;

export const globalForm = createConfigSchematics()
  .field("orphan_days", "numeric", { displayName: "Orphan grace", subtitle: "Days until a project whose last chat was deleted moves to the trash.", int: true, min: 0, max: 3650 }, 7)
  .field("trash_days", "numeric", { displayName: "Trash retention", subtitle: "Days after which a project in the trash is deleted.", int: true, min: 0, max: 3650 }, 30)
  .field("versions_shown", "numeric", { displayName: "Versions shown", subtitle: "How many versions the log shows; git keeps all of them.", int: true, min: 1, max: 10000 }, 50)
  .field("page_tools", "stringArray", { displayName: "Page-reading tools", subtitle: "Tools whose successful call proves that a page was read." }, ["read_webpage", "visit_website", "fetch", "fetch_url"])
  .field("turn_seconds", "numeric", { displayName: "Time-out of a turn", subtitle: "Seconds after which a message in LM Studio goes on unchanged.", min: 0.1, max: 60 }, 2.0)
  .field("python", "string", { displayName: "Path of the Python interpreter", subtitle: "Used by LM Studio's plugin; empty means the one recorded at install." }, "")
  .build();
export const globalKeys = ["orphan_days", "trash_days", "versions_shown", "page_tools", "turn_seconds", "python"] as const;

export const say = {
  absent: ({ file }: Record<"file", string>) =>
    `throughLine is not set up on this machine (${file} is missing), so your message went on unchanged: run \`throughline-nb lmstudio install\` in a terminal.`,
  damaged: ({ file, why }: Record<"file" | "why", string>) =>
    `throughLine: ${file} cannot be read (${why}), so your message went on unchanged: run \`throughline-nb lmstudio install\` in a terminal, which writes it anew.`,
  newer: ({ file }: Record<"file", string>) =>
    `throughLine: ${file} is of a newer version than this plugin, so your message went on unchanged: run \`throughline-nb lmstudio install\` in a terminal, then restart LM Studio.`,
  unstarted: ({ python, why }: Record<"python" | "why", string>) =>
    `throughLine: ${python} could not be started (${why}), so your message went on unchanged: run \`throughline-nb lmstudio install\` in a terminal, or correct the interpreter's path in the plugin's settings.`,
  stopped: ({ why }: Record<"why", string>) =>
    `throughLine: the engine stopped (${why}), so your message went on unchanged; what was recorded is kept, and the next message starts it again. If it stops again, run \`throughline-nb doctor\` in a terminal.`,
  resting: ({ times, why, seconds }: Record<"times" | "why" | "seconds", string>) =>
    `throughLine: the engine stopped ${times} times in a row (${why}), so your message went on unchanged; it is tried again in ${seconds} s. Run \`throughline-nb doctor\` in a terminal, or turn the plugin off.`,
  late: ({ seconds }: Record<"seconds", string>) =>
    `throughLine: no answer within ${seconds} s, so your message went on unchanged; what there was to add comes with the next one.`,
  refused: ({ why }: Record<"why", string>) =>
    `throughLine: ${why}; your message went on unchanged.`,
  undone: ({ why }: Record<"why", string>) =>
    `Not done: throughLine does not answer (${why}). Go on without it, and tell the user.`,
  odd: () =>
    `it wrote what is no message of the bridge`,
  hung: () =>
    `it no longer answered`,
  ended: ({ code }: Record<"code", string>) =>
    `it ended with ${code}`,
  silent: ({ seconds }: Record<"seconds", string>) =>
    `no answer within ${seconds} s`,
};
