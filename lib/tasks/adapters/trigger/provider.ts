/**
 * Starts tasks in a Trigger.dev project, and reads its runs. The list and the look-up of one run each
 * lack fields that the other has: only the list has the environment, only the look-up the payload and
 * the attempts. So each listed run is completed by a look-up. The environment belongs to the secret key,
 * is therefore the same for every run, and is remembered.
 *
 * The SDK drops fields that its own types lack, so runs are read from the raw answers.
 */
import type { TriggerClient } from "@trigger.dev/sdk";
import { z } from "zod";
import { type AppError, isAppError } from "../../../contract/app-error.ts";
import { probeJson } from "../../../platform/outbound/probe.ts";
import { readJson } from "../../../platform/outbound/vendor-fetch.ts";
import { accountTag, artistTag, RUN_ID, type TaskRunner, taskRunNotFound } from "../../port.ts";
import { type TaskRun, taskRun } from "../../task-run.ts";
import {
  type Ask,
  createSdkCaller,
  DEADLINE_MS,
  missing,
  StrangeAnswer,
  type TriggerAccess,
  taskRunnerUnavailable,
} from "./call-sdk.ts";

/** Bounds concurrent look-ups: a page of runs must not be a burst of a hundred requests. */
const MAX_CONCURRENT_LOOKUPS = 10;

const page = z.object({ data: z.array(z.unknown()) });
const packets = z.object({
  payloadPresignedUrl: z.string().optional(),
  outputPresignedUrl: z.string().optional(),
});

export function createTriggerTaskRunner(
  access: TriggerAccess & {
    /** Whether tasks are started there: they need a credential to call back with. */
    readonly startsTasks: boolean;
  },
): TaskRunner {
  const callSdk = createSdkCaller(access);
  const ask = (accountId: string, log: Ask["log"]): Ask => ({
    accountId,
    signal: AbortSignal.timeout(DEADLINE_MS),
    log,
  });
  let env: TaskRun["env"];

  async function listItems(
    ask: Ask,
    limit: number,
    tag = accountTag(ask.accountId),
  ): Promise<TaskRun[] | AppError> {
    const { accountId } = ask;
    const answer = await callSdk(ask, "GET", (sdk) => listRuns(sdk, tag, limit));
    if (isAppError(answer)) return answer;
    const body = answer instanceof StrangeAnswer ? answer.body : answer;
    const read = answer === missing ? undefined : page.safeParse(body).data;
    if (!read) return taskRunnerUnavailable;
    const items = read.data.flatMap((raw) => readRun(raw) ?? []).filter(belongsTo(accountId));
    env ??= items.find((item) => item.env)?.env;
    return items;
  }

  async function lookUp(runId: string, ask: Ask): Promise<TaskRun | AppError> {
    const answer = await callSdk(ask, "GET", (sdk) => retrieveRun(sdk, runId));
    if (isAppError(answer)) return answer;
    if (answer === missing) return taskRunNotFound;
    const isStrange = answer instanceof StrangeAnswer;
    const run = readRun(isStrange ? answer.body : answer.raw);
    if (!run) return taskRunnerUnavailable;
    // Checked before anything else can fail: a run of another account answers like a missing one.
    if (!belongsTo(ask.accountId)(run)) return taskRunNotFound;
    if (isStrange) return run;
    // The SDK fetches values that are stored apart from their run, and leaves out those it cannot fetch.
    const urls = packets.safeParse(answer.raw).data ?? {};
    for (const name of ["payload", "output"] as const) {
      if (urls[`${name}PresignedUrl`] === undefined) continue;
      if (answer.data[name] === undefined) return taskRunnerUnavailable;
      run[name] = answer.data[name];
    }
    return run;
  }

  /** Returns the run as listed when its look-up fails: one run must not fail the list. */
  async function complete(item: TaskRun, ask: Ask): Promise<TaskRun> {
    const found = RUN_ID.test(item.id) ? await lookUp(item.id, ask) : taskRunNotFound;
    const { output: _, error: __, ...run } = isAppError(found) ? item : { ...item, ...found };
    return run;
  }

  return {
    name: "trigger",
    async list({ accountId, limit, artistId }, log) {
      const asked = ask(accountId, log);
      const tag = artistId === undefined ? undefined : artistTag(artistId);
      const items = await listItems(asked, limit, tag);
      if (isAppError(items)) return items;
      return mapConcurrently(MAX_CONCURRENT_LOOKUPS, items, (item) => complete(item, asked));
    },
    async find(accountId, runId, log) {
      const asked = ask(accountId, log);
      const [run] = await Promise.all([
        lookUp(runId, asked),
        // Only for the environment, which the run can do without.
        env ? undefined : listItems(asked, 1),
      ]);
      return isAppError(run) || !env ? run : { ...run, env };
    },
    ...(access.startsTasks && {
      async start({ accountId, taskIdentifier, taskRunId }, log) {
        const options = {
          idempotencyKey: taskRunId,
          tags: [accountTag(accountId)],
          metadata: { taskRunId },
        };
        const answer = await callSdk(ask(accountId, log), "POST", (sdk) =>
          sdk.tasks.trigger(taskIdentifier, { taskRunId }, options),
        );
        if (isAppError(answer)) return answer;
        const { data } = handle.safeParse(answer);
        return data ? data.id : taskRunnerUnavailable;
      },
    }),
    async check(deadline) {
      const url = new URL("/api/v1/runs?page[size]=1", access.apiUrl);
      const headers = { authorization: `Bearer ${access.secretKey}` };
      return [await probeJson(url, { vendor: "trigger", headers, deadline }, settings)];
    },
  };
}

const settings = { credentials: ["TRIGGER_SECRET_KEY"], address: ["TRIGGER_API_URL"] };

const handle = z.object({ id: z.string().regex(RUN_ID) });

const listRuns = async (sdk: TriggerClient, tag: string, limit: number): Promise<unknown> =>
  readJson(await sdk.runs.list({ tag, limit }).asResponse());

/** @param runId a `RUN_ID`, because the SDK puts it into the path as it is */
async function retrieveRun(sdk: TriggerClient, runId: string) {
  const { data, response } = await sdk.runs.retrieve(runId).withResponse();
  return { data: { payload: data.payload, output: data.output }, raw: await readJson(response) };
}

/** Checked here as well: the filter of the request alone is not trusted with the tenant. */
const belongsTo = (accountId: string) => (run: TaskRun) => run.tags.includes(accountTag(accountId));

async function mapConcurrently<A, B>(
  limit: number,
  items: readonly A[],
  change: (item: A) => Promise<B>,
): Promise<B[]> {
  const results: B[] = [];
  const entries = items.entries();
  const work = async () => {
    for (const [index, item] of entries) results[index] = await change(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
  return results;
}

const fields: Readonly<Record<string, z.ZodType>> = taskRun.shape;
const object = z.record(z.string(), z.unknown());

/**
 * Reads a run as Trigger.dev sends it. Invalid and unknown fields are left out. Returns undefined only
 * when a required field is missing: the id, the status, the tags, the task or a timestamp.
 */
function readRun(raw: unknown): TaskRun | undefined {
  const given = object.safeParse(raw).data ?? {};
  const valid = Object.entries(given).filter(
    ([name, value]) => fields[name]?.safeParse(value).success,
  );
  return taskRun.safeParse(Object.fromEntries(valid)).data;
}
