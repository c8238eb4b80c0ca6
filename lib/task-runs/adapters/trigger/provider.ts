/**
 * Starts tasks in a Trigger.dev project, and reads its runs. The list and the look-up of one run each
 * lack fields that the other has: only the list has the environment, only the look-up the payload and
 * the attempts. So each listed run is completed by a look-up. The environment belongs to the secret key,
 * is therefore the same for every run, and is remembered.
 *
 * The SDK drops fields that its own types lack, so runs are read from the raw answers.
 */

import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import { FairQueue } from "@platform/kit/fair-queue";
import { readRetryAfter } from "@platform/kit/outbound/fetch-json";
import { probeJson } from "@platform/kit/outbound/probe";
import { readJson, traceRequest } from "@platform/kit/outbound/vendor-fetch";
import type { TriggerClient } from "@trigger.dev/sdk";
import type { Logger } from "pino";
import { z } from "zod";
import { accountTag, artistTag, RUN_ID, type TaskRunner, taskRunNotFound } from "../../port.ts";
import { type TaskRun, taskRun } from "../../task-run.ts";

/** Bounds concurrent look-ups: a page of runs must not be a burst of a hundred requests. */
const MAX_CONCURRENT_LOOKUPS = 10;

const page = z.object({ data: z.array(z.unknown()) });
const packets = z.object({
  payloadPresignedUrl: z.string().optional(),
  outputPresignedUrl: z.string().optional(),
});

export function createTriggerTaskRunner(access: TriggerAccess): TaskRunner {
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

/** Without a range, Trigger.dev lists the runs of one week. */
const listRuns = async (sdk: TriggerClient, tag: string, limit: number): Promise<unknown> =>
  readJson(await sdk.runs.list({ tag, limit, from: FIRST_RUN }).asResponse());

/** Before any run, in milliseconds since 1970. */
const FIRST_RUN = Date.UTC(2020, 0, 1);

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

interface TriggerAccess {
  readonly secretKey: string;
  /** The origin: `https://api.trigger.dev`, or a self-hosted instance. */
  readonly apiUrl: string;
  /** Whether tasks are started there: they need a credential to call back with. */
  readonly startsTasks: boolean;
}

/** The state that the upstream requests of one call of the port share. */
interface Ask {
  readonly accountId: string;
  /** The deadline. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Calls that one process has outstanding, hung ones included. */
const MAX_CALLS = 32;
const MAX_WAITERS = 1_000;
/** The deadline of all upstream requests that one call of the port makes. */
const DEADLINE_MS = 10_000;

const taskRunnerUnavailable = appError("upstream_error", "Task runner unavailable");
const timedOut = appError("upstream_timeout", "Task runner did not answer in time");

/** The service reports that the object does not exist. */
const missing = Symbol("missing");

/** A response the SDK cannot parse, such as an unknown run status. */
class StrangeAnswer {
  readonly body: unknown;
  constructor(body: unknown) {
    this.body = body;
  }
}

type CallSdk = <T>(
  ask: Ask,
  method: "GET" | "POST",
  work: (sdk: TriggerClient) => Promise<T>,
) => Promise<T | StrangeAnswer | typeof missing | AppError>;

/**
 * Returns the function that calls `@trigger.dev/sdk`. A call cannot be cancelled: an unresponsive service
 * holds it for minutes. So each races a deadline, is made once, and keeps its slot until it ends, even if
 * its caller no longer waits. The SDK is loaded with the first call, because loading takes most of a
 * second and 60 MB of memory.
 * Errors of the returned function: 502; 504 when the deadline has passed. It never throws.
 */
function createSdkCaller({ secretKey, apiUrl }: TriggerAccess): CallSdk {
  const queue = new FairQueue({
    name: "task_runner_calls",
    slots: MAX_CALLS,
    waitersPerAccount: MAX_WAITERS,
    maxWaitMs: DEADLINE_MS,
  });
  let loading: Promise<TriggerClient> | undefined;
  async function load(): Promise<TriggerClient> {
    const sdk = await import("@trigger.dev/sdk");
    const requestOptions = { retry: { maxAttempts: 1 } };
    return new sdk.TriggerClient({ accessToken: secretKey, baseURL: apiUrl, requestOptions });
  }
  return async ({ accountId, signal, log }, method, work) => {
    loading ??= load();
    const late = Promise.withResolvers<AppError>();
    const expire = () => late.resolve(timedOut);
    signal.addEventListener("abort", expire, { once: true });
    try {
      const sdk = await loading;
      const release = await queue.acquire(accountId, signal);
      const call = attempt(method, () => work(sdk)).finally(release);
      return await Promise.race([call.then((outcome) => resultOf(outcome, log)), late.promise]);
    } catch (cause) {
      log.warn({ err: cause }, "Trigger.dev did not answer");
      return signal.aborted ? timedOut : taskRunnerUnavailable;
    } finally {
      signal.removeEventListener("abort", expire);
    }
  };
}

/** The errors of the SDK that come with an answer of the service. Their texts must not be shown. */
const refusal = z.object({
  status: z.int(),
  /** The service's own error; a 404 of anything else has none. */
  error: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional().catch(undefined),
  rawBody: z.unknown().optional(),
});
type Outcome<T> =
  | { readonly status: 200; readonly value: T | StrangeAnswer }
  | z.output<typeof refusal>;

/** @throws the connection's error */
const attempt = <T>(method: "GET" | "POST", work: () => Promise<T>): Promise<Outcome<T>> =>
  traceRequest<Outcome<T>>("trigger", method, async () => {
    try {
      return { status: 200, value: await work() };
    } catch (error) {
      const { data } = refusal.safeParse(error);
      if (!data) throw error;
      return data.status < 300 ? { status: 200, value: new StrangeAnswer(data.rawBody) } : data;
    }
  });

function resultOf<T>(outcome: Outcome<T>, log: Logger) {
  if ("value" in outcome) return outcome.value;
  const { status, error, headers } = outcome;
  if (status === 404 && error !== undefined) return missing;
  log.warn({ status }, "Trigger.dev answered with an error");
  const retryAfter = readRetryAfter(headers?.["retry-after"] ?? null);
  return retryAfter === null
    ? taskRunnerUnavailable
    : { ...taskRunnerUnavailable, headers: { "retry-after": retryAfter } };
}
