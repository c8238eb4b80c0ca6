import { runProgram } from "./run-program.ts";

/**
 * `npm run check`: format, lint, import directions, budgets, unused code, conventions and types. Every check
 * runs even if an earlier one fails. The types of the tests' client
 * and of SQL functions and the documents that are made from the code are generated first.
 */
export async function check(): Promise<number> {
  const codes = [
    await runProgram(["scripts/generate-registry.ts"]),
    await runProgram(["scripts/generate-api-types.ts"]),
    await runProgram(["scripts/generate-docs.ts"]),
    await runProgram(["scripts/generate-functions.ts"]),
    await runProgram(["node_modules/@biomejs/biome/bin/biome", "check", "."]),
    await runProgram(["scripts/check-imports.ts"]),
    await runProgram(["node_modules/knip/bin/knip.js", "--no-progress"]),
    await runProgram(["scripts/check-conventions.ts"]),
    await runProgram(["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."]),
    await runProgram(["node_modules/typescript/bin/tsc", "--noEmit", "-p", "bench"]),
  ];
  return codes.every((code) => code === 0) ? 0 : 1;
}
