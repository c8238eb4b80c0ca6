import { runProgram } from "./run-program.ts";

/** Format, lint and types, those of the tests' client from the API as it is now. */
export async function check(): Promise<number> {
  const generated = await runProgram(["scripts/generate-api-types.ts"]);
  const lint = await runProgram(["node_modules/@biomejs/biome/bin/biome", "check", "."]);
  const types = await runProgram(["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."]);
  return generated === 0 && lint === 0 && types === 0 ? 0 : 1;
}
