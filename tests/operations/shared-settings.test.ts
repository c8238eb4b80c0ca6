/** All servers of a database have one `API_KEY_SECRET`, and one `DATA_DIR` where sandboxes or media are in it. */

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createMediaStorage, createSandboxes } from "../../lib/app.ts";
import { checkShared, joinInstallation } from "../../lib/health/check-shared.ts";
import { parseConfig } from "../../lib/platform/config.ts";
import { createDatabase } from "../../lib/platform/database/create-database.ts";
import type { Command } from "../../scripts/command.ts";
import { makeKey } from "../../scripts/make-key.ts";
import { startOwnParts } from "../support/harness/stack.ts";

let parts: Awaited<ReturnType<typeof startOwnParts>>;
let app: Parameters<typeof joinInstallation>[1];
let sql: Sql;
let folder: string;
beforeAll(async () => {
  parts = await startOwnParts();
  for (const [name, value] of Object.entries(parts.env)) vi.stubEnv(name, value);
  // The end of its database is not logged.
  vi.stubEnv("LOG_LEVEL", "silent");
  const settings = parseConfig(parts.env);
  const db = createDatabase(settings);
  app = {
    db,
    sandboxes: await createSandboxes(db, settings),
    mediaStorage: await createMediaStorage(settings),
  };
  sql = postgres(parts.env.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  folder = await mkdtemp(join(tmpdir(), "shared-settings-"));
});
afterAll(async () => {
  await app?.db.close();
  await sql?.end();
  await parts?.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => sql`update installation set secret_fingerprint = null, data_dir_id = null`);

const [ONE, OTHER] = ["1", "2"].map((text) => text.repeat(32));
const given = (env: Readonly<Record<string, string | undefined>>) =>
  parseConfig({ ...parts.env, API_KEY_SECRET: ONE, ...env });
const joined = async (env: Readonly<Record<string, string | undefined>>) =>
  (await joinInstallation(given(env), app))
    .filter(({ status }) => status !== "ok")
    .map(({ check, blocksStart }) => [check, blocksStart]);
const record = async () => (await sql`select * from installation`)[0];
const SECRET = [["secret", true]];

test("a server with another secret is refused, unless it names the recorded one as the previous", async () => {
  expect(await joined({})).toEqual([]);
  const before = await record();
  expect(await joined({ API_KEY_SECRET: OTHER })).toEqual(SECRET);
  expect(await joined({ API_KEY_SECRET: OTHER, API_KEY_SECRET_PREVIOUS: "3".repeat(32) })).toEqual(
    SECRET,
  );
  expect(await record()).toEqual(before);
  // Accepted besides, it replaces nothing.
  expect(await joined({ API_KEY_SECRET_PREVIOUS: OTHER })).toEqual([]);
  expect(await record()).toEqual(before);
  expect(await joined({ API_KEY_SECRET: OTHER, API_KEY_SECRET_PREVIOUS: ONE })).toEqual([]);
  expect(await joined({ API_KEY_SECRET: OTHER })).toEqual([]);
  expect(await joined({})).toEqual(SECRET);
  const { secret_fingerprint: fingerprint } = (await record()) ?? {};
  expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
});

test("of servers that start at once with different secrets, one is admitted", async () => {
  const secrets = Array.from({ length: 10 }, (_, at) => String(at).repeat(32));
  const found = await Promise.all(secrets.map((API_KEY_SECRET) => joined({ API_KEY_SECRET })));
  expect(found.filter((faults) => faults.length === 0)).toHaveLength(1);
});

test("a server with another folder is refused, until the folder is declared to be the same", async () => {
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  const [DATA_DIR, moved] = await Promise.all([mkdtemp(first), mkdtemp(second)]);
  // Servers that share a new folder agree on its id.
  const found = await Promise.all(Array.from({ length: 10 }, () => joined({ DATA_DIR })));
  expect(found.flat()).toEqual([]);
  expect(await readdir(DATA_DIR)).toEqual(["data-dir-id"]);
  expect(await joined({ DATA_DIR: moved })).toEqual([["shared data", true]]);
  const id = (await readFile(join(DATA_DIR, "data-dir-id"), "utf8")).trim();
  expect((await record())?.data_dir_id).toBe(id);
  await writeFile(join(moved, "data-dir-id"), `\t${id}\r\n`);
  expect(await joined({ DATA_DIR: moved })).toEqual([]);
});

test("a server without files of others in its folder needs no folder", async () => {
  const remote = {
    ...app,
    sandboxes: { ...app.sandboxes, folders: undefined },
    mediaStorage: { ...app.mediaStorage, name: "supabase" },
  };
  const settings = given({ DATA_DIR: "/dev/null/data" });
  const found = await joinInstallation(settings, remote as unknown as typeof app);
  expect(found.map(({ check, status }) => [check, status])).toEqual([["secret", "ok"]]);
  expect((await record())?.data_dir_id).toBeNull();
});

test("in development a difference is a warning", async () => {
  const other = { secret_fingerprint: "another", data_dir_id: "another" };
  const found = await checkShared(given({ NODE_ENV: "development" }), app, other);
  expect(found.map(({ check, status }) => [check, status])).toEqual([
    ["secret", "warning"],
    ["shared data", "warning"],
  ]);
  expect(found.some(({ blocksStart }) => blocksStart)).toBe(false);
});

test.each(["over REST", "in its own database"])(
  "no key is made %s with another secret",
  async (way) => {
    await joined({ API_KEY_SECRET: ONE });
    vi.stubEnv("API_KEY_SECRET", OTHER);
    vi.stubEnv("SUPABASE_URL", way === "over REST" ? parts.env.SUPABASE_URL : "");
    const database = { url: parts.env.DATABASE_URL ?? "", stop: async () => {} };
    const command = { name: "key", reachDatabase: async () => database } as unknown as Command;
    const args = ["--email", "other-secret@example.com"];
    await expect(makeKey(args, command)).rejects.toThrow("API_KEY_SECRET differs");
    expect(await sql`select from accounts where email = 'other-secret@example.com'`).toEqual([]);
  },
);
