import { runProgram } from "./run-program.ts";

/**
 * Format, lint, the direction of imports, unused code, conventions and types. All of them run, so
 * that one call shows everything there is to fix. The types include those of the tests' client,
 * generated from the API as it is now.
 */
export async function check(): Promise<number> {
  const codes = [
    await runProgram(["scripts/generate-api-types.ts"]),
    await runProgram(["node_modules/@biomejs/biome/bin/biome", "check", "."]),
    await runProgram([
      "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs",
      "--config=.dependency-cruiser.cjs",
      ...["app", "lib", "scripts"],
    ]),
    await runProgram(["node_modules/knip/bin/knip.js", "--no-progress"]),
    await runProgram(["scripts/check-conventions.ts"]),
    await runProgram(["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."]),
  ];
  return codes.every((code) => code === 0) ? 0 : 1;
}
