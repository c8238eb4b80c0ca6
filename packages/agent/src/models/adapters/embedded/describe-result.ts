/** Describes a tool's result in words, as the embedded model reports it. */
import { z } from "zod";

const failure = z.object({ error: z.string() });
/** The lines before the output of a command that succeeded, sorted. */
const SUCCESS = 'exitCode: 0\nstderr: ""\ntruncated: false';
const written = z.object({ filePath: z.string(), bytes: z.number() });

/** @param label of the call, such as "running `ls`" */
export function describeResult(label: string, result: unknown): string {
  if (result === undefined) return `The result of ${label} is no longer in my context.`;
  const { data: failed } = failure.safeParse(result);
  const named = label.charAt(0).toUpperCase() + label.slice(1);
  if (failed && /^Stopped\b/.test(failed.error)) return `${named} was stopped.`;
  if (failed) return `${named} failed: ${failed.error}`;
  const { data: file } = written.safeParse(result);
  if (file) return `Wrote ${file.bytes} bytes to \`${file.filePath}\`.`;
  const [head = "", ...rest] = String(result).split("\nstdout:\n");
  const succeeded = head.split("\n").sort().join("\n") === SUCCESS;
  if (succeeded && rest.length) return `${named} printed:\n${quote(rest.join("\nstdout:\n"))}`;
  return `${named} gave:\n${quote(typeof result === "string" ? result : JSON.stringify(result, null, 2))}`;
}

/** Fences the text with more backticks than any run in it has. */
function quote(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
