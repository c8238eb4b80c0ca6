/** The conformance suite on the SDK's World of files. */
import { join } from "node:path";
import { describeWorld } from "./conformance.ts";

describeWorld({
  name: "@workflow/world-local",
  env: (folder) => ({
    WORKFLOW_TARGET_WORLD: "local",
    WORKFLOW_LOCAL_DATA_DIR: join(folder, "data"),
  }),
  deviations: {
    "50 replays in a row": "counts replays as deliveries, and fails the run after 48 of them",
  },
});
