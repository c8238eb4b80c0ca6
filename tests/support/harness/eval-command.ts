/** The command `eval` of the client, in this process. */
import type { Context } from "../../../packages/client/src/cli/command.ts";
import { evaluate } from "../../../packages/client/src/cli/eval/eval.ts";
import { createClient } from "../../../packages/client/src/create-client.ts";

/** Runs the command, and returns its exit code, its result and its output. */
export async function runEval(
  settings: { readonly baseUrl: string; readonly apiKey: string },
  args: readonly string[],
  options: Context["options"] = {},
  signal = new AbortController().signal,
) {
  const printed: string[] = [];
  const results: unknown[] = [];
  const code = await evaluate.run({
    ...{ client: createClient(settings), settings, env: {}, args, options, signal },
    out: {
      ...{ isJson: false, text() {}, event() {}, progress() {} },
      result(value, describe) {
        results.push(value);
        printed.push(...[describe(value)].flat());
      },
      error: (line) => void printed.push(line),
    },
  });
  return { code, result: Object(results[0]), printed };
}
