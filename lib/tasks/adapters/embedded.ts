/** Reads the runs that this service executes itself from its database. */
import { type TaskRunner, taskRunNotFound } from "../port.ts";
import { selectArtistRuns, selectRun, selectRuns } from "../store.ts";

/** @throws DatabaseUnavailable from `list` and `find` */
export function createEmbeddedTaskRunner(): TaskRunner {
  return {
    name: "embedded",
    list: ({ accountId, limit, artistId }) =>
      artistId === undefined
        ? selectRuns(accountId, limit)
        : selectArtistRuns(accountId, artistId, limit),
    find: async (accountId, runId) => (await selectRun(accountId, runId)) ?? taskRunNotFound,
  };
}
