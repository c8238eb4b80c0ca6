/** A workspace and its copy in a sandbox, while commands change files. */

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createLocalProvider } from "@platform/sandbox/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDiskContents } from "../../../lib/content/storage/adapters/disk.ts";
import { currentDatabase } from "../../../lib/platform/database/create-database.ts";
import { writeFile } from "../../../lib/workspace/store-content.ts";
import { syncSandbox } from "../../../lib/workspace/sync-sandbox.ts";
import { setting, sql, stack } from "../../support/harness/stack.ts";

Object.assign(process.env, stack.env);

const db = currentDatabase();
let folder: string;
beforeAll(async () => {
  // Contents are moved there from the data directory.
  folder = await mkdtemp(join(setting("DATA_DIR"), "workspace-sync-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function openSync() {
  const [accountId, sessionId, runId] = [randomUUID(), randomUUID(), `wrun_${randomUUID()}`];
  await sql`insert into accounts (id, email) values (${accountId}, ${`${accountId}@example.com`})`;
  await sql`insert into sessions (id, account_id) values (${sessionId}, ${accountId})`;
  const contents = createDiskContents(join(folder, "contents"));
  const provider = createLocalProvider({
    ...{ rootDir: join(folder, "sandboxes"), diskQuota: 1024 ** 2, allowedHosts: [] },
  });
  const state = await provider.provision(sessionId, accountId);
  const sandbox = provider.open(state, accountId);
  const parts = { sandbox, files: provider.openFiles(state, accountId) };
  const run = async (command: string) =>
    (await sandbox.run(command, { timeoutMs: 30_000, maxOutputChars: 10_000 })).stdout;
  const place = { accountId, artistId: null };
  const sync = { ...place, sessionId, sandbox: state.name, runId, writes: true, isDirty: false };
  const write = (path: string, text: string) =>
    writeFile({ db, contentStorage: contents }, place, [Buffer.from(text)].values() as never, {
      path,
      runId: null,
    });
  return { sessionId, contents, parts, run, sync, write };
}

test("names a file that is in the place of the folder", async () => {
  const { contents, parts, run, sync, write } = await openSync();
  await syncSandbox({ db, contentStorage: contents }, parts, sync);
  await run("rmdir workspace; echo figures > workspace");
  await write("other.md", "others\n");
  const { skipped } = await syncSandbox({ db, contentStorage: contents }, parts, sync);
  expect(skipped[0]).toEqual({
    path: "workspace",
    reason: "a file is in the place of the folder",
  });
  // It is neither lost nor taken for a deletion of all files.
  expect(await run("cat workspace; rm workspace")).toBe("figures\n");
  await syncSandbox({ db, contentStorage: contents }, parts, sync);
  expect(await run("cat workspace/*")).toBe("others\n");
});

test("loses nothing that a command writes while files are exchanged", async () => {
  const { sessionId, contents, parts, run, sync, write } = await openSync();
  await write("all.md", "before\n");
  await syncSandbox({ db, contentStorage: contents }, parts, sync);
  await write("all.md", "before\nothers\n");
  const late = {
    ...contents,
    async *read(key: Parameters<typeof contents.read>[0]) {
      await run("echo mine >> workspace/all.md");
      yield* contents.read(key);
    },
  };
  expect(await syncSandbox({ db, contentStorage: late }, parts, sync)).toMatchObject({
    skipped: [],
  });
  expect(await run("cat workspace/all.md")).toBe("before\nmine\n");
  const [checkout] =
    await sql`select is_dirty from workspace_checkouts where session_id = ${sessionId}`;
  expect(checkout).toEqual({ is_dirty: true });

  const { conflicts } = await syncSandbox({ db, contentStorage: contents }, parts, sync);
  expect(conflicts).toMatchObject([{ path: "all.md" }]);
  expect(await run("cat workspace/*conflict*")).toBe("before\nmine\n");
  expect(await run("cat workspace/all.md")).toBe("before\nothers\n");

  // The same run meets another conflict: its first copy stays.
  await run("echo again >> workspace/all.md");
  await write("all.md", "before\nothers\nmore\n");
  for (let time = 0; time < 2; time++)
    await syncSandbox({ db, contentStorage: contents }, parts, sync);
  expect(await run("ls workspace | wc -l; cat workspace/*")).toBe(
    "3\nbefore\nothers\nagain\nbefore\nmine\nbefore\nothers\nmore\n",
  );
});
