/** `bin/backup` and `bin/restore`: a PostgreSQL of one's own, and DATA_DIR. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../scripts/project-root.ts";
import { readEntries } from "../support/harness/backups.ts";
import { client } from "../support/harness/clients.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { findSystemPostgres, startSystemPostgres } from "../support/harness/system-postgres.ts";
import { makeKey, newFolder, type Running, removeFolder, run, serve } from "./packaged.ts";

const programs = findSystemPostgres();
const main = join(projectRoot, "scripts", "package", "main.ts");
const bin = (...args: string[]) => [process.execPath, "--no-warnings", main, ...args];

/** The programs of PostgreSQL, and none of the packages in npm. */
const PATH = `${programs}:/usr/bin:/bin`;

describe.skipIf(programs === undefined)("a backup of a PostgreSQL of one's own", () => {
  let folder: string;
  let postgres: Awaited<ReturnType<typeof startSystemPostgres>>;
  let source: Record<string, string>;
  let archive: string;
  let key: string;
  let conversation: Conversation;
  let image: { url: string; bytes: Buffer };
  let server: Running & { url: string };
  let before: unknown;

  const command = (settings: Record<string, string>, ...args: string[]) =>
    run(bin(...args), folder, { PATH, ...settings });
  const newDatabase = async (name: string) => {
    await postgres.sql.unsafe(`create database ${name}`);
    return { DATABASE_URL: postgres.urlOf(name), DATA_DIR: join(folder, name) };
  };
  beforeAll(async () => {
    folder = await newFolder();
    postgres = await startSystemPostgres(programs ?? "");
    source = await newDatabase("source");
    server = await serve(bin("server", "--migrate"), folder, { PATH, ...source });
    key = await makeKey(bin("key"), folder, { PATH, ...source });
    const caller = client({ key }, server.url);
    conversation = await openConversation(caller);
    await (await conversation.send("run: echo kept > notes.txt; cat notes.txt")).ended;
    const made = await caller.post("/api/content/image", { prompt: "A red sun" });
    const { imageUrl } = made.body as { imageUrl: string };
    image = { url: imageUrl, bytes: await bytesOf(imageUrl) };
    before = await conversation.read();

    archive = join(folder, "backup.tar.gz");
    const { code, output } = await command(source, "backup", archive);
    expect(output).toContain("The file contains the secrets");
    expect(code).toBe(0);
    // Not in the backup.
    await (await conversation.send("run: echo later > later.txt")).ended;
  });
  afterAll(async () => {
    server?.child.kill("SIGKILL");
    await server?.ended;
    await postgres?.stop();
    await removeFolder(folder);
  });

  const bytesOf = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

  it("is one file that only its owner can read, and no draft is left", async () => {
    expect((await stat(archive)).mode & 0o777).toBe(0o600);
    const names = (await readdir(folder)).filter((name) => name.startsWith("backup"));
    expect(names).toEqual(["backup.tar.gz"]);
    const entries = (await readEntries(archive)).map(({ header }) => header.name);
    expect(entries.slice(0, 2)).toEqual(["backup.json", "database.dump"]);
    expect(entries).toContain("secrets.json");
    expect(entries.at(-1)).toBe("checksum.json");
    expect(entries.filter((name) => /^(logs|lock|restoring|postgres)/.test(name))).toEqual([]);
  });

  it("is restored into another database and folder, with chats, files and media", async () => {
    const target = await newDatabase("target");
    const made = await command(target, "restore", archive);
    expect(made.output).toContain("`bin/server` continues the turns");
    expect(made.code).toBe(0);
    expect((await readdir(target.DATA_DIR)).filter((name) => /dump|restoring/.test(name))).toEqual(
      [],
    );
    // Both would continue the same turns.
    server.child.kill("SIGTERM");
    await server.ended;

    server = await serve(bin("server"), folder, { PATH, ...target });
    const there = conversation.through(client({ key }, server.url));
    expect(await there.read()).toEqual(before);
    const home = join(target.DATA_DIR, "sandboxes", conversation.sessionId, "home");
    expect(await readFile(join(home, "notes.txt"), "utf8")).toBe("kept\n");
    expect(existsSync(join(home, "later.txt"))).toBe(false);
    const { pathname } = new URL(image.url);
    expect(image.bytes.equals(await bytesOf(server.url + pathname))).toBe(true);
    const turn = await there.send("run: cat notes.txt");
    await turn.ended;
    expect(turn.text).toContain("kept");
  });

  it("of a backup is possible", async () => {
    const again = join(folder, "again.tar.gz");
    const target = { DATABASE_URL: postgres.urlOf("target"), DATA_DIR: join(folder, "target") };
    expect((await command(target, "backup", again)).code).toBe(0);
    expect((await command(await newDatabase("third"), "restore", again)).code).toBe(0);
  });

  it("is restored beside schemas and extensions that a provider has made", async () => {
    const target = await newDatabase("managed");
    const made = await run(
      [
        "psql",
        target.DATABASE_URL,
        "-c",
        "create schema extensions; create extension pg_trgm schema extensions",
      ],
      folder,
      { PATH },
    );
    expect(made.code, made.output).toBe(0);
    expect((await command(target, "restore", archive)).output).toContain("Restored");
  });

  it("is refused before anything is written", async () => {
    const fresh = await newDatabase("fresh");
    const refuse = async (settings: Record<string, string>, file: string, reason: RegExp) => {
      const { code, output } = await command({ ...fresh, ...settings }, "restore", file);
      expect(output).toMatch(reason);
      expect(code).toBe(1);
    };
    const cut = join(folder, "cut.tar.gz");
    await writeFile(cut, await readFile(archive));
    await truncate(cut, (await stat(cut)).size - 100);
    await refuse({}, cut, /cannot be restored/);
    await refuse({}, join(folder, "none.tar.gz"), /There is no file/);
    await refuse(source, archive, /is not empty/);
    const used = join(folder, "used");
    await mkdir(used);
    await writeFile(join(used, "file"), "");
    await refuse({ DATA_DIR: used }, archive, /used is not empty: it has file/);
    await postgres.sql`create role other login superuser`;
    const other = fresh.DATABASE_URL?.replace("postgres@", "other@") ?? "";
    await refuse({ DATABASE_URL: other }, archive, /with a login of the same name/);
    await refuse({ SUPABASE_URL: "https://example.com" }, archive, /hosted project/);
    expect(existsSync(fresh.DATA_DIR ?? "")).toBe(false);
    // Still empty: this one succeeds.
    expect((await command(fresh, "restore", archive)).code).toBe(0);
  });

  it("needs programs that can read the database", async () => {
    const old = join(folder, "old");
    await mkdir(old);
    for (const name of ["pg_dump", "pg_restore"]) {
      await writeFile(join(old, name), `#!/bin/sh\necho "${name} (PostgreSQL) 9.6.24"\n`);
      await chmod(join(old, name), 0o755);
    }
    const missing = await command({ ...source, PATH: "/nowhere" }, "backup", join(folder, "m"));
    expect(missing.output).toMatch(
      /pg_dump is not on the PATH. Install .* PostgreSQL \d+ or later/,
    );
    const outdated = await command({ ...source, PATH: `${old}:/bin` }, "backup", join(folder, "o"));
    expect(outdated.output).toMatch(/pg_dump is of version 9. Install .* PostgreSQL \d+ or later/);
    const target = await newDatabase("outdated");
    const restored = await command({ ...target, PATH: `${old}:/bin` }, "restore", archive);
    expect(restored.output).toMatch(/pg_restore is of version 9/);
    expect((await readdir(folder)).filter((name) => /^[mo](\.|$)/.test(name))).toEqual([]);
  });

  it("that is killed leaves no file of that name, and the next one removes its draft", async () => {
    const slow = join(folder, "slow");
    await mkdir(slow);
    await writeFile(
      join(slow, "pg_dump"),
      `#!/bin/sh\n[ "$1" = --version ] && exec ${programs}/pg_dump "$@"\necho > ${folder}/dumping\nexec sleep 600\n`,
    );
    await chmod(join(slow, "pg_dump"), 0o755);
    const file = join(folder, "killed.tar.gz");
    const [program = "", ...args] = bin("backup", file);
    const env = { ...source, PATH: `${slow}:/usr/bin:/bin` } as unknown as NodeJS.ProcessEnv;
    const child = spawn(program, args, { cwd: folder, env, stdio: "ignore" });
    await expect.poll(() => existsSync(join(folder, "dumping"))).toBe(true);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(existsSync(file)).toBe(false);
    // Its sessions end with it.
    await expect
      .poll(async () => (await command(source, "backup", file)).code, { interval: 1_000 })
      .toBe(0);
    const left = (await readdir(folder)).filter((name) => name.startsWith("killed"));
    expect(left).toEqual(["killed.tar.gz"]);
  });
});
