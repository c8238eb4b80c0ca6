/** Recordings of runs: the answers of the model, and the results of tools that it was given, by step. */
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { components } from "../../generated/api.ts";
import { type Context, take } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import type { Trace } from "./results.ts";

type Part = components["schemas"]["ModelMessagePart"];

export interface RecordedStep {
  /** Texts, and calls with their ids and inputs. */
  readonly answer: readonly Part[];
  /** The messages of the request, each result of a tool as one; null if the oldest are not known. */
  readonly messages: number | null;
  readonly tools: readonly string[];
  /** The results of the calls of the step before; the start of a long one. */
  readonly results: readonly Part[];
}

export interface Recording {
  readonly recorded: string;
  readonly model: string;
  readonly context_window: number | null;
  /** The run with its prompt, then its subagents with their instructions. */
  readonly works: readonly { readonly prompt: string; readonly steps: RecordedStep[] }[];
}

/** Reads the recording of a run that has ended. @throws Error for an answer that the API shows in part */
export async function recordRun({ client }: Context, { run, steps }: Trace, prompt: string) {
  const read = async (index: number, query?: { tool_call_id: string; subagent_index: number }) => {
    const params = { path: { runId: run.runId, index }, ...(query && { query }) };
    const path = "/api/chat/runs/{runId}/steps/{index}";
    return stepOf(await take(client.api.GET(path, { params })));
  };
  const own: RecordedStep[] = [];
  const works = [{ prompt, steps: own }];
  for (const { index, tool_calls } of steps) {
    const step = await read(index);
    own.push(step);
    for (const { id, steps: subagent = [] } of tool_calls) {
      const call = step.answer.find(({ tool_call_id }) => tool_call_id === id);
      const inner: RecordedStep[] = [];
      for (const { index: subagent_index } of subagent) {
        inner.push(await read(index, { tool_call_id: id, subagent_index }));
      }
      const { instructions } = JSON.parse(call?.text ?? "{}");
      if (inner.length > 0) works.push({ prompt: String(instructions), steps: inner });
    }
  }
  const model = steps.at(-1)?.model_id ?? run.model_id;
  const { models } = await take(client.api.GET("/api/models"));
  const context_window = models.find(({ id }) => id === model)?.context_window ?? null;
  return { recorded: `from ${model}`, model, context_window, works } satisfies Recording;
}

function stepOf(call: components["schemas"]["ModelCall"]): RecordedStep {
  const answer = call.answer.filter(({ type }) => type !== "reasoning");
  if (answer.some(({ cut_chars }) => cut_chars > 0)) {
    throw new Error(`The answer of step ${call.index + 1} is too long`);
  }
  const isResult = ({ type }: Part) => type === "tool_result";
  const results = call.messages.map(({ parts }) => parts.filter(isResult));
  const count = results.reduce((sum, { length }) => sum + (length || 1), 0);
  const newest = call.messages.findLastIndex(({ role }) => role === "assistant") + 1;
  return {
    answer,
    messages: call.omitted_messages > 0 ? null : count,
    tools: call.tools.map(({ name }) => name),
    results: results.slice(newest).flat(),
  };
}

/** Writes a file, which appears with all of its content or not at all. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.part`, `${JSON.stringify(value, null, 1)}\n`);
  await rename(`${file}.part`, file);
}

/** Resolves to the recordings in a folder by the names of their cases. @throws UsageError without any */
export async function readRecordings(folder: string): Promise<Map<string, Recording>> {
  const found = new Map<string, Recording>();
  for (const file of (await readdir(folder).catch(() => [])).sort()) {
    if (!file.endsWith(".json")) continue;
    found.set(basename(file, ".json"), JSON.parse(await readFile(join(folder, file), "utf8")));
  }
  if (found.size === 0) throw new UsageError(`${folder} has no recordings`);
  return found;
}
