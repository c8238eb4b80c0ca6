import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { RUN_ID, type TaskRunner } from "../port.ts";
import type { TaskRun } from "../task-run.ts";

/**
 * Presents the runs of two task runners as one list. A task of this service has a run in both: its own
 * has the id, the state and the result, and the remote one has the data that only that service knows,
 * such as attempts and costs. A list needs both runners, because a list that silently lacks half of the
 * runs would be wrong; a run that is found in `own` does without `remote` when that fails. Errors: as
 * `remote`.
 */
export function createJoinedTaskRunner(remote: TaskRunner, own: TaskRunner): TaskRunner {
  return {
    name: remote.name,
    ...(remote.start && { start: remote.start }),
    ...(remote.check && { check: remote.check }),
    async list(page, log): Promise<TaskRun[] | AppError> {
      const [ownRuns, remoteRuns] = await Promise.all([
        own.list(page, log),
        remote.list(page, log),
      ]);
      if (isAppError(ownRuns)) return ownRuns;
      if (isAppError(remoteRuns)) return remoteRuns;
      const byId = new Map(remoteRuns.map((run) => [run.id, run]));
      const joined = ownRuns.map((run) => join(run, byId.get(remoteIdOf(run) ?? "")));
      const others = remoteRuns.filter((run) => !isTwin(run));
      return [...joined, ...others].sort(newestFirst).slice(0, page.limit);
    },
    async find(accountId, runId, log) {
      const run = await own.find(accountId, runId, log);
      const isMissing = isAppError(run) && run.code === "not_found";
      if (isMissing) return remote.find(accountId, runId, log);
      const remoteId = isAppError(run) ? undefined : remoteIdOf(run);
      if (isAppError(run) || remoteId === undefined) return run;
      const twin = await remote.find(accountId, remoteId, log);
      return isAppError(twin) ? run : join(run, twin);
    },
  };
}

/** The id of the remote run, as `recordRemoteRun` has noted it. */
function remoteIdOf({ metadata }: TaskRun): string | undefined {
  const id = metadata?.triggerRunId;
  return typeof id === "string" && RUN_ID.test(id) ? id : undefined;
}

/** Whether a remote run is of a task of this service, and shown as part of that one's own run. */
const isTwin = ({ taskIdentifier, metadata }: TaskRun): boolean =>
  /^(scheduled-prompt|generate-(image|video))$/.test(taskIdentifier) &&
  RUN_ID.test(String(metadata?.taskRunId));

function join(own: TaskRun, remote: TaskRun | undefined): TaskRun {
  if (!remote) return own;
  const { version, isTest, env, ttl, costInCents, baseCostInCents, depth } = remote;
  const { batchId, triggerFunction, attempts, relatedRuns } = remote;
  const tags = [...new Set([...own.tags, ...remote.tags])];
  const known = {
    ...{ version, isTest, env, ttl, costInCents, baseCostInCents, depth },
    ...{ batchId, triggerFunction, attempts, relatedRuns, tags },
  };
  const present = Object.entries(known).filter(([, value]) => value !== undefined);
  return { ...own, ...Object.fromEntries(present) };
}

/** Compares instants rather than text, because two runners may write different precisions. */
const newestFirst = (one: TaskRun, other: TaskRun): number =>
  Date.parse(other.createdAt) - Date.parse(one.createdAt);
