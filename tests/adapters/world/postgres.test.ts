/** The conformance suite on the World of this project. */
import { join } from "node:path";
import { projectRoot } from "../../../scripts/project-root.ts";
import { createEngineDatabase } from "../../support/harness/engine-database.ts";
import { describeWorld } from "./conformance.ts";

describeWorld({
  name: "this project's PostgreSQL World",
  prepare: async () => {
    const { url, drop } = await createEngineDatabase();
    return { env: { DATABASE_URL: url }, remove: drop };
  },
  env: () => ({ WORKFLOW_TARGET_WORLD: join(projectRoot, "scripts/workflow-world.ts") }),
  deviations: {},
});
