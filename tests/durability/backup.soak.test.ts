/** A backup of a server under load, restored into another folder behind another port. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UIMessage } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../scripts/free-port.ts";
import type { Parts } from "../../scripts/parts.ts";
import { startParts } from "../../scripts/start-parts.ts";
import { gate, type Script } from "../support/fakes/openai.ts";
import { sessionFor } from "../support/harness/auth-session.ts";
import { type Client, client } from "../support/harness/clients.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { runScript } from "../support/harness/run-script.ts";
import { readRun, startRun, waitForRun } from "../support/harness/runs.ts";
import { startServer } from "../support/harness/server.ts";
import { stack } from "../support/harness/stack.ts";
import { textOf } from "../support/harness/turn-stream.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { registerSecret } from "../support/secrets/register.ts";
import { StorageSearch } from "../support/secrets/search-storage.ts";
import { EFFECTS, sixSteps } from "./six-steps.ts";

const CHATS_UNDER_LOAD = 6;

let folder: string;
let workspace: Workspace;
let caller: Client;
let copy: Parts;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-platform-restored-"));
  workspace = await startWorkspace();
  caller = await workspace.createCaller();
});
afterAll(async () => {
  await workspace?.stop();
  await copy?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Three commands, each of which adds a line to `effects` that no other command adds; an answer. */
const load: Script = function* ({ step, userText }) {
  const id = /id (\d+)/.exec(userText)?.[1];
  if (step < 3) yield { tool: "bash", input: { command: `echo ${id}-${step} >> effects` } };
  else yield { text: `Done with ${id}.` };
};

/** Sends turn after turn until it is stopped; every one of them must be answered completely. */
function keepBusy(conversation: Conversation) {
  let isOver = false;
  const ended = (async () => {
    for (let id = 0; !isOver; id++) {
      const turn = await conversation.send(`[script:load] id ${id}`);
      expect(turn.status, turn.text).toBe(200);
      await turn.ended;
      expect(turn.isDone).toBe(true);
    }
  })();
  return {
    stop: () => {
      isOver = true;
      return ended;
    },
  };
}

/** Makes keys, sessions, images and task runs until it is stopped; returns their numbers. */
function keepCreating() {
  let isOver = false;
  const ended = (async () => {
    let created = 0;
    for (; !isOver; created++) {
      const key = await caller.post("/api/keys", { key_name: `key ${created}` });
      expect(key.status, key.text).toBe(201);
      const image = await caller.post("/api/content/image", { prompt: `Image ${created}` });
      expect(image.status, image.text).toBe(200);
    }
    return created;
  })();
  return {
    stop: () => {
      isOver = true;
      return ended;
    },
  };
}

const sandboxIn = (dataDir: string, { sessionId }: Conversation): string =>
  join(dataDir, "sandboxes", sessionId, "home");
const effectsIn = async (dataDir: string, conversation: Conversation): Promise<string[]> =>
  (await readFile(join(sandboxIn(dataDir, conversation), "effects"), "utf8"))
    .split("\n")
    .filter(Boolean);

const isTurning = async (conversation: Conversation) => (await conversation.read()).isStreaming;

/**
 * Resolves when the newest message has its answer. A turn without a run at the time of the backup
 * was not acknowledged yet: the client repeats its message, which the claim accepts after a minute.
 */
async function untilAnswered(conversation: Conversation): Promise<void> {
  const newestRole = async () => {
    const newest = (await conversation.read()).messages.at(-1);
    if (newest?.role === "user") {
      await (await conversation.send([{ id: newest.id, content: textOf(newest) }])).ended;
    }
    return newest?.role;
  };
  await expect.poll(newestRole, { timeout: 150_000, interval: 500 }).toBe("assistant");
  await expect.poll(() => isTurning(conversation)).toBe(false);
}

/** Every command's result, oldest first: the line that it has added, or null if the outcome is unknown. */
function commandsOf(messages: readonly Pick<UIMessage, "role" | "parts">[]): (string | null)[] {
  return messages.flatMap(({ role, parts }) =>
    role === "user"
      ? []
      : parts.flatMap((part) => {
          if (part.type !== "tool-bash" || !("output" in part)) return [];
          const { command } = part.input as { command: string };
          const isKnown = !JSON.stringify(part.output).includes("outcome is unknown");
          return [isKnown ? (command.split(" ")[1] ?? "") : null];
        }),
  );
}

test("everything works in the copy, turns in flight finish, and the server notices nothing", {
  timeout: 300_000,
}, async () => {
  // A turn that ended before the backup.
  const finished = await openConversation(caller);
  workspace.model.script("load", load);
  await (await finished.send("[script:load] id 7")).ended;
  const image = await caller.post("/api/content/image", { prompt: "A red kite" });
  const imageUrl = new URL((image.body as { imageUrl: string }).imageUrl);
  const picture = await (await fetch(imageUrl)).bytes();
  const run = await startRun(caller, { prompt: "Hello" });
  await waitForRun(caller, run);
  const made = await caller.post("/api/keys", { key_name: "laptop" });
  const newKey = registerSecret((made.body as { key: string }).key, "API key");

  const memory = "/api/workspace/files/content?path=MEMORY.md";
  await caller.request("PUT", memory, { body: "The label pays in EUR." });

  await sessionFor("person@example.com", workspace.env);

  // A turn that pauses in the middle of a text and of a command.
  const last = gate();
  const paused = await Promise.all(
    (["text", "command"] as const).map(async (where) => {
      const pause = { step: 4, where, gate: gate() };
      workspace.model.script(`pause-${where}`, sixSteps(pause, last));
      const conversation = await openConversation(caller);
      const stream = await conversation.send(`[script:pause-${where}]`);
      if (where === "text") await pause.gate.reached;
      else {
        await expect
          .poll(() => workspace.readSandboxFile(conversation.sessionId, "effects"))
          .toContain("4");
      }
      return { where, pause, conversation, stream };
    }),
  );

  // Turns that run while the backup is taken.
  const busy = await Promise.all(
    Array.from({ length: CHATS_UNDER_LOAD }, () => openConversation(caller)),
  );
  const turning = busy.map(keepBusy);
  const creating = keepCreating();
  await expect.poll(async () => (await Promise.all(busy.map(isTurning))).some(Boolean)).toBe(true);
  const file = join(folder, "backup.tar.gz");
  const backup = await runScript(["backup", file], { DATA_DIR: workspace.env.DATA_DIR ?? "" });
  expect(backup, backup.output).toMatchObject({ code: 0 });
  await Promise.all(turning.map((one) => one.stop()));
  await creating.stop();

  const originals = await Promise.all(busy.map(async (one) => (await one.read()).messages));

  // Another folder, another port.
  const dataDir = join(folder, "restored");
  const restored = await runScript(["restore", file], { DATA_DIR: dataDir });
  expect(restored, restored.output).toMatchObject({ code: 0 });
  const traces = await new StorageSearch(stack.records).folder(dataDir);
  expect(traces, "secrets in the backup, such as refresh tokens").toEqual([]);
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  copy = await startParts({ dataDir, publicUrl, given: {} });
  const server = await startServer({
    port,
    env: {
      ...copy.env,
      DATA_DIR: dataDir,
      OPENAI_BASE_URL: workspace.model.url,
      CHECK_RESPONSES: "true",
    },
  });
  const there = client({ key: caller.headers["x-api-key"] ?? "" }, server.url);

  // The ended turn is unchanged.
  expect(await finished.through(there).read()).toEqual(await finished.read());
  expect(await effectsIn(dataDir, finished)).toEqual(["7-0", "7-1", "7-2"]);
  expect(await readRun(there, run)).toEqual(await readRun(caller, run));
  const mediaPath = server.url + imageUrl.pathname;
  expect(await (await fetch(mediaPath)).bytes()).toEqual(picture);
  const withNewKey = client({ key: newKey }, server.url);
  expect((await withNewKey.get("/api/keys")).text).toContain('"laptop"');
  const runs = await withNewKey.get("/api/tasks/runs?limit=100");
  expect(runs.text).toContain('"taskIdentifier":"generate-image"');

  // A new session of the copy has the files and the memory of the account.
  workspace.model.script("recall", function* ({ step }) {
    if (step === 0) yield { tool: "bash", input: { command: "cat workspace/MEMORY.md" } };
    else yield { text: "I remember." };
  });
  const recall = await openConversation(there);
  await (await recall.send("[script:recall]")).ended;
  expect(JSON.stringify((await recall.answer()).parts)).toContain("The label pays in EUR.");
  const [asked] = workspace.model.callsOf("recall");
  expect(JSON.stringify(asked?.messages[0])).toContain("The label pays in EUR.");

  // The turns in flight continue by themselves, and repeat no command.
  const resumed = await Promise.all(
    paused.map(({ conversation }) => conversation.through(there).resume()),
  );
  for (const { pause } of paused) pause.gate.open();
  last.open();
  for (const { conversation, where } of paused) {
    if (where !== "command") continue;
    await writeFile(join(sandboxIn(workspace.env.DATA_DIR ?? "", conversation), "go"), "");
  }
  for (const [place, { conversation, where }] of paused.entries()) {
    const stream = resumed[place];
    if (!stream) throw new Error("no stream");
    expect(stream.status).toBe(200);
    await stream.ended;
    expect(stream.isDone).toBe(true);
    const { messages } = await conversation.through(there).read();
    expect(await effectsIn(dataDir, conversation)).toEqual(EFFECTS);
    const unknown = commandsOf(messages as UIMessage[]).filter((one) => one === null);
    expect(unknown).toHaveLength(where === "command" ? 1 : 0);
    expect(textOf(messages.at(-1))).toMatch(/All done\.$/);
  }
  for (const [place, conversation] of busy.entries()) {
    const copied = conversation.through(there);
    await untilAnswered(copied);
    const { messages } = await copied.read();
    const original = originals[place] ?? [];
    const whole = messages.slice(0, -1);
    // A message that was stored before the backup is as it was; the last one may have been in flight.
    expect(whole).toEqual(original.slice(0, whole.length));
    const commands = commandsOf(messages as UIMessage[]);
    const effects = await effectsIn(dataDir, conversation);
    expect(new Set(effects).size).toBe(effects.length);
    const known = commands.filter((one) => one !== null);
    expect(effects).toEqual(expect.arrayContaining(known));
    expect(effects.length).toBeLessThanOrEqual(commands.length);
  }
  await server.stop();

  // The server that was backed up has gone on as if nothing had been.
  for (const { conversation, stream } of paused) {
    await stream.ended;
    expect(stream.isDone).toBe(true);
    expect(await effectsIn(workspace.env.DATA_DIR ?? "", conversation)).toEqual(EFFECTS);
    expect(commandsOf((await conversation.read()).messages as UIMessage[])).not.toContain(null);
  }
});
