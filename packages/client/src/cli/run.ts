import { readFile } from "node:fs/promises";
import type { ApprovalAnswer, Run } from "../wait-for-run.ts";
import { askApproval, describeRequest, KINDS } from "./ask-approval.ts";
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
  "[--max-cost USD] [--max-steps COUNT] [--max-duration SECONDS] [--approve KIND]... [--deny]",
].join(" ");
const CHAT = "/api/sessions/{sessionId}/chats/{chatId}";

export const approvalOptions = {
  approve: { type: "string", multiple: true },
  deny: { type: "boolean" },
} as const;

interface Answers {
  /** The kinds of effects that are approved. */
  readonly approved: readonly string[];
  /** Whether all others are denied. */
  readonly denies: boolean;
}

/** Returns the answers that the options give. @throws UsageError for an unknown kind */
export const answersOf = ({ approve, deny }: Context["options"]): Answers => ({
  approved: (texts(approve) ?? []).map((kind) => required(oneOf(KINDS, kind, "--approve"), "KIND")),
  denies: deny === true,
});

export const run: Command = {
  usage: [`run ${OPTIONS} PROMPT`],
  about:
    "Answer one prompt in a session of its own, and print the answer when it is there: JSON that is valid under the JSON Schema in FILE, if there is one. The calls that the agent asks for are approved by --approve with their kind, such as bash, denied by --deny, or asked for in the terminal.",
  options: {
    detach: { type: "boolean" },
    model: { type: "string" },
    fallback: { type: "string", multiple: true },
    effort: { type: "string" },
    schema: { type: "string" },
    "max-cost": { type: "string" },
    "max-steps": { type: "string" },
    "max-duration": { type: "string" },
    ...approvalOptions,
  },
  async run({ args, client, options, out, signal }) {
    const prompt = required(args.join(" "), "PROMPT");
    const model = text(options.model);
    const fallbacks = texts(options.fallback);
    const effort = oneOf(["low", "medium", "high"], options.effort, "--effort");
    const answers = answersOf(options);
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
    return printRun({ client, out, signal }, started.runId, answers);
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
 * Waits for a run, and prints its output or its answer, or the requests it waits for. Resolves to 0
 * if the run has completed, to 4 if it waits for approvals, and otherwise to 1.
 */
export async function printRun(
  { client, out, signal }: Pick<Context, "client" | "out" | "signal">,
  runId: string,
  answers: Answers,
): Promise<number> {
  const ended = await waitAndAnswer({ client, out, signal }, runId, answers);
  const { sessionId, chatId, output, required_action } = ended;
  if (required_action !== null) {
    const { approvals, tool_calls } = required_action;
    out.result(ended, () => [
      ...tool_calls.map(({ id, name, input }) => `${id}  ${name}  ${JSON.stringify(input)}`),
      ...approvals.flatMap((request) => [
        `${request.id}  ${request.category}`,
        ...describeRequest(request),
      ]),
    ]);
    const [awaited, path] =
      approvals.length > 0
        ? ["approvals", "approvals/{approvalId}"]
        : ["the results of its client tools", "tool_results"];
    out.error(`The run waits for ${awaited}: POST /api/chat/runs/${runId}/${path}`);
    return approvals.length > 0 ? 4 : 1;
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

/** Resolves to a run that has ended, or to one whose requests neither the options nor a person answer. */
async function waitAndAnswer(
  { client, out, signal }: Pick<Context, "client" | "out" | "signal">,
  runId: string,
  { approved, denies }: Answers,
): Promise<Run> {
  let hasPerson = !out.isJson && process.stdin.isTTY === true && process.stderr.isTTY === true;
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  /** One question at a time. */
  let asked: Promise<unknown> = Promise.resolve();
  let status = "";
  const left: Run[] = [];
  try {
    return await client.waitForRun(runId, {
      signal,
      onState(state) {
        if (state.status !== status) out.progress(state.status);
        status = state.status;
        const open = state.required_action?.approvals ?? [];
        const isAnswered = open.some(({ category }) => approved.includes(category));
        if (open.length === 0 || hasPerson || denies || isAnswered) return;
        left.push(state);
        throw new Error("There is no answer");
      },
      onApproval(request) {
        if (approved.includes(request.category)) return { approved: true };
        if (denies) return { approved: false };
        const answer = asked.then(async () => {
          const given = hasPerson ? await askApproval(request, out, ends) : null;
          hasPerson &&= given !== null;
          // It stays open, and the waiting ends with the next state.
          return given ?? new Promise<ApprovalAnswer>(() => {});
        });
        asked = answer;
        return answer;
      },
    });
  } catch (error) {
    const [run] = left;
    if (run) return run;
    throw error;
  } finally {
    over.abort();
  }
}
