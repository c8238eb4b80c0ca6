/** The conformance suite on the World of this project, from the archive that npm would publish. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createEngineDatabase } from "../../support/harness/engine-database.ts";
import { installPacked } from "../../support/harness/packed-client.ts";
import { describeWorld } from "./conformance.ts";

describeWorld({
  name: "agent-platform-world-postgres",
  prepare: async () => {
    const { home, remove } = await installPacked("world-postgres");
    const database = await createEngineDatabase(await readFile(join(home, "schema.sql"), "utf8"));
    return {
      env: { DATABASE_URL: database.url, WORKFLOW_TARGET_WORLD: join(home, "dist/index.js") },
      async remove() {
        await database.drop();
        await remove();
      },
    };
  },
  env: () => ({}),
  deviations: {},
});
