/**
 * The runs of a Trigger.dev project. Its list and its single look-up each lack what the other has:
 * the list knows the environment, and only the look-up what a run was given and how it went. So a
 * listed run is completed by its look-up; the environment is that of the secret key, hence the same
 * for every run, and remembered.
 */
import { z } from "zod";
import { type AppError, isAppError } from "../../../contract/app-error.ts";
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

/** Milliseconds for all that one request of ours asks. */
const DEADLINE = 10_000;
/** Look-ups at once: a page of runs must not be a burst of a hundred requests. */
const LOOKUPS = 10;

const page = z.object({ data: z.array(z.unknown()) });
const packets = z.object({
  payloadPresignedUrl: z.string().optional(),
  outputPresignedUrl: z.string().optional(),
});
/** How a packet is stored whose values are more than JSON has. */
const typedPacket = z.object({ json: z.unknown(), meta: z.unknown() });

export function createTriggerRunner(access: TriggerAccess): TaskRunner {
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
    // Before anything else can go wrong with it: a foreign run answers as a missing one.
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

  /** As it was listed when the look-up fails: one run's trouble is not the list's. */
  async function complete(accountId: string, item: TaskRun, ask: Ask): Promise<TaskRun> {
    const found = await lookUp(accountId, item.id, ["payload"], ask);
    const { output: _, error: __, ...run } = isAppError(found) ? item : { ...item, ...found };
    return run;
  }

  return {
    name: "trigger",
    listQuery: () => null,
    async list(accountId, limit, log) {
      const ask = { signal: AbortSignal.timeout(DEADLINE), log };
      const items = await listItems(accountId, limit, ask);
      if (isAppError(items)) return items;
      return mapAtOnce(LOOKUPS, items, (item) => complete(accountId, item, ask));
    },
    async find(accountId, runId, log) {
      const ask = { signal: AbortSignal.timeout(DEADLINE), log };
      const [run] = await Promise.all([
        lookUp(accountId, runId, ["payload", "output"], ask),
        // Only for the environment; without it the run is still the run.
        env ? undefined : listItems(accountId, 1, ask),
      ]);
      return isAppError(run) || !env ? run : { ...run, env };
    },
  };
}

/** Never left to the filter of a request alone. */
const belongsTo = (accountId: string) => (run: TaskRun) => run.tags.includes(accountTag(accountId));

async function mapAtOnce<A, B>(
  count: number,
  items: readonly A[],
  change: (item: A) => Promise<B>,
): Promise<B[]> {
  const results: B[] = [];
  const entries = items.entries();
  const work = async () => {
    for (const [index, item] of entries) results[index] = await change(item);
  };
  await Promise.all(Array.from({ length: count }, work));
  return results;
}
