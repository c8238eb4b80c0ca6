/**
 * Requests and files that once froze a server for seconds, sent to a real one. How long its event
 * loop stands still is measured inside of it.
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { startServer } from "../support/harness/server.ts";
import { textOf } from "../support/harness/turn-stream.ts";

/** Compilation and a shared core add to a stall and never take from it: one good measurement is proof. */
const ATTEMPTS = 3;
const LEAST_ACCEPTED_MS = 250;

let folder: string;
let server: Awaited<ReturnType<typeof startServer>>;
let caller: Client;
let conversation: Conversation;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "stalls-"));
  const preload = fileURLToPath(new URL("./record-stalls.ts", import.meta.url));
  server = await startServer({
    env: {
      NODE_OPTIONS: `--no-warnings --import=${pathToFileURL(preload).href}`,
      STALL_FOLDER: folder,
    },
  });
  caller = (await createPerson(server.url)).withKey;
  conversation = await openConversation(caller);
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The longest stall since the last time, in milliseconds of processor time, of all processes of the server. */
async function takeStall(): Promise<number> {
  const sockets = (await readdir(folder)).filter((name) => name.endsWith(".sock"));
  const stalls = await Promise.all(
    sockets.map((name) => readAll(createConnection(join(folder, name))).catch(() => "0")),
  );
  expect(stalls.length).toBeGreaterThan(0);
  return Math.max(...stalls.map(Number));
}

async function stallOf(work: () => Promise<unknown>): Promise<number> {
  await takeStall();
  await work();
  return takeStall();
}

/**
 * Compares with the largest harmless input of the same kind on the same server, because a slow
 * processor slows both.
 */
async function expectNoStall(hostile: () => Promise<unknown>, harmless: () => Promise<unknown>) {
  // The first call includes compilation.
  await hostile();
  await harmless();
  const attempts: { readonly stall: number; readonly accepted: number }[] = [];
  while (attempts.length < ATTEMPTS) {
    const baseline = await stallOf(harmless);
    const stall = await stallOf(hostile);
    const accepted = Math.max(LEAST_ACCEPTED_MS, 5 * baseline);
    if (stall < accepted) return;
    attempts.push({ stall, accepted });
  }
  throw new Error(
    `The event loop stood still: ${JSON.stringify(attempts)} (milliseconds of processor time)`,
  );
}

const say = async (text: string): Promise<string> => {
  await (await conversation.send(text)).ended;
  return textOf(await conversation.answer());
};
const prompt = (text: string): string => text.repeat(50_000 / text.length);

test.each([
  ["opening quotes", prompt("“")],
  ["a plan of spaces", `plan: \`a${" ".repeat(49_000)}b\``],
  ["options of spaces", `ask me "x" options: \`a${" ".repeat(49_000)}b\``],
  ["lines of commas", `${",".repeat(1_999)}\n`.repeat(25)],
])("a prompt of %s", async (_, text) => {
  const sendFresh = async (content: string) => {
    const fresh = await openConversation(caller);
    await (await fresh.send(content)).ended;
  };
  await expectNoStall(
    () => sendFresh(text),
    () => sendFresh(prompt("What? ")),
  );
});

test.each([
  ["messages of a million wrong parts", 100, 9_999, "1"],
  ["messages of many wrong parts", 9, 9_999, "1"],
  ["a hundred thousand messages", 90_000, 0, "1"],
])("%s", async (_, messages, parts, part) => {
  const entry = `{"id":"m","parts":[${Array(parts).fill(part).join(",")}]}`;
  const body = (entries: string) =>
    `{"sessionId":"${conversation.sessionId}","chatId":"${conversation.chatId}","messages":[${entries}]}`;
  await expectNoStall(
    async () => {
      const answer = await caller.request("POST", "/api/chat", {
        body: body(Array(messages).fill(entry).join(",")),
      });
      expect(answer.status).toBe(400);
    },
    () => caller.request("POST", "/api/chat", { body: body(`{"id":"${"m".repeat(2_000_000)}"}`) }),
  );
});

test("a skill whose description opens maps for a megabyte", async () => {
  const write = (path: string, pattern: string, count: number) =>
    `mkdir -p skills/${path}; (printf -- '---\\nname: ${path}\\nx: '; yes '${pattern}' | head -n ${count} | tr -d '\\n'; printf '\\n---\\nDo it.\\n') > skills/${path}/SKILL.md`;
  await say(`run \`${write("hostile", "{a: ", 200_000)}\``);
  expect(await say("list skills")).toContain("hostile");
  await expectNoStall(
    async () => {
      await say("list skills");
      expect(await say("use skill hostile")).toContain("Do it.");
    },
    () => say("read notes.txt"),
  );
});
