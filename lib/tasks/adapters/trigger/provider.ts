/**
 * Reads the runs of a Trigger.dev project. Its list and its look-up of one run each lack fields that
 * the other has: only the list has the environment, only the look-up the payload and the attempts. So
 * each listed run is completed by a look-up. The environment belongs to the secret key, is therefore
 * the same for every run, and is remembered.
 */
import { z } from "zod";
import { type AppError, isAppError } from "../../../contract/app-error.ts";
import { probeJson } from "../../../platform/outbound/probe.ts";
import { accountTag, type TaskRunner, taskRunNotFound } from "../../port.ts";
import type { TaskRun } from "../../task-run.ts";
import {
  type Ask,
  getJson,
  getPacket,
  missing,
  type TriggerAccess,
  taskRunnerUnavailable,
} from "./api.ts";
import { readRun } from "./read-run.ts";

/** The deadline of all upstream requests that one call of the port makes. */
const DEADLINE_MS = 10_000;
/** Bounds concurrent look-ups, so that a page of runs is not a burst of a hundred requests. */
const MAX_CONCURRENT_LOOKUPS = 10;

const page = z.object({ data: z.array(z.unknown()) });
const packets = z.object({
  payloadPresignedUrl: z.string().optional(),
  outputPresignedUrl: z.string().optional(),
});
/** The format of a packet with values that JSON cannot represent. */
const typedPacket = z.object({ json: z.unknown(), meta: z.unknown() });

export function createTriggerTaskRunner(access: TriggerAccess): TaskRunner {
  let env: TaskRun["env"];

  async function listItems(
    accountId: string,
    limit: number,
    ask: Ask,
  ): Promise<TaskRun[] | AppError> {
    const query = new URLSearchParams({
      "page[size]": String(limit),
      "filter[tag]": accountTag(accountId),
    });
    const answer = await getJson(access, `/api/v1/runs?${query}`, ask);
    if (isAppError(answer)) return answer;
    const read = answer === missing ? undefined : page.safeParse(answer.value).data;
    if (!read) return taskRunnerUnavailable;
    const items = read.data.flatMap((raw) => readRun(raw) ?? []).filter(belongsTo(accountId));
    env ??= items.find((item) => item.env)?.env;
    return items;
  }

  async function lookUp(
    accountId: string,
    runId: string,
    packetNames: readonly ("payload" | "output")[],
    ask: Ask,
  ): Promise<TaskRun | AppError> {
    const answer = await getJson(access, `/api/v3/runs/${encodeURIComponent(runId)}`, ask);
    if (isAppError(answer)) return answer;
    if (answer === missing) return taskRunNotFound;
    const run = readRun(answer.value);
    if (!run) return taskRunnerUnavailable;
    // Checked before anything else can fail: a run of another account answers like a missing one.
    if (!belongsTo(accountId)(run)) return taskRunNotFound;
    const urls = packets.safeParse(answer.value).data ?? {};
    for (const name of packetNames) {
      const url = urls[`${name}PresignedUrl`];
      if (url === undefined) continue;
      const packet = await getPacket(url, ask);
      if (isAppError(packet)) return packet;
      const typed = typedPacket.safeParse(packet.value);
      run[name] = typed.success ? typed.data.json : packet.value;
    }
    return run;
  }

  /** Returns the run as listed when its look-up fails, so that one run does not fail the list. */
  async function complete(accountId: string, item: TaskRun, ask: Ask): Promise<TaskRun> {
    const found = await lookUp(accountId, item.id, ["payload"], ask);
    const { output: _, error: __, ...run } = isAppError(found) ? item : { ...item, ...found };
    return run;
  }

  return {
    name: "trigger",
    listQuery: () => null,
    async list(accountId, limit, log) {
      const ask = { signal: AbortSignal.timeout(DEADLINE_MS), log };
      const items = await listItems(accountId, limit, ask);
      if (isAppError(items)) return items;
      return mapConcurrently(MAX_CONCURRENT_LOOKUPS, items, (item) =>
        complete(accountId, item, ask),
      );
    },
    async find(accountId, runId, log) {
      const ask = { signal: AbortSignal.timeout(DEADLINE_MS), log };
      const [run] = await Promise.all([
        lookUp(accountId, runId, ["payload", "output"], ask),
        // Only for the environment, which the run can do without.
        env ? undefined : listItems(accountId, 1, ask),
      ]);
      return isAppError(run) || !env ? run : { ...run, env };
    },
    async check(deadline) {
      const url = new URL("/api/v1/runs?page[size]=1", access.apiUrl);
      const headers = { authorization: `Bearer ${access.secretKey}` };
      return [await probeJson(url, { vendor: "trigger", headers, deadline }, settings)];
    },
  };
}

const settings = { credentials: ["TRIGGER_SECRET_KEY"], address: ["TRIGGER_API_URL"] };

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
