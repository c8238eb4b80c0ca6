/** The parts of a server in the process of a test, on a separate database and scripted model. No queue runs its turns. */
import { randomUUID } from "node:crypto";
import { log } from "@platform/kit/log";
import postgres from "postgres";
import { setWorld } from "workflow/runtime";
import { startApp } from "../../../lib/app.ts";
import type { Caller } from "../../../lib/identity/credentials/caller.ts";
import { config } from "../../../lib/platform/config.ts";
import { type RunRequest, startRun } from "../../../lib/turns/start-run.ts";
import { startFakeOpenAI } from "../fakes/openai.ts";
import { stack, startOwnParts } from "./stack.ts";

export type TestApp = Awaited<ReturnType<typeof createTestApp>>;

export async function createTestApp() {
  const parts = await startOwnParts();
  const model = await startFakeOpenAI();
  const own = { OPENAI_BASE_URL: model.url, SELF_ORIGIN: stack.url, LOG_LEVEL: "silent" };
  Object.assign(process.env, stack.env, parts.env, own);
  const app = await startApp(config());
  const { engine } = app;
  await engine.start();
  // A run of a workflow that does not exist: it belongs to this process, and the test takes its steps.
  const create = engine.startWorkflow.bind(engine);
  const runs = new Map<unknown, string>();
  engine.startWorkflow = async (_, input) => {
    const runId = await create("workflow//./tests//none", input);
    runs.set(Object(input).turnId, runId);
    return runId;
  };
  const sql = postgres(parts.env.DATABASE_URL ?? "", { max: 2, onnotice: () => {} });
  return {
    app,
    model,
    sql,
    /** The runs that were started, by the ids of their turns. */
    runs: runs as ReadonlyMap<unknown, string>,
    async createCaller(): Promise<Caller> {
      const id = randomUUID();
      await sql`insert into accounts (id, kind, email)
        values (${id}, 'personal', ${`${id}@example.com`})`;
      return { accountId: id, ownerId: id, credential: { kind: "schedule" } };
    },
    /** Starts a headless run, and returns the address of its turn. */
    async startRun(caller: Caller, request: Pick<RunRequest, "given" | "client_tools">) {
      const run = await startRun(app, { caller, effectId: randomUUID(), log: log(), ...request });
      if (!("runId" in run)) throw new Error(run.message);
      const [turn] = await sql`select id from turns where run_id = ${run.runId}`;
      return { ...run, turnId: String(turn?.id) };
    },
    async stop() {
      await engine.drain(AbortSignal.abort());
      setWorld(undefined);
      await model.close();
      await sql.end();
      await parts.stop();
    },
  };
}
