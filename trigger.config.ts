/** Read by the command line of Trigger.dev: `npx trigger.dev@4.8.3 deploy`. */
import { defineConfig } from "@trigger.dev/sdk";

export default defineConfig({
  project: process.env.TRIGGER_PROJECT_REF ?? "",
  dirs: ["./trigger-dev"],
  runtime: "node-22",
  /** Seconds of computing; a task that waits uses none. */
  maxDuration: 300,
});
