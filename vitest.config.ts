import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "") } },
  test: {
    include: ["tests/**/*.test.ts", "supabase/tests/**/*.test.ts"],
    exclude: process.env.SOAK === "1" ? [] : ["tests/**/*.soak.test.ts"],
    globalSetup: ["tests/global-setup.ts"],
    setupFiles: ["tests/support/harness/observe-answers.ts"],
    // No guarantee is one of time: these only end what hangs, on the slowest machine too.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // It ends with a search through all that was stored (tests/support/secrets).
    teardownTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    // Every worker drives the same server, and many tests wait for a deadline: more of them than this
    // only measure how long they wait.
    maxWorkers: 3,
  },
});
