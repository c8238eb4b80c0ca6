import { MAX_PATH_CHARS } from "@platform/endpoint/contract/fields";
import { cutOutput, MAX_OUTPUT_CHARS } from "@platform/sandbox/cut-output";
import { z } from "zod";

/** The field of a tool that names a file. */
export const filePath = z
  .string()
  .min(1)
  .max(MAX_PATH_CHARS)
  .describe("Absolute, or relative to the sandbox's home");

export { MAX_OUTPUT_CHARS, MAX_PATH_CHARS };
export const MAX_PATTERN_CHARS = 1_000;
export const COMMAND_DEADLINE_MS = 120_000;
export const MAX_SUBAGENT_STEPS = 30;

/** Cuts a text at `limit` characters, and returns whether it was longer. */
export function cut(text: string, limit = MAX_OUTPUT_CHARS): { text: string; truncated: boolean } {
  return { text: cutOutput(text, limit), truncated: text.length > limit };
}

/** Counts the lines of a text, including a last one without a line feed. */
export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x0a) lines++;
  return bytes.length === 0 || bytes.at(-1) === 0x0a ? lines : lines + 1;
}

/** Quotes any text as one shell word. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quotes a path. No command takes the result for an option. */
export function quotePath(path: string): string {
  return quoteForShell(path.startsWith("-") ? `./${path}` : path);
}
