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

const OPTIONS = [
  "[--detach] [--model ID] [--fallback ID]... [--effort low|medium|high]",
  "[--max-cost USD] [--max-steps COUNT] [--max-duration SECONDS]",
].join(" ");
const CHAT = "/api/sessions/{sessionId}/chats/{chatId}";

export const run: Command = {
  usage: [`run ${OPTIONS} PROMPT`],
  about: "Answer one prompt in a session of its own, and print the answer when it is there.",
  options: {
    detach: { type: "boolean" },
    model: { type: "string" },
    fallback: { type: "string", multiple: true },
    effort: { type: "string" },
    "max-cost": { type: "string" },
    "max-steps": { type: "string" },
    "max-duration": { type: "string" },
  },
  async run({ args, client, options, out, signal }) {
    const prompt = required(args.join(" "), "PROMPT");
    const model = text(options.model);
    const fallbacks = texts(options.fallback);
    const effort = oneOf(["low", "medium", "high"], options.effort, "--effort");
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

/** Waits for a run, and prints its answer. Resolves to 1 unless the run has completed. */
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
  const { sessionId, chatId } = ended;
  const path = { sessionId, chatId };
  const { messages } = await take(client.api.GET(CHAT, { params: { path }, signal }));
  const answer = messages.findLast(({ role }) => role === "assistant");
  out.result({ ...ended, answer: answer ? textOf(answer) : null }, ({ answer }) => answer ?? "");
  if (ended.status === "completed") return 0;
  out.error(ended.error ?? `The run is ${ended.status}`);
  return 1;
}
