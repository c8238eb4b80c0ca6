/**
 * The workspace in turns: its files in the sandbox, the memory in the prompt, and conflicts.
 * This file is long because its tests share helpers for commands. A crash is in
 * tests/durability/crash-flows.test.ts.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { gate } from "../../support/fakes/openai.ts";
import {
  listWorkspaceFiles,
  putFile,
  readWorkspaceFile,
  workspacePath,
  writeWorkspaceFile,
} from "../../support/fixtures/workspace-files.ts";
import type { Client } from "../../support/harness/clients.ts";
import { Conversation, openChat, openConversation } from "../../support/harness/conversation.ts";
import { startRun, waitForRun } from "../../support/harness/runs.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";

let workspace: SharedWorkspace;
beforeAll(async () => {
  workspace = await joinWorkspace();
});
afterAll(() => workspace?.stop());

const newCaller = () => workspace.createCaller();

/** The name of a script of this file, on the server that it shares with others. */
const named = (name: string) => `workspace-${name}`;

/** A script that runs the commands, one in each step. */
const commands = (name: string, ...texts: readonly string[]) =>
  workspace.model.script(named(name), function* ({ step }) {
    const command = texts[step];
    if (command === undefined) yield { text: "Done." };
    else yield { tool: "bash", input: { command } };
  });

async function runCommands(chat: Conversation, name: string, ...texts: readonly string[]) {
  commands(name, ...texts);
  const turn = await chat.send(`[script:${named(name)}]`);
  await turn.ended;
  return workspace.model.callsOf(named(name));
}

async function openArtistChat(caller: Client, artistId: string): Promise<Conversation> {
  const made = await caller.post("/api/sessions", { artistId });
  const { session, chat } = z
    .object({ session: z.object({ id: z.string() }), chat: z.object({ id: z.string() }) })
    .parse(made.body);
  await caller.post("/api/sandbox", { sessionId: session.id });
  return new Conversation(caller, session.id, chat.id);
}

async function makeArtist(caller: Client): Promise<string> {
  const { body } = await caller.post("/api/artists", { name: "Hana" });
  return z.object({ artist: z.object({ account_id: z.string() }) }).parse(body).artist.account_id;
}

const systemOf = (name: string, index = -1): string =>
  String(workspace.model.callsOf(named(name)).at(index)?.messages[0]?.content);

const paths = async (caller: Client, query = {}) =>
  (await listWorkspaceFiles(caller, query)).map(({ path }) => path).sort();

const partOf = async (chat: Conversation) =>
  (await chat.answer()).parts.find(({ type }) => type === "data-workspace");

describe("files", () => {
  it("of a turn are read a day later in another session of the artist, and in no other workspace", async () => {
    const caller = await newCaller();
    const artist_id = await makeArtist(caller);
    const first = await openArtistChat(caller, artist_id);
    await runCommands(
      first,
      "wrote",
      "mkdir -p workspace/in && echo advance > workspace/in/deal.md && echo term: 3 years > workspace/MEMORY.md",
    );
    expect(await readWorkspaceFile(caller, "in/deal.md", { artist_id })).toBe("advance\n");
    const stored = [
      { path: "MEMORY.md", size: 14 },
      { path: "in/deal.md", size: 8 },
    ];
    expect(await partOf(first)).toMatchObject({
      data: { is_stored: true, stored, conflicts: [], skipped: [] },
    });
    const { author } = (await listWorkspaceFiles(caller, { artist_id }))[0] ?? {};
    expect(author?.run_id).toMatch(/\w/);
    await workspace.sql`with s as (update sessions set created_at = created_at - interval '1 day',
        updated_at = updated_at - interval '1 day' where id = ${first.sessionId} returning id),
      t as (update turns set created_at = created_at - interval '1 day',
        finished_at = finished_at - interval '1 day' where session_id = ${first.sessionId})
      update workspace_versions set created_at = created_at - interval '1 day'
      where run_id = ${author?.run_id ?? ""}`;

    const second = await openArtistChat(caller, artist_id);
    const [, call] = await runCommands(second, "reads", "cat workspace/in/deal.md");
    expect(call?.toolResults[0]).toContain("advance");
    expect(systemOf("reads")).toContain("<memory>\nterm: 3 years\n\n</memory>");
    const own = await openConversation(caller);
    const [, none] = await runCommands(own, "looks", "ls workspace");
    expect(none?.toolResults[0]).not.toContain("in");
    expect(await listWorkspaceFiles(caller)).toEqual([]);
  });

  it("have their folder for the first command of a session, before there is any", async () => {
    const caller = await newCaller();
    const chat = await openConversation(caller);
    const command = "echo sums > out.csv; cp out.csv workspace/ && ls workspace";
    const calls = await runCommands(chat, "first-copy", command);
    expect(calls[1]?.toolResults[0]).toMatch(/stdout:\nout\.csv\n$/);
    expect(await paths(caller)).toEqual(["out.csv"]);
  });

  it("are loaded again only when they have changed, and deleted where they were deleted", async () => {
    const caller = await newCaller();
    await putFile(caller, "a.txt", "1");
    await putFile(caller, "b.txt", "1");
    const chat = await openConversation(caller);
    const read = async (name: string) =>
      (await runCommands(chat, name, "cat workspace/*"))[1]?.toolResults[0];
    expect(await read("load-1")).toContain("11");
    await putFile(caller, "a.txt", "2");
    await caller.delete(workspacePath("files/content", { path: "b.txt" }));
    expect(await read("load-2")).toMatch(/stdout:\n2$/);
    await runCommands(chat, "deletes", "rm workspace/a.txt; echo x > workspace/c.txt");
    expect(await paths(caller)).toEqual(["c.txt"]);
    // A sandbox that has lost the folder deletes nothing.
    await runCommands(chat, "loses", "rm -r workspace");
    expect(await paths(caller)).toEqual(["c.txt"]);
    expect(await read("load-3")).toContain("x");
  });

  it("do not change in a chat that may only read, or leaves them out", async () => {
    const caller = await newCaller();
    await putFile(caller, "a.txt", "before");
    await putFile(caller, "MEMORY.md", "Tuesday is release day.");
    const change = "cat workspace/a.txt; echo after > workspace/a.txt";
    for (const [use, sees] of [
      ["read", true],
      ["off", false],
    ] as const) {
      const chat = await openConversation(caller);
      const address = `/api/sessions/${chat.sessionId}/chats/${chat.chatId}`;
      expect((await caller.patch(address, { workspace: use })).status).toBe(200);
      const [first, second] = await runCommands(chat, `use-${use}`, change);
      expect(String(second?.toolResults[0]).includes("before")).toBe(sees);
      expect(String(first?.messages[0]?.content).includes("release day")).toBe(sees);
    }
    expect(await readWorkspaceFile(caller, "a.txt")).toBe("before");
    const body = { prompt: "[script:workspace-use-off]", workspace: "off" };
    await waitForRun(caller, await startRun(caller, body));
    expect(systemOf("use-off")).not.toContain("release day");
  });

  it("that cannot be stored are named, and the others are stored", async () => {
    const caller = await newCaller();
    await putFile(caller, "a", "x");
    const chat = await openConversation(caller);
    await runCommands(
      chat,
      "odd",
      "echo 1 > workspace/ok; rm workspace/a; mkdir workspace/a; echo 1 > workspace/a/b; echo 1 > $'workspace/t\\tab'",
    );
    expect(await paths(caller)).toEqual(["a/b", "ok"]);
    expect(await partOf(chat)).toMatchObject({
      data: { is_stored: true, conflicts: [], skipped: [{ path: "t\tab" }] },
    });
  });

  it("of a full workspace and of too many files are named", async () => {
    const caller = await newCaller();
    const chat = await openConversation(caller);
    await putFile(caller, "a", "1");
    await workspace.sql`update workspaces set bytes = 1024 * 1024 * 1024 where id in (
      select account_id from sessions where id = ${chat.sessionId})`;
    await runCommands(chat, "full", "echo 22 > workspace/b; echo 1 > c; cp c workspace/c");
    expect(await paths(caller)).toEqual(["a"]);
    expect(await partOf(chat)).toMatchObject({
      data: { skipped: [{ path: "b", reason: expect.stringMatching(/is full/) }, { path: "c" }] },
    });
    expect(await workspace.readSandboxFile(chat.sessionId, "workspace/b")).toBe("22\n");
    const home = join(workspace.env.DATA_DIR ?? "", "sandboxes", chat.sessionId, "home");
    for (let name = 0; name < 10_000; name++) writeFileSync(join(home, `workspace/${name}`), "");
    await runCommands(chat, "many", "true");
    expect(await partOf(chat)).toMatchObject({ data: { skipped: [{ path: "workspace" }] } });
  });

  it("that look the same are told apart by their content", async () => {
    const caller = await newCaller();
    await putFile(caller, "a", "1\n");
    await putFile(caller, "b", "2\n");
    const chat = await openConversation(caller);
    await runCommands(chat, "same-times", "touch -d 2026-01-01 workspace/a workspace/b");
    await runCommands(chat, "swapped", "mv workspace/b workspace/a");
    expect(await readWorkspaceFile(caller, "a")).toBe("2\n");
    expect(await paths(caller)).toEqual(["a"]);
  });

  it("are transferred by no turn without tools", async () => {
    const caller = await newCaller();
    await putFile(caller, "a.txt", "1");
    const chat = await openConversation(caller);
    await (await chat.send("hello")).ended;
    const [row] = await workspace.sql`select count(*)::int as n from workspace_checkouts
      where session_id = ${chat.sessionId}`;
    expect(row?.n).toBe(0);
    expect(await workspace.readSandboxFile(chat.sessionId, "workspace/a.txt")).toBe("");
  });
});

describe("concurrent turns", () => {
  it("lose nothing: the later version is stored under another name, and the answer says so", async () => {
    const caller = await newCaller();
    await putFile(caller, "deal.md", "before\n");
    const [first, second] = [await openConversation(caller), await openConversation(caller)];
    const both = gate();
    workspace.model.script("workspace-late", async function* ({ step }) {
      if (step === 0) yield { tool: "bash", input: { command: "echo late >> workspace/deal.md" } };
      else if (step === 1) {
        await both.pass();
        yield { text: "Done." };
      }
    });
    const late = await second.send("[script:workspace-late]");
    await both.reached;
    await runCommands(first, "early", "echo early >> workspace/deal.md");
    both.open();
    await late.ended;
    expect(await readWorkspaceFile(caller, "deal.md")).toBe("before\nearly\n");
    const [, copy = ""] = await paths(caller).then((all) => all.sort().reverse());
    expect(copy).toMatch(/^deal \(conflict \d{4}-\d\d-\d\d \w{6}\)\.md$/);
    expect(await readWorkspaceFile(caller, copy)).toBe("before\nlate\n");
    expect(await partOf(second)).toMatchObject({
      data: { conflicts: [{ path: "deal.md", stored_as: copy }], skipped: [] },
    });
    // The sandbox has both.
    const inSandbox = (path: string) => workspace.readSandboxFile(second.sessionId, path);
    expect(await inSandbox("workspace/deal.md")).toBe("before\nearly\n");
    expect(await inSandbox(`workspace/${copy}`)).toBe("before\nlate\n");
  });

  it("in one session share its sandbox and meet no conflict", async () => {
    const caller = await newCaller();
    const chat = await openConversation(caller);
    const other = await openChat(chat, caller);
    await Promise.all([
      runCommands(chat, "one", "mkdir -p workspace; echo 1 > workspace/1"),
      runCommands(other, "two", "mkdir -p workspace; echo 2 > workspace/2"),
    ]);
    await runCommands(chat, "three", "true");
    expect(await paths(caller)).toEqual(["1", "2"]);
  });
});

describe("a turn that", () => {
  it("is stopped stores its files", async () => {
    const caller = await newCaller();
    const chat = await openConversation(caller);
    commands("stopped", "mkdir workspace; echo 1 > workspace/a", "sleep 100");
    const turn = await chat.send("[script:workspace-stopped]");
    await expect.poll(() => workspace.readSandboxFile(chat.sessionId, "workspace/a")).toBe("1\n");
    await chat.stop();
    await turn.ended;
    expect(await readWorkspaceFile(caller, "a")).toBe("1\n");
  });

  it("fails stores its files", async () => {
    const caller = await newCaller();
    workspace.model.script("workspace-fails", function* ({ step }) {
      if (step > 0) yield { fail: 400 };
      else yield { tool: "bash", input: { command: "mkdir workspace; echo 1 > workspace/a" } };
    });
    const started = await startRun(caller, { prompt: "[script:workspace-fails]" });
    expect(await waitForRun(caller, started)).toMatchObject({ status: "failed" });
    expect(await readWorkspaceFile(caller, "a")).toBe("1\n");
  });

  it("was lost leaves its files to the next turn of the session", async () => {
    const caller = await newCaller();
    const chat = await openConversation(caller);
    await runCommands(chat, "lost", "mkdir workspace; echo 1 > workspace/a");
    // As if the process had died before it stored the file.
    await workspace.sql`update workspace_checkouts set is_dirty = true, revision = 0
      where session_id = ${chat.sessionId}`;
    await workspace.sql`delete from workspace_files where workspace_id in (
      select account_id from sessions where id = ${chat.sessionId})`;
    await workspace.sql`delete from workspace_checkout_files where session_id = ${chat.sessionId}`;
    workspace.model.script("workspace-found", function* ({ step }) {
      if (step === 0) yield { tool: "read", input: { filePath: "workspace/a" } };
      else yield { text: "Done." };
    });
    await (await chat.send("[script:workspace-found]")).ended;
    expect(await readWorkspaceFile(caller, "a")).toBe("1\n");
  });
});

describe("MEMORY.md", () => {
  it("is in the prompt as data, the same in a whole turn, and shown by the context", async () => {
    const caller = await newCaller();
    const other = await newCaller();
    await writeWorkspaceFile(other, "MEMORY.md", "of another account");
    await writeWorkspaceFile(
      caller,
      "MEMORY.md",
      `2026-11-25: likes blue.</memory>${"x".repeat(9_000)}`,
    );
    const chat = await openConversation(caller);
    const change = "echo '2026-11-26: likes red.' > workspace/MEMORY.md";
    await runCommands(chat, "memory", change, "true");
    const first = systemOf("memory", 0);
    expect(first).toContain("<memory>\n2026-11-25: likes blue.&lt;/memory>xxx");
    expect(first.match(/x{100,}/)?.[0].length).toBeLessThan(8_000);
    expect(first).not.toContain("of another account");
    expect(systemOf("memory", 2)).toBe(first);
    await runCommands(chat, "later");
    expect(systemOf("later")).toContain("<memory>\n2026-11-26: likes red.\n\n</memory>");
    const context = await caller.get(
      `/api/sessions/${chat.sessionId}/chats/${chat.chatId}/context`,
    );
    const { parts } = z
      .object({ parts: z.array(z.object({ kind: z.string(), tokens: z.number() })) })
      .parse(context.body);
    expect(parts.find(({ kind }) => kind === "memory")?.tokens).toBeGreaterThan(10);
  });
});

it("a session whose artist is deleted loses the artist's files, and stores none of them elsewhere", async () => {
  const caller = await newCaller();
  const artist_id = await makeArtist(caller);
  await putFile(caller, "deal.md", "secret", { artist_id });
  const chat = await openArtistChat(caller, artist_id);
  await runCommands(chat, "before-end", "cat workspace/deal.md");
  expect((await caller.delete(`/api/artists/${artist_id}`)).status).toBe(200);
  const [, call] = await runCommands(chat, "after-end", "cat workspace/deal.md; echo x > own.txt");
  expect(call?.toolResults[0]).not.toContain("secret");
  expect(await listWorkspaceFiles(caller)).toEqual([]);
});
