/**
 * The retention job, called directly on a separate database: rows and files are aged, no test
 * waits. This file is long because it has every part of the job.
 */

import { randomUUID } from "node:crypto";
import { access, mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createLocalProvider } from "@platform/sandbox/local";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp } from "../../lib/app.ts";
import { ComposioConnectors } from "../../lib/connectors/adapters/composio/provider.ts";
import { newMediaKey } from "../../lib/content/storage/media-name.ts";
import type { App } from "../../lib/parts.ts";
import { parseConfig } from "../../lib/platform/config.ts";
import { currentDatabase } from "../../lib/platform/database/create-database.ts";
import {
  endLostSubscriptions,
  runRetention,
  sweepRows,
} from "../../lib/retention/run-retention.ts";
import { endJob, takeJob } from "../../lib/retention/store.ts";
import {
  checkMediaRows,
  removeDeletedMedia,
  removeUnownedMedia,
  removeUnusedContents,
  sweepMailbox,
} from "../../lib/retention/sweep-files.ts";
import {
  destroyDeletedSandboxes,
  destroyUnownedSandboxes,
  measureLostSandboxes,
} from "../../lib/retention/sweep-sandboxes.ts";
import { sweepVersions } from "../../lib/workspace/store.ts";
import { writeFile as writeWorkspaceFile } from "../../lib/workspace/store-content.ts";
import { startFakeComposio } from "../support/fakes/composio.ts";
import { composioItem } from "../support/fakes/composio-answers.ts";
import { startServer } from "../support/harness/server.ts";
import { startOwnParts } from "../support/harness/stack.ts";

let app: App;
let parts: Awaited<ReturnType<typeof startOwnParts>>;
let sql: Sql;
let dataDir: string;
beforeAll(async () => {
  parts = await startOwnParts();
  dataDir = parts.env.DATA_DIR ?? "";
  // The functions under test run in this process, as a server's would.
  Object.assign(process.env, parts.env, { LOG_LEVEL: "silent" });
  app = await startApp(parseConfig(process.env));
  sql = postgres(parts.env.DATABASE_URL ?? "", { max: 3, onnotice: () => {} });
});
afterAll(async () => {
  await sql?.end();
  await parts?.stop();
});

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
const twoHoursAgo = () => new Date(Date.now() - 2 * 60 * 60 * 1000);

async function createAccount(): Promise<string> {
  const id = randomUUID();
  await sql`insert into accounts (id, kind, email) values (${id}, 'personal', ${`${id}@example.com`})`;
  return id;
}

async function createRun(accountId: string, status = "COMPLETED"): Promise<string> {
  const id = `run_${randomUUID().replaceAll("-", "")}`;
  await sql`insert into task_runs (id, account_id, status, task_identifier, tags, payload, finished_at)
    values (${id}, ${accountId}, ${status}, 'generate-image', ${[`account:${accountId}`]},
      ${sql.json({ prompt: "A red kite" })}, now())`;
  return id;
}

/** A file of the disk storage, two hours old unless `young`. */
async function writeMedia(accountId: string, young = false) {
  const key = newMediaKey(accountId, "image/png");
  const path = join(dataDir, "media", accountId, key.name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "12345");
  if (!young) await utimes(path, twoHoursAgo(), twoHoursAgo());
  return { key, path };
}

async function insertMedia(accountId: string, name: string, bytes = 5): Promise<void> {
  const run = await createRun(accountId);
  await sql`insert into media_files (account_id, name, run_id, bytes)
    values (${accountId}, ${name}, ${run}, ${bytes})`;
}

describe("rows that nobody needs", () => {
  test("go when they are old enough, and the others stay", async () => {
    const account = await createAccount();
    const hash = () => randomUUID().repeat(2);
    await sql`insert into idempotency_keys (account_id, key_hash, fingerprint, created_at, lease_until)
      values (${account}, 'old', 'f', now() - interval '25 hours', null),
        (${account}, 'in use', 'f', now() - interval '25 hours', now() + interval '1 minute'),
        (${account}, 'young', 'f', now() - interval '23 hours', null)`;
    await sql`insert into signup_codes (email, expires_at)
      values ('old@example.com', now() - interval '61 minutes'),
        ('young@example.com', now() - interval '59 minutes')`;
    await sql`insert into rate_limits (bucket, empty_at)
      values ('old', date_part('epoch', now()) - 1), ('young', date_part('epoch', now()) + 60)`;
    await sql`insert into connections
      (account_id, connector, status, state_hash, callback_url, expires_at, updated_at)
      values (${account}, 'old-pending', 'pending', ${hash()}, 'https://a', now() - interval '31 days',
          now() - interval '31 days'),
        (${account}, 'old-failed', 'failed', null, 'https://a', now(), now() - interval '31 days'),
        (${account}, 'old-active', 'active', null, 'https://a', now(), now() - interval '31 days'),
        (${account}, 'young-failed', 'failed', null, 'https://a', now(), now())`;
    await sql`insert into api_keys (account_id, name, hash, prefix, scope, revoked_at)
      values (${account}, 'run', ${hash()}, 'ap_aaaa', 'run', now() - interval '25 hours'),
        (${account}, 'full', ${hash()}, 'ap_aaaa', 'full', now() - interval '25 hours')`;
    const [oldRun, youngRun] = [await createRun(account), await createRun(account)];
    await sql`update task_runs set finished_at = now() - interval '31 days' where id = ${oldRun}`;
    const lost = await createRun(account, "EXECUTING");
    await sql`update task_runs set lease_until = now() - interval '1 second', started_at = now(),
      finished_at = null, attempts = '[{}]' where id = ${lost}`;

    await sweepRows(currentDatabase());
    const left = async (table: string, column: string) =>
      (await sql`select ${sql(column)} as value from ${sql(table)} order by 1`).map(
        ({ value }) => value,
      );
    expect(await left("idempotency_keys", "key_hash")).toEqual(["in use", "young"]);
    expect(await left("signup_codes", "email")).toEqual(["young@example.com"]);
    expect(await left("rate_limits", "bucket")).toEqual(["young"]);
    expect(await left("connections", "connector")).toEqual(["old-active", "young-failed"]);
    expect(await left("api_keys", "name")).toEqual(["full"]);
    const runs = await sql`select id, status, payload from task_runs where account_id = ${account}`;
    const run = (id: string) => runs.find((one) => one.id === id);
    expect(run(oldRun)).toMatchObject({ status: "COMPLETED", payload: null });
    expect(run(youngRun)?.payload).toEqual({ prompt: "A red kite" });
    expect(run(lost)?.status).toBe("CRASHED");
  });
});

describe("workspaces", () => {
  async function writeContent(workspaceId: string, text: string): Promise<string> {
    const place = { accountId: workspaceId, artistId: null };
    const change = { path: "a", runId: null };
    const content = (async function* () {
      yield Buffer.from(text);
    })();
    await writeWorkspaceFile(app, place, content, change);
    const [row] = await sql`select c.id from workspace_contents c
      where workspace_id = ${workspaceId} order by c.reserved_at desc limit 1`;
    return join(dataDir, "workspaces", workspaceId, String(row?.id));
  }

  test("lose old versions and deleted files, with their contents, and keep the rest", async () => {
    const account = await createAccount();
    const [first, second, third] = [
      await writeContent(account, "1"),
      await writeContent(account, "2"),
      await writeContent(account, "3"),
    ];
    await sql`insert into workspace_contents (workspace_id, sha256, bytes, reserved_at)
      values (${account}, repeat('0', 64), 5, now() - interval '25 hours'),
        (${account}, repeat('1', 64), 7, now() - interval '23 hours')`;
    // The second one was replaced yesterday.
    await sql`update workspace_versions set created_at = created_at - interval '91 days'
      where number < 3 and file_id in (select id from workspace_files where workspace_id = ${account})`;
    expect(await sweepVersions(currentDatabase(), 100, 90)).toBe(1);
    expect(await removeUnusedContents(app)).toBe(2);
    expect(await Promise.all([first, second, third].map(isThere))).toEqual([false, true, true]);
    expect(await sql`select bytes::int from workspaces where id = ${account}`).toEqual([
      { bytes: 9 },
    ]);

    await sql`delete from accounts where id = ${account}`;
    expect(await removeUnusedContents(app)).toBe(3);
    expect(await Promise.all([second, third].map(isThere))).toEqual([false, false]);
    // A slow request may have stored one since.
    await sql`update removals set removed_at = now() - interval '61 minutes'
      where kind = 'content'`;
    expect(await removeUnusedContents(app)).toBe(5);
    expect(await sql`select from removals where kind = 'content'`).toHaveLength(0);
  });
});

describe("media", () => {
  test("of a deleted account are removed, and once more an hour later", async () => {
    const account = await createAccount();
    const { key, path } = await writeMedia(account, true);
    await insertMedia(account, key.name);
    await sql`delete from accounts where id = ${account}`;
    expect(await removeDeletedMedia(app)).toBe(1);
    expect(await isThere(path)).toBe(false);
    expect(await removeDeletedMedia(app)).toBe(0);

    // A process that was taken for dead had not stored it yet.
    await writeFile(path, "late");
    await sql`update removals set removed_at = now() - interval '61 minutes'
      where owner_id = ${account}`;
    expect(await removeDeletedMedia(app)).toBe(1);
    expect(await isThere(path)).toBe(false);
    expect(await sql`select from removals where owner_id = ${account}`).toHaveLength(0);
  });

  test("without a row are removed when they are old; with one they stay", async () => {
    const account = await createAccount();
    const [unowned, young, owned] = await Promise.all([
      writeMedia(account),
      writeMedia(account, true),
      writeMedia(account),
    ]);
    await insertMedia(account, owned.key.name);
    const stranger = join(dataDir, "media", account, "notes.txt");
    await writeFile(stranger, "not a media file");
    await utimes(stranger, twoHoursAgo(), twoHoursAgo());
    expect(await removeUnownedMedia(app)).toBe(1);
    const paths = [unowned.path, young.path, owned.path, stranger];
    expect(await Promise.all(paths.map(isThere))).toEqual([false, true, true, true]);
  });

  test("rows without a file go, and others are measured", async () => {
    const account = await createAccount();
    const { key } = await writeMedia(account);
    await insertMedia(account, key.name, 0);
    await insertMedia(account, newMediaKey(account, "image/png").name, 1000);
    expect(await checkMediaRows(app)).toBe(0);
    await sql`update media_files set checked_at = now() - interval '25 hours'
      where account_id = ${account}`;
    expect(await checkMediaRows(app)).toBe(1);
    expect(
      await sql`select name, bytes::int from media_files where account_id = ${account}`,
    ).toEqual([{ name: key.name, bytes: 5 }]);
    const [usage] = await sql`select bytes::int from media_usage where account_id = ${account}`;
    expect(usage?.bytes).toBe(5);
  });
});

describe("sandboxes", () => {
  const folderOf = (sessionId: string) => join(dataDir, "sandboxes", sessionId);
  async function makeFolder(sessionId: string, young = false): Promise<string> {
    await mkdir(join(folderOf(sessionId), "home"), { recursive: true });
    if (!young) await utimes(folderOf(sessionId), twoHoursAgo(), twoHoursAgo());
    return folderOf(sessionId);
  }
  async function createSession(account: string, sandbox: object | null): Promise<string> {
    const [row] = await sql`insert into sessions (account_id, sandbox_state)
      values (${account}, ${sandbox && sql.json({ ...sandbox })}) returning id`;
    return String(row?.id);
  }

  test("without a session are deleted when they are old; others stay", async () => {
    const account = await createAccount();
    const owned = await makeFolder(await createSession(account, null));
    const [old, young] = [await makeFolder(randomUUID()), await makeFolder(randomUUID(), true)];
    expect(await destroyUnownedSandboxes(app)).toBe(1);
    expect(await Promise.all([old, young, owned].map(isThere))).toEqual([false, true, true]);
  });

  test("of sessions that went with their account are destroyed", async () => {
    const account = await createAccount();
    const state = { provider: "local", createdAt: "2026-11-21T00:00:00.000Z", readyMs: 1 };
    const id = await createSession(account, { ...state, expiresAt: null });
    await sql`update sessions set sandbox_state = sandbox_state || ${sql.json({ name: id })}
      where id = ${id}`;
    const folder = await makeFolder(id, true);
    await sql`delete from accounts where id = ${account}`;
    expect(await destroyDeletedSandboxes(app)).toBe(1);
    expect(await isThere(folder)).toBe(false);
    expect(await destroyDeletedSandboxes(app)).toBe(0);
  });

  test("whose size was not noted before a crash are measured", async () => {
    const id = await createSession(await createAccount(), null);
    await writeFile(join(await makeFolder(id), "home", "notes.txt"), "12345");
    await sql`update sessions set sandbox_bytes = 1000000, sandbox_reserved_at = now()
      where id = ${id}`;
    expect(await measureLostSandboxes(app)).toBe(0);
    await sql`update sessions set sandbox_reserved_at = now() - interval '61 minutes'
      where id = ${id}`;
    expect(await measureLostSandboxes(app)).toBe(1);
    expect(
      await sql`select sandbox_bytes::int, sandbox_reserved_at from sessions where id = ${id}`,
    ).toEqual([{ sandbox_bytes: 5, sandbox_reserved_at: null }]);
  });

  test("a folder is of the first database that looks after it, and of no other", async () => {
    const rootDir = join(dataDir, "other-sandboxes");
    const options = { rootDir, diskQuota: 1, allowedHosts: [] };
    const [mine, theirs] = [randomUUID(), randomUUID()];
    expect(await createLocalProvider(options).folders?.belongsTo(mine)).toBe(true);
    expect(await createLocalProvider(options).folders?.belongsTo(theirs)).toBe(false);
    expect(await createLocalProvider(options).folders?.belongsTo(mine)).toBe(true);
    await rm(rootDir, { recursive: true });
  });
});

test("mail in the mailbox goes after a week", async () => {
  const folder = join(dataDir, "mailbox");
  await mkdir(folder, { recursive: true });
  const age = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
  for (const [name, days] of [["old.eml", 8] as const, ["young.eml", 6] as const]) {
    await writeFile(join(folder, name), "mail");
    await utimes(join(folder, name), age(days), age(days));
  }
  expect(await sweepMailbox(app)).toBe(1);
  expect(await readdir(folder)).toEqual(["young.eml"]);
});

test("subscriptions that no trigger uses are ended, of deleted accounts, too", async () => {
  const composio = await startFakeComposio();
  const { COMPOSIO_API_KEY: apiKey, COMPOSIO_BASE_URL: baseUrl } = composio.env;
  const db = currentDatabase();
  const given = { db, apiKey, baseUrl, receivesEvents: true, timeoutMs: 5_000 };
  const connectors = new ComposioConnectors(given);
  const account = await createAccount();
  composio.add(account, composioItem(account, "gmail", "ACTIVE"));
  const gmail = { accountId: account, connector: "gmail", event: "GMAIL_NEW_MESSAGE" };
  for (const label of ["a", "b", "c"]) await connectors.subscribe({ ...gmail, config: { label } });
  await sql`insert into event_checks (account_id) values (${account})`;
  await sql`delete from accounts where id = ${account}`;
  expect(composio.instancesOf(account)).toHaveLength(3);
  expect(await endLostSubscriptions({ db, connectors })).toBe(1);
  expect(composio.instancesOf(account)).toEqual([]);
  expect(await endLostSubscriptions({ db, connectors })).toBe(0);
  await composio.close();
});

describe("several servers", () => {
  test("lease a job to one of them; a dead one's lease runs out", async () => {
    const name = randomUUID();
    const take = (holder: string, intervalSeconds = 60) =>
      takeJob(currentDatabase(), { name, holder, leaseSeconds: 60, intervalSeconds });
    const holders = Array.from({ length: 8 }, () => randomUUID());
    const taken = await Promise.all(holders.map((holder) => take(holder)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    const first = holders[taken.indexOf(true)] ?? "";

    await sql`update background_jobs set lease_until = now() - interval '1 second'
      where name = ${name}`;
    const second = randomUUID();
    expect(await take(second)).toBe(true);
    // The first one was only slow: its late result changes nothing.
    await endJob(currentDatabase(), name, first);
    expect(await take(first)).toBe(false);
    await endJob(currentDatabase(), name, second);
    expect(await take(first)).toBe(false);
    expect(await take(first, 0)).toBe(true);
  });

  test("a whole run at the same time deletes everything once, and fails nowhere", async () => {
    const account = await createAccount();
    const files = await Promise.all([1, 2, 3].map(() => writeMedia(account)));
    await Promise.all([runRetention(app, 0), runRetention(app, 0), runRetention(app, 0)]);
    expect(await Promise.all(files.map(({ path }) => isThere(path)))).toEqual([
      false,
      false,
      false,
    ]);
    const left = await sql`select holder from background_jobs where holder is not null
      and name like 'retention%'`;
    expect(left).toEqual([]);
  });
});

test("a server runs the job by itself", async () => {
  const account = await createAccount();
  const { path } = await writeMedia(account);
  const server = await startServer({
    env: { ...parts.env, TEST_CONSTANTS: '{"RETENTION_INTERVAL_SECONDS":1}' },
  });
  await expect.poll(() => isThere(path)).toBe(false);
  await server.stop();
});
