/** Reads the runs that this service executes itself from its database. */
import { type TaskRunner, taskRunNotFound } from "../port.ts";
import { runsQuery, selectArtistRuns, selectRun } from "../store.ts";

/** @throws DatabaseUnavailable from `list` and `find` */
export function createEmbeddedTaskRunner(): TaskRunner {
  return {
    name: "embedded",
    listQuery: runsQuery,
    list: ({ accountId, limit, artistId }, _log, read) =>
      artistId === undefined
        ? read(runsQuery(limit))
        : selectArtistRuns(accountId, artistId, limit),
    find: async (accountId, runId) => (await selectRun(accountId, runId)) ?? taskRunNotFound,
  };
}
