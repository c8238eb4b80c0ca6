/** The Worlds of the Workflow SDK on which the turn suites run, and what each of them cannot do. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createWorld, setWorld } from "workflow/runtime";
import { Follower } from "../../../lib/engine/adapters/workflow/follower.ts";
import { projectRoot } from "../../../scripts/project-root.ts";

type Ability =
  /** Two processes serve one set of runs. */
  | "several processes"
  /** A process takes over the runs of one that died, without a restart. */
  | "takeover";

export interface World {
  /** As WORKFLOW_TARGET_WORLD names it. */
  readonly name: string;
  /** The reasons for the missing abilities. */
  readonly cannot: Partial<Readonly<Record<Ability, string>>>;
  /** Prepares a database and a folder, and resolves with the World's own settings. */
  prepare(databaseUrl: string, dataDir: string): Promise<Record<string, string>>;
}

export const worlds: readonly World[] = [
  {
    name: "local",
    cannot: {
      "several processes":
        "its queue is the memory of one process, and each start takes over every run of the folder",
      takeover: "only a start looks for runs to continue",
    },
    prepare: async (_databaseUrl, dataDir) => ({
      WORKFLOW_LOCAL_DATA_DIR: join(dataDir, "workflow"),
    }),
  },
  {
    name: "@workflow/world-postgres",
    cannot: {
      takeover: "a message stays locked by the process that died for four hours, or until a start",
    },
    async prepare(databaseUrl) {
      const env = {
        WORKFLOW_POSTGRES_URL: databaseUrl,
        // Each model call holds one of them.
        WORKFLOW_POSTGRES_WORKER_CONCURRENCY: "100",
      };
      const setup = join(projectRoot, "node_modules/@workflow/world-postgres/bin/setup.js");
      await promisify(execFile)(process.execPath, [setup], { env: { ...process.env, ...env } });
      return env;
    },
  },
];

/** Opens the World in the test's own process, for `readStream`. Returns a function that closes it. */
export function openWorld(env: Readonly<Record<string, string>>): () => Promise<void> {
  Object.assign(process.env, env);
  const opened = createWorld();
  setWorld(opened);
  return async () => {
    setWorld(undefined);
    await opened.close?.();
  };
}

/** Reads all chunks of a run whose stream has ended, as JSON texts. */
export async function readStream(runId: string): Promise<readonly string[]> {
  const follower = new Follower(runId, () => {});
  const leave = follower.use();
  while (!follower.ended) await follower.change();
  leave();
  return follower.order.chunks;
}
