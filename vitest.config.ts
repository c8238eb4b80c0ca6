import { defineConfig } from "vitest/config";
import { LongestFirst, quickFiles } from "./tests/test-files.ts";

const TESTS = "{tests,supabase/tests,packages/*/tests}/**/*.test.ts";
const isQuick = process.env.QUICK === "1";

/** Vitest starts the servers only if it runs a file that needs them. */
const withServer = {
  globalSetup: ["tests/global-setup.ts"],
  setupFiles: ["tests/support/harness/each-file.ts"],
  // A process runs many files: the modules that tests share take longer to load than most files to run.
  isolate: false,
};

const quickProjects = () => [
  { extends: true as const, test: { name: "functions", include: quickFiles("functions") } },
  { extends: true as const, test: { name: "api", include: quickFiles("api"), ...withServer } },
];

export default defineConfig({
  test: {
    exclude: process.env.SOAK === "1" ? [] : ["**/*.soak.test.ts"],
    ...(isQuick ? { projects: quickProjects() } : { include: [TESTS], ...withServer }),
    // No guarantee is one of time: these only end what hangs, on the slowest machine too.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // It ends with a search through all that was stored (tests/support/secrets).
    teardownTimeout: 300_000,
    // On a machine that others share, one test in thousands meets a pause that it was not made for. What
    // passes only the second time is named at the end (scripts/run-tests.ts).
    retry: process.env.CI ? 1 : 0,
    expect: { poll: { timeout: 60_000, interval: 100 } },
    pool: "forks",
    // Node strips the types itself and caches the compiled modules for the next file.
    experimental: { viteModuleRunner: false },
    execArgv: [
      ...["--import", new URL("tests/resolve-app.mjs", import.meta.url).href],
      // A process that runs many files keeps most of what it allocates, so marking it early finds little.
      ...["--initial-old-space-size=1024", "--min-semi-space-size=32"],
    ],
    // More than two processors can run, because many tests wait for a deadline. Every worker drives
    // the same server: still more of them only measure how long they wait.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
  },
});
