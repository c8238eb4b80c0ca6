/** `npm run doctor` in a separate process, beside the server that all tests share. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { lockDataDir } from "../../scripts/embedded/lock-data-dir.ts";
import { projectRoot } from "../../scripts/project-root.ts";
import { startFakeComposio } from "../support/fakes/composio.ts";
import { startFakeOpenAI } from "../support/fakes/openai.ts";
import { type HostedProject, startHostedProject } from "../support/harness/hosted-project.ts";
import { setting, stack } from "../support/harness/stack.ts";

const report = z.object({
  findings: z.array(
    z.object({
      check: z.string(),
      status: z.enum(["ok", "warning", "failed"]),
      detail: z.string(),
      remedy: z.string().optional(),
      settings: z.array(z.string()).optional(),
    }),
  ),
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of the launcher with these settings and no others. */
const run = (script: string, args: string[], env: Readonly<Record<string, string>>) =>
  runProgram(["scripts/run.ts", script, ...args], env);

/** Runs a command of the self-contained package. These tests need only the source. */
const runPackaged = (args: string[], env: Readonly<Record<string, string>>) =>
  runProgram(["scripts/package/main.ts", ...args], env);

function runProgram(args: string[], env: Readonly<Record<string, string>>) {
  const { PATH = "", HOME = "" } = process.env;
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  execFile(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", ...args],
    { cwd: projectRoot, env: { PATH, HOME, ...env } as unknown as NodeJS.ProcessEnv },
    (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
  );
  return promise;
}

const doctor = (env: Readonly<Record<string, string>>, ...args: string[]) =>
  run("doctor", args, env);
const findingsOf = ({ stdout }: Outcome) => report.parse(JSON.parse(stdout)).findings;

describe("npm run doctor", () => {
  let project: HostedProject;
  let hosted: Record<string, string>;
  beforeAll(async () => {
    project = await startHostedProject();
    hosted = {
      ...stack.env,
      ...project.env,
      PUBLIC_URL: "https://api.example.com",
      CONNECTOR_CALLBACK_ORIGINS: "https://app.example.com",
    };
  });
  afterAll(() => project?.close());

  it("beside a server with embedded parts finds them, and exits with 0", async () => {
    const outcome = await doctor({ DATA_DIR: setting("DATA_DIR"), HOST: "127.0.0.1" }, "--json");
    expect(outcome.code, outcome.stderr).toBe(0);
    const found = findingsOf(outcome);
    expect(found.filter(({ status }) => status === "failed")).toEqual([]);
    expect(found).toContainEqual(expect.objectContaining({ check: "migrations", status: "ok" }));
    const guide = readFileSync(join(projectRoot, "docs", "deploy.md"), "utf8");
    const documented = [...guide.matchAll(/^ok {7}(\w+(?: \w+)?) {2,}/gm)].map(
      ([, check]) => check,
    );
    expect(documented.length).toBeGreaterThan(15);
    expect(found.map(({ check }) => check)).toEqual(expect.arrayContaining(documented));
  });

  it("with a hosted project prints a table that ends with the sum, and exits with 0", async () => {
    const { code, stdout } = await doctor(hosted);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/^ok +database +127\.0\.0\.1:\d+, the secret key is accepted$/m);
    expect(stdout).toMatch(/^0 failed, \d+ warnings, \d+ ok$/m);
    expect(stdout).not.toContain(setting("SUPABASE_SECRET_KEY"));
  });

  it("with --deep uses each vendor, and exits with 1 when one does not do what it should", async () => {
    const openAi = await startFakeOpenAI();
    const env = { ...hosted, OPENAI_BASE_URL: openAi.url, DEFAULT_MODEL: "fake-model" };
    const good = await doctor(env, "--deep");
    expect(good.code, good.stdout).toBe(0);
    expect(good.stdout).toMatch(/^ok +model tools +the model calls a tool and reads its result$/m);
    expect(good.stdout).toMatch(/^ok +sandbox command +a command runs$/m);
    openAi.script("", () => [{ text: "No." }]);
    const bad = await doctor(env, "--json", "--deep");
    await openAi.close();
    expect(bad.code).toBe(1);
    expect(findingsOf(bad)).toContainEqual(
      expect.objectContaining({ check: "model tools", status: "failed" }),
    );
  });

  it("exits with 1 and names the setting with its remedy when a check fails", async () => {
    const composio = await startFakeComposio();
    const env = { ...hosted, ...composio.env, COMPOSIO_API_KEY: "revoked-key-of-composio" };
    const { code, stdout } = await doctor(env);
    await composio.close();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed +connectors .*rejects the credentials/m);
    expect(stdout).toMatch(/^ +Set COMPOSIO_API_KEY to credentials that the service accepts/m);
    expect(stdout).not.toContain("revoked-key-of-composio");
  });

  it("names malformed settings, and those that have no effect, before it starts anything", async () => {
    const env = { PORT: "abc", DATA_DIR: "/dev/null/data", DATABASE_URL: "postgres://127.0.0.1/x" };
    const outcome = await doctor(env, "--json");
    expect(outcome.code).toBe(1);
    expect(findingsOf(outcome)).toMatchObject([
      { check: "settings", status: "failed", settings: ["PORT"] },
      { check: "settings", status: "warning", settings: ["DATABASE_URL", "SUPABASE_URL"] },
    ]);
  });

  it("names DATA_DIR when the embedded parts cannot start in it", async () => {
    const outcome = await doctor({ DATA_DIR: "/dev/null/data" }, "--json");
    expect(outcome.code).toBe(1);
    expect(findingsOf(outcome)).toMatchObject([{ status: "failed", settings: ["DATA_DIR"] }]);
  });

  it("of a package names DATA_DIR, and not the database, when the folder is no folder", async () => {
    const env = { DATA_DIR: "/dev/null/data", DATABASE_URL: setting("DATABASE_URL") };
    const outcome = await runPackaged(["doctor", "--json"], env);
    expect(outcome.code).toBe(1);
    expect(findingsOf(outcome).at(-1)).toMatchObject({
      check: "data",
      status: "failed",
      settings: ["DATA_DIR"],
    });
  });

  it("exits with 2 when it does not understand its arguments", async () => {
    for (const args of [["--xml"], ["--json", "--json"], ["--deep", "--json", "now"]]) {
      const { code, stderr } = await doctor({}, ...args);
      expect(code).toBe(2);
      expect(stderr).toContain("Usage: npm run doctor -- [--deep] [--json]");
    }
  });
});

describe("a server and its DATA_DIR", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "data-dir-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** It refuses before it connects to the database. */
  const servers = [
    ["npm run dev", (env: Record<string, string>) => run("dev", [], env)],
    [
      "bin/server",
      (env: Record<string, string>) =>
        runPackaged(["server"], { ...env, DATABASE_URL: "postgres://127.0.0.1:9/none" }),
    ],
  ] as const;

  it.each(servers)("%s says in one sentence that it cannot be written to", async (_, start) => {
    const file = join(folder, "file");
    await writeFile(file, "");
    for (const [dataDir, code] of [
      [file, "EEXIST"],
      [join(file, "data"), "ENOTDIR"],
    ]) {
      const outcome = await start({ DATA_DIR: dataDir ?? "" });
      expect(outcome.code).toBe(1);
      expect(outcome.stderr.trimEnd()).toBe(
        `DATA_DIR is ${dataDir}, which is not a folder that can be written to (${code}): ` +
          "set it to one that the user of the server may write to.",
      );
    }
  });

  it.each(servers)("%s refuses one that another server uses", async (_, start) => {
    const lock = await lockDataDir(folder);
    const outcome = await start({ DATA_DIR: folder });
    lock.release();
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain(
      `Another process (${process.pid}) is using the data in ${folder}`,
    );
  });
});
