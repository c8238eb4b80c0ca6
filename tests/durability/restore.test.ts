/**
 * The refusals of `npm run backup` and `npm run restore`, which leave nothing behind.
 * This file is long because its tests share one installation.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import postgres from "postgres";
import type { Headers } from "tar-stream";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { REPLACED_VERSION } from "../../lib/platform/database/schema-version.ts";
import { startEmbedded } from "../../scripts/embedded/start-embedded.ts";
import { applyOldMigrations } from "../support/fixtures/old-migrations.ts";
import {
  backUp,
  compress,
  DONE,
  forge,
  type Part,
  readEntries,
  restore,
} from "../support/harness/backups.ts";
import { runScript } from "../support/harness/run-script.ts";
import { startOwnParts } from "../support/harness/stack.ts";

const SESSION = "7e0cf0a5-b3f4-4ab0-9d6c-5ad6f4a5e5b1";
const HOME = `sandboxes/${SESSION}/home`;
/** A folder that a command has closed to everybody. */
const CLOSED = `${HOME}/closed`;

const OWN_NAMES = ["restoring/half", "checksum.json", "backup.json"];

let folder: string;
let parts: Awaited<ReturnType<typeof startOwnParts>>;
let source: string;
let file: string;
let entries: Part[];
let printed: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-platform-backup-"));
  parts = await startOwnParts();
  source = parts.env.DATA_DIR ?? "";
  await mkdir(join(source, "media", "an-account"), { recursive: true });
  await writeFile(join(source, "media", "an-account", "größe ✓.png"), "an image");
  await writeFile(join(source, "script.sh"), "exit");
  // Names that mean something else to a backup.
  await mkdir(join(source, "restoring"));
  for (const name of OWN_NAMES) await writeFile(join(source, name), "{}");
  await chmod(join(source, "script.sh"), 0o740);
  const closed = join(source, CLOSED);
  await mkdir(closed, { recursive: true });
  await writeFile(join(closed, "notes.txt"), "closed");
  await chmod(join(closed, "notes.txt"), 0);
  await chmod(closed, 0);
  execFileSync("mkfifo", [join(source, HOME, "fifo")]);
  await symlink("/usr/bin/python3", join(source, HOME, "python3"));
  file = join(folder, "whole.tar.gz");
  const print = vi.spyOn(console, "error").mockReturnValue();
  expect(await backUp(file, source)).toBe(DONE);
  printed = print.mock.calls.join("\n");
  entries = await readEntries(file);
});
afterAll(async () => {
  await parts?.stop();
  await rm(folder, { recursive: true, force: true });
});

const connect = (url: string) => postgres(url, { max: 1, onnotice: () => {} });
let names = 0;
const newName = () => join(folder, `new-${++names}`);

const withoutEnd = () => entries.slice(0, -1);
/** Refusals that come before the database is read can be tested with an archive of a few files. */
const withoutDatabase = () =>
  withoutEnd().filter(({ header }) => !header.name.startsWith("postgres/"));
const headerWith = (changed: object): Part[] => {
  const [first, ...rest] = withoutDatabase();
  if (!first) throw new Error("The archive is empty");
  const content = Buffer.from(JSON.stringify({ ...JSON.parse(String(first.content)), ...changed }));
  return [{ ...first, content }, ...rest];
};
/** An archive that has the entry besides `secrets.json`. */
const forgeWith = (header: Headers): Promise<string> =>
  forge(newName(), [
    ...entries.slice(0, 1),
    ...entries.filter((entry) => entry.header.name === "secrets.json"),
    { header: { mode: 0o644, ...header }, content: Buffer.from("hostile") },
  ]);

async function expectRefused(archive: string, reason: RegExp): Promise<void> {
  const fresh = newName();
  expect(await restore(archive, fresh)).toMatch(reason);
  expect(existsSync(fresh)).toBe(false);
}

describe("a backup", () => {
  test("is one file that only its owner can read, and restores what was there", async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
    const dataDir = newName();
    expect(await restore(file, dataDir)).toBe(DONE);
    const isKept = (name: string) =>
      !/^(logs|lock)/.test(name) && OWN_NAMES.every((own) => own.split("/")[0] !== name);
    expect((await readdir(dataDir)).sort()).toEqual((await readdir(source)).filter(isKept).sort());
    for (const name of ["secrets.json", "media/an-account/größe ✓.png", "script.sh"]) {
      expect(await readFile(join(dataDir, name))).toEqual(await readFile(join(source, name)));
      const [here, there] = [await stat(join(dataDir, name)), await stat(join(source, name))];
      expect(here.mode).toBe(there.mode);
      expect(Math.trunc(here.mtimeMs / 1000)).toBe(Math.trunc(there.mtimeMs / 1000));
    }
    expect(await readFile(join(dataDir, CLOSED, "notes.txt"), "utf8")).toBe("closed");
    expect((await stat(join(source, CLOSED))).mode & 0o777).toBe(0);
    expect(await readlink(join(dataDir, HOME, "python3"))).toBe("/usr/bin/python3");
    expect((await readdir(join(dataDir, HOME))).sort()).toEqual(["closed", "python3"]);
    expect(printed).toMatch(/Left out of the backup: 1 .*\n.*home\/fifo": it is neither/);
    expect(await readdir(join(source, "sandboxes"))).toEqual(
      await readdir(join(dataDir, "sandboxes")),
    );
  });

  test("of an older schema is taken as it is, and migrated when its copy starts", async () => {
    const older = newName();
    expect(await restore(file, older)).toBe(DONE);
    const embedded = await startEmbedded({ dataDir: older });
    const database = connect(embedded.databaseUrl);
    const [installation] = await database`select id from installation`;
    await database.unsafe("drop schema public, engine cascade; create schema public").simple();
    await applyOldMigrations(database);
    await database`update installation set id = ${installation?.id}`;
    await database.end();
    await embedded.stop();

    // No server runs on it now.
    const second = `${newName()}.tar.gz`;
    expect(await backUp(second, older)).toBe(DONE);
    const [header] = await readEntries(second);
    expect(String(header?.content)).toContain(REPLACED_VERSION);
    const dataDir = newName();
    expect(await restore(second, dataDir)).toBe(DONE);
    const migrated = await startEmbedded({ dataDir });
    const copy = connect(migrated.databaseUrl);
    expect(await copy`select id from installation`).toEqual([installation]);
    expect(await copy`select unfinished_turns(1) as turns`).toEqual([{ turns: [] }]);
    await copy.end();
    await migrated.stop();
  });

  test("that is killed half-way leaves no file of its name, and does not disturb the next", async () => {
    const killed = `${newName()}.tar.gz`;
    const sql = connect(parts.env.DATABASE_URL ?? "");
    const kill = new AbortController();
    const outcome = runScript(["backup", killed], { DATA_DIR: source }, kill.signal);
    // It stands where it has copied the database and waits for the end of a tool call.
    await sql.begin(async (transaction) => {
      await transaction`lock table tool_runs in row exclusive mode`;
      const waiting = () => transaction`
        select from pg_locks where relation = 'tool_runs'::regclass and not granted`;
      await expect.poll(waiting, { interval: 20 }).toHaveLength(1);
      kill.abort();
      expect((await outcome).code).toBeNull();
    });
    await sql.end();
    expect(existsSync(killed)).toBe(false);
    expect(existsSync(`${killed}.part`)).toBe(true);
    // The folder left by a backup that is killed a moment later.
    await mkdir(join(source, "sandboxes", ".backup-1"));
    expect(await backUp(killed, source)).toBe(DONE);
    expect(existsSync(`${killed}.part`)).toBe(false);
    expect(existsSync(join(source, "sandboxes", ".backup-1"))).toBe(false);
  });

  test("never replaces a file, and never lies in what it backs up", async () => {
    const before = await readFile(file);
    expect(await backUp(file, source)).toMatch(/exists/);
    expect(await readFile(file)).toEqual(before);
    const inside = join(source, "backup.tar.gz");
    expect(await backUp(inside, source)).toMatch(/inside of DATA_DIR/);
    expect(existsSync(inside)).toBe(false);
    expect(await backUp(newName(), newName())).toMatch(/There is no installation/);
  });

  test("that fails half-way leaves nothing", async () => {
    // The last folder that is read, after the whole database.
    const unknown = join(source, "zz-link");
    await symlink("/", unknown);
    const failed = join(folder, "failed", "backup.tar.gz");
    await mkdir(dirname(failed));
    const outcome = await backUp(failed, source);
    await rm(unknown);
    expect(outcome).toMatch(/zz-link is neither/);
    expect(await readdir(dirname(failed))).toEqual([]);
    expect((await readdir(join(source, "sandboxes"))).filter((name) => name !== SESSION)).toEqual(
      [],
    );
  });
});

describe("a restore refuses", () => {
  test("a folder that is in use", async () => {
    const dataDir = newName();
    await mkdir(dataDir);
    await writeFile(join(dataDir, "notes.txt"), "mine");
    expect(await restore(file, dataDir)).toMatch(/not empty/);
    expect(await readdir(dataDir)).toEqual(["notes.txt"]);
    expect(await restore(file, source)).toMatch(/not empty/);
  });

  test("a part of a backup", async () => {
    const whole = await readFile(file);
    const cut = newName();
    await writeFile(cut, whole.subarray(0, whole.length / 2));
    await expectRefused(cut, /unexpected end/);
    const short = newName();
    const tar = gunzipSync(await readFile(await forge(newName(), withoutDatabase())));
    await writeFile(short, compress(tar.subarray(0, tar.length - 2048 - 512)));
    await expectRefused(short, /its end is missing|Unexpected end/);
  });

  test("a backup in which a byte has changed", async () => {
    const tar = gunzipSync(await readFile(await forge(newName(), withoutDatabase())));
    const place = tar.indexOf("an image");
    tar.write("AN", place);
    const changed = newName();
    await writeFile(changed, compress(tar));
    await expectRefused(changed, /does not match its checksum/);
  });

  test("a backup of a later version of the code", async () => {
    const newer = await forge(newName(), headerWith({ migrations: ["20991231000000"] }));
    await expectRefused(newer, /newer version of the code.*20991231000000/);
    await expectRefused(await forge(newName(), headerWith({ postgres: 99 })), /PostgreSQL 99/);
  });

  test("what is no backup", async () => {
    const text = newName();
    await writeFile(text, "not an archive");
    await expectRefused(text, /incorrect header/);
    const hasNoDatabase = await forge(newName(), withoutDatabase().slice(0, 1));
    await expectRefused(hasNoDatabase, /has no database/);
    const empty = newName();
    await mkdir(empty);
    for (const archive of [text, hasNoDatabase]) {
      expect(await restore(archive, empty)).toMatch(/incorrect header|has no database/);
      expect(await readdir(empty)).toEqual([]);
    }
    await expectRefused(await forge(newName(), withoutDatabase().slice(1)), /not a backup/);
  });

  test.each([
    { name: "../outside.txt" },
    { name: "media/../../outside.txt" },
    { name: "/tmp/agent-platform-outside.txt" },
    { name: "media//outside.txt" },
    { name: "./outside.txt" },
  ])("an entry named $name", async ({ name }) => {
    await expectRefused(await forgeWith({ name, type: "file" }), /it has an entry named/);
    expect(existsSync(join(folder, "outside.txt"))).toBe(false);
    expect(existsSync("/tmp/agent-platform-outside.txt")).toBe(false);
  });

  test.each(["restoring", "restoring/half", "lock", "lock.pid", "lock/file"])(
    "an entry that a restore itself could have there: %s",
    async (name) => {
      await expectRefused(await forgeWith({ name, type: "file" }), /it has an entry named/);
      const empty = newName();
      await mkdir(empty);
      const archive = await forge(newName(), [
        ...withoutEnd(),
        { header: { name, type: "file", mode: 0o644 }, content: Buffer.from("hostile") },
      ]);
      expect(await restore(archive, empty)).toMatch(/it has an entry named/);
      expect(await readdir(empty)).toEqual([]);
    },
  );

  test.each([
    { type: "symlink" as const, linkname: "/etc" },
    { type: "link" as const, linkname: "secrets.json" },
    { type: "fifo" as const },
  ])("an entry that is a $type", async (header) => {
    await expectRefused(await forgeWith({ name: "outside", ...header }), /is a (sym|link|fifo)/);
  });

  test("a second entry of the same name", async () => {
    await expectRefused(await forgeWith({ name: "secrets.json", type: "file" }), /EEXIST/);
  });
});

test("a folder whose restore was cut off is not started, and can be restored again", async () => {
  const dataDir = newName();
  await mkdir(join(dataDir, "restoring"), { recursive: true });
  await writeFile(join(dataDir, "restoring", "half"), "");
  await writeFile(join(dataDir, "lock.pid"), "1");
  await expect(startEmbedded({ dataDir })).rejects.toThrow(/restore .* was cut off/);
  await rm(join(dataDir, "logs"), { recursive: true });
  expect(await restore(file, dataDir)).toBe(DONE);
  expect(existsSync(join(dataDir, "restoring"))).toBe(false);
});
