import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { ensureFreshBuild } from "../scripts/ensure-build.ts";
import { freePort } from "../scripts/free-port.ts";
import { type RunningNext, runNext } from "../scripts/run-next.ts";
import { startParts } from "../scripts/start-parts.ts";
import { startModelRouter } from "./support/fakes/model-router.ts";
import { PROFILES } from "./support/fakes/strict-rules.ts";
import { copyDataDir, keptTemplate } from "./support/harness/database-template.ts";
import { type OpenApi, openApi } from "./support/harness/open-api.ts";
import { priced } from "./support/harness/priced.ts";
import { noteSettings } from "./support/secrets/known.ts";
import { StorageSearch } from "./support/secrets/search-storage.ts";

const SOURCE_SERVER = [
  "--import",
  new URL("resolve-app.mjs", import.meta.url).href,
  "tests/support/harness/source-server.ts",
];

/** The values that every test file receives by `inject("stack")`. */
export type Stack = {
  /** Origin of the server that all tests share. */
  url: string;
  /** The environment of that server, for more servers on the same database. */
  env: Record<string, string>;
  distDir: string;
  /** Runs servers from their sources, which have no pages. Undefined for servers of the build. */
  program: readonly string[] | undefined;
  /** A data directory with a migrated, empty database, for `copyTemplate`. */
  template: string;
  /** Where the run keeps the secrets that it knows and what its servers logged. */
  records: string;
};

declare module "vitest" {
  export interface ProvidedContext {
    stack: Stack;
    /** The OpenAPI document of the shared server. */
    published: OpenApi;
    /** Origin of the router of scripted models, which returns the address of their server. */
    models: string;
  }
}

/**
 * One embedded Supabase in a new directory and one server on it, for all files; and servers with scripted
 * models for the files that ask for them. They run from the build, or from the sources if only quick tests run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const distDir = process.env.NEXT_DIST_DIR || ".next";
  const program = process.env.QUICK === "1" ? SOURCE_SERVER : undefined;
  const records = await mkdtemp(join(tmpdir(), "agent-platform-records-"));
  await mkdir(join(records, "logs"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startDatabase = async () => {
    const template = await keptTemplate();
    const dataDir = copyDataDir(template);
    return { template, dataDir, parts: await startParts({ dataDir, publicUrl: url, given: {} }) };
  };
  // The build leaves a processor idle at times.
  const [{ template, dataDir, parts }] = await Promise.all([
    startDatabase(),
    program ? undefined : ensureFreshBuild(distDir),
  ]);
  // Simulates a proxy in front, which lets a test use a separate client address. All other requests
  // share this machine's address; the tests of its limits set lower ones.
  const proxied = {
    TRUSTED_PROXIES: "1",
    ADDRESS_RATE_LIMIT: "1000000",
    ANONYMOUS_RATE_LIMIT: "1000000",
    SIGNUP_RATE_LIMIT: "1000000",
  };
  const env = {
    ...parts.env,
    ...proxied,
    DATA_DIR: dataDir,
    CHECK_RESPONSES: "true",
    LOG_LEVEL: "warn",
    // The endpoints of tests are on this machine.
    LOOPBACK_URLS: "webhooks,mcp,skills",
    CRON_SECRET: randomUUID(),
    // Tests fire due prompts themselves, and check data that the retention job would delete; the
    // tests of that job call it. Most turns run no command, and a sandbox process would take as
    // much processor time as the rest of such a test.
    TEST_CONSTANTS:
      '{"RETENTION_INTERVAL_SECONDS":0,"TASK_INTERVAL_SECONDS":0,"SANDBOXES_START_AHEAD":0}',
  };
  const start = (port: number, more: Record<string, string> = {}) =>
    runNext({
      mode: "start",
      port,
      distDir,
      program,
      env: { ...env, PUBLIC_URL: `http://127.0.0.1:${port}`, ...more },
      output: "collect",
    });
  const server = await start(port).catch(async (error: unknown) => {
    await parts.stop();
    throw error;
  });
  const scripted: RunningNext[] = [];
  const models = await startModelRouter(async (name, modelUrl) => {
    const profiles = { MODELS: PROFILES.map((profile) => `fake-${profile}`).join(",") };
    const more = {
      OPENAI_BASE_URL: modelUrl,
      ...(name === "priced" && priced),
      ...(name === "profiles" && profiles),
    };
    const joined = await start(await freePort(), more);
    scripted.push(joined);
    return joined;
  });

  noteSettings(records, env);
  project.provide("stack", { url, env, distDir, program, template, records });
  project.provide("published", await readOpenApi(url));
  project.provide("models", models.origin);
  return async () => {
    await models.close();
    await Promise.all([server, ...scripted].map((one) => one.stop()));
    if (project.vitest.state.getCountOfFailedTests() > 0) showErrors(server, ...scripted);
    const search = new StorageSearch(records);
    const traces = [
      ...search.log("log of the shared server", server.logs()),
      ...scripted.flatMap((one) => search.log("log of a server with scripted models", one.logs())),
      ...(await search.folder(join(records, "logs"))),
      ...(await search.database(parts.env.DATABASE_URL ?? "")),
    ];
    await parts.stop();
    traces.push(...(await search.folder(dataDir, template)));
    await rm(dataDir, { recursive: true, force: true });
    await rm(records, { recursive: true, force: true });
    if (traces.length === 0) return;
    throw new Error(`Secrets of the tests were left behind:\n  ${traces.join("\n  ")}`);
  };
}

const readOpenApi = async (url: string): Promise<OpenApi> =>
  openApi.parse(await (await fetch(`${url}/api/openapi.json`)).json());

/** Prints the errors that shared servers have logged, which may say why a test failed. */
function showErrors(...shared: readonly RunningNext[]): void {
  const lines = shared.flatMap((server) => server.logs().split("\n"));
  const errors = lines.filter((line) => line.startsWith('{"level":50')).slice(-100);
  console.error(`Errors of the shared servers, of which tests expect some:\n${errors.join("\n")}`);
}
