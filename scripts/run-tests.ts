import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { ensureFreshBuild } from "./ensure-build.ts";
import { runProgram } from "./run-program.ts";

const reportSchema = z.object({ numPassedTests: z.number(), numFailedTests: z.number() });

/** Builds, runs the tests (`args` go to vitest) and ends with one line to read or to grep. */
export async function test(
  distDir: string,
  suite: "tests" | "soak",
  args: string[],
): Promise<number> {
  await ensureFreshBuild(distDir);
  const folder = mkdtempSync(join(tmpdir(), "vitest-report-"));
  const report = join(folder, "report.json");
  try {
    const code = await runProgram(
      [
        "node_modules/vitest/vitest.mjs",
        "run",
        // What is named in `args` narrows the soak tests; alone, the folder's name takes them all.
        ...(suite === "soak" && args.length === 0 ? [".soak.test.ts"] : []),
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${report}`,
        ...args,
      ],
      { ...process.env, NEXT_DIST_DIR: distDir, ...(suite === "soak" ? { SOAK: "1" } : {}) },
    );
    if (existsSync(report)) {
      const { numPassedTests, numFailedTests } = reportSchema.parse(
        JSON.parse(readFileSync(report, "utf8")),
      );
      console.log(`${numPassedTests} passed, ${numFailedTests} failed`);
    }
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
