import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { projectRoot } from "./project-root.ts";
import { runProgram } from "./run-program.ts";
import { removeStaleBuilds } from "./stale-builds.ts";

const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(
        z.object({
          status: z.string(),
          fullName: z.string(),
          failureMessages: z.array(z.string()),
        }),
      ),
    }),
  ),
});

/** Set for `vitest.config.ts`. */
const SUITE_ENV = { tests: {}, quick: { QUICK: "1" }, soak: { SOAK: "1" } };

/**
 * Runs the tests, which build the application unless no test needs a server (`tests/global-setup.ts`), and prints the
 * number of passed and failed ones, and which passed only when they were repeated.
 *
 * @param args are passed on to vitest
 */
export async function test(
  distDir: string,
  suite: "tests" | "quick" | "soak",
  args: string[],
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "vitest-report-"));
  const report = join(folder, "report.json");
  // Of a run that was killed.
  removeStaleBuilds(projectRoot);
  try {
    const code = await runProgram(
      [
        // It keeps the reports of thousands of tests, so marking it early finds little.
        "--initial-old-space-size=512",
        "--min-semi-space-size=16",
        "node_modules/vitest/vitest.mjs",
        "run",
        // Arguments select soak tests; without any, all of them run.
        ...(suite === "soak" && args.length === 0 ? [".soak.test.ts"] : []),
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${report}`,
        ...args,
      ],
      { ...process.env, NEXT_DIST_DIR: distDir, ...SUITE_ENV[suite] },
    );
    if (existsSync(report)) {
      const { numPassedTests, numFailedTests, testResults } = reportSchema.parse(
        JSON.parse(readFileSync(report, "utf8")),
      );
      for (const { name, status, assertionResults } of testResults) {
        const failsOutside = !assertionResults.some(({ status }) => status === "failed");
        if (status === "failed" && failsOutside) {
          console.log(`FAILED: ${name}: outside of its tests (see "Failed Suites" above)\n`);
        }
        for (const { status, fullName, failureMessages } of assertionResults) {
          if (failureMessages.length === 0) continue;
          const word = status === "passed" ? "UNSTEADY" : "FAILED";
          console.log(`${word}: ${name} > ${fullName}\n${failureMessages.join("\n")}\n`);
        }
      }
      console.log(`${numPassedTests} passed, ${numFailedTests} failed`);
    }
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    removeStaleBuilds(projectRoot);
  }
}
