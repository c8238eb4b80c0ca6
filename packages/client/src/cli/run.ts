import { readFile } from "node:fs/promises";
import {
  amount,
  type Command,
  type Context,
  oneOf,
  required,
  take,
  text,
  texts,
} from "./command.ts";
import { textOf } from "./print-turn.ts";
import { UsageError } from "./usage-error.ts";

const OPTIONS = [
  "[--detach] [--model ID] [--fallback ID]... [--effort low|medium|high] [--schema FILE]",
  "[--max-cost USD] [--max-steps COUNT] [--max-duration SECONDS]",
].join(" ");
const CHAT = "/api/sessions/{sessionId}/chats/{chatId}";

export const run: Command = {
  usage: [`run ${OPTIONS} PROMPT`],
  about:
    "Answer one prompt in a session of its own, and print the answer when it is there: JSON that is valid under the JSON Schema in FILE, if there is one.",
  options: {
    detach: { type: "boolean" },
    model: { type: "string" },
    fallback: { type: "string", multiple: true },
    effort: { type: "string" },
    schema: { type: "string" },
    "max-cost": { type: "string" },
    "max-steps": { type: "string" },
    "max-duration": { type: "string" },
  },
  async run({ args, client, options, out, signal }) {
    const prompt = required(args.join(" "), "PROMPT");
    const model = text(options.model);
    const fallbacks = texts(options.fallback);
    const effort = oneOf(["low", "medium", "high"], options.effort, "--effort");
    const file = text(options.schema);
    const schema = file === undefined ? undefined : await readSchema(file);
    const limits = {
      max_cost_usd: amount(options["max-cost"], "--max-cost"),
      max_steps: amount(options["max-steps"], "--max-steps"),
      max_duration_s: amount(options["max-duration"], "--max-duration"),
    };
    const body = {
      prompt,
      ...(model === undefined ? {} : { model }),
      ...(fallbacks === undefined ? {} : { fallback_models: fallbacks }),
      ...(effort === undefined ? {} : { effort }),
      ...(schema === undefined ? {} : { output_schema: schema }),
      limits,
    };
    const started = await take(client.api.POST("/api/chat/runs", { body, signal }));
    out.progress(`Run ${started.runId}`);
    if (options.detach) {
      out.result(started, ({ runId }) => runId);
      return 0;
    }
    return printRun({ client, out, signal }, started.runId);
  },
};

/** @throws UsageError for a file that cannot be read, or has no JSON object */
async function readSchema(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new UsageError(`--schema: ${file} cannot be read`);
  });
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === "object" && schema !== null) return { ...schema };
  } catch {
    // It is refused below.
  }
  throw new UsageError(`--schema: ${file} has no JSON Schema`);
}

/**
 * Waits for a run, and prints its output or its answer, or the open calls of its client tools. Resolves to 1
 * unless the run has completed.
 */
export async function printRun(
  { client, out, signal }: Pick<Context, "client" | "out" | "signal">,
  runId: string,
): Promise<number> {
  let status = "";
  const ended = await client.waitForRun(runId, {
    signal,
    onState(state) {
      if (state.status !== status) out.progress(state.status);
      status = state.status;
    },
  });
  const { sessionId, chatId, output, required_action } = ended;
  if (required_action !== null) {
    out.result(ended, () =>
      required_action.tool_calls.map(
        ({ id, name, input }) => `${id}  ${name}  ${JSON.stringify(input)}`,
      ),
    );
    out.error(
      `The run waits for the results of its client tools: POST /api/chat/runs/${runId}/tool_results`,
    );
    return 1;
  }
  const path = { sessionId, chatId };
  const { messages } = await take(client.api.GET(CHAT, { params: { path }, signal }));
  const answer = messages.findLast(({ role }) => role === "assistant");
  // Null is an output, too, but not one that a person asks for.
  out.result({ ...ended, answer: answer ? textOf(answer) : null }, ({ answer }) =>
    output === null ? (answer ?? "") : JSON.stringify(output, null, 2),
  );
  if (ended.status === "completed") return 0;
  out.error(ended.error ?? `The run is ${ended.status}`);
  return 1;
}
