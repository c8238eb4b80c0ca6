import { runProgram } from "./run-program.ts";

/** Format, lint and types. */
export async function check(): Promise<number> {
  const lint = await runProgram(["node_modules/@biomejs/biome/bin/biome", "check", "."]);
  const types = await runProgram(["node_modules/typescript/bin/tsc", "--noEmit", "-p", "."]);
  return lint === 0 && types === 0 ? 0 : 1;
}
