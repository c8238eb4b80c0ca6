/** The conformance suite on the SDK's PostgreSQL World. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { projectRoot } from "../../../scripts/project-root.ts";
import { createDatabase } from "../../support/harness/engine-database.ts";
import { describeWorld } from "./conformance.ts";

const PACKAGE = join(projectRoot, "node_modules/@workflow/world-postgres");

describeWorld({
  name: "@workflow/world-postgres",
  prepare: async () => {
    const { url, drop } = await createDatabase();
    const env = { NODE_ENV: "production", WORKFLOW_POSTGRES_URL: url } as const;
    await promisify(execFile)(process.execPath, [join(PACKAGE, "bin/setup.js")], { env });
    return { env, remove: drop };
  },
  env: () => ({
    WORKFLOW_TARGET_WORLD: "@workflow/world-postgres",
    WORKFLOW_POSTGRES_WORKER_CONCURRENCY: "50",
  }),
  deviations: {},
  unsteady: {
    "50 replays in a row": "in two of three tries the run waited for minutes for its next replay",
  },
});
