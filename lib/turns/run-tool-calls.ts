import type { JSONValue, ToolModelMessage, UIMessageChunk } from "ai";
import { budgetOf } from "../agent/context.ts";
import { meterModel } from "../agent/models/meter-model.ts";
import { modelsOf } from "../agent/models/model-outages.ts";
import { shareModel } from "../agent/models/share-model.ts";
import type { ToolCall } from "../agent/step-result.ts";
import { showResults } from "../agent/tool-results.ts";
import { runTool, type ToolContext } from "../agent/tools/index.ts";
import { inStoredOrder } from "../agent/tools/make-storable.ts";
import type { App } from "../app.ts";
import {
  type RunCredentialForm,
  runCredentialHeader,
} from "../identity/keys/derive-run-credential.ts";
import { log as serverLog } from "../platform/log.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { isSandboxError, type Sandbox, SandboxError } from "../sandbox/port.ts";
import { storedSandbox } from "../sandbox/stored-sandbox.ts";
import { toUsageEntry, type UsageEntry } from "./measure-step.ts";
import {
  type ActiveTurn,
  finishTool,
  type KnownCall,
  recordedOutput,
  recordUsage,
  reserveModelCall,
  startTools,
} from "./store/turns.ts";

type OutputChunk = Extract<UIMessageChunk, { type: "tool-output-available" | "tool-output-error" }>;

/** The parts of the service that tools use. */
export type ToolParts = Pick<
  App,
  "contextWindows" | "modelOutages" | "models" | "queues" | "sandboxes"
>;

export interface ToolCalls {
  readonly turnId: string;
  /** The index of the step that runs the calls. */
  readonly index: number;
  readonly turn: ActiveTurn;
  readonly credential?: RunCredentialForm;
  readonly calls: readonly ToolCall[];
  /** The calls that were recorded before, where they are recorded already. */
  readonly known: readonly KnownCall[] | undefined;
  readonly signal: AbortSignal;
  readonly write: (chunk: OutputChunk) => void;
}

const INTERRUPTED: JSONValue = {
  error:
    "The server stopped while this was running. Its outcome is unknown, and it was not run again.",
};

/**
 * Runs the calls in parallel, each at most once in the life of the turn: a call is recorded before
 * it starts and when it has ended. A call that has started but not ended was cut by a crash; its
 * result says so.
 * @returns the message with the results for the model, or null when there are no calls.
 */
export async function runToolCalls(
  app: ToolParts,
  step: ToolCalls,
): Promise<ToolModelMessage | null> {
  const { turnId, index, calls, signal, write } = step;
  if (calls.length === 0) return null;
  const known = step.known ?? (await startTools(turnId, recordIds(index, calls)));
  const environment = toolEnvironment(app, step);
  const outputs = await allEnded(
    calls.map(async (call, place) => {
      const recordId = recordIdOf(index, call);
      const earlier = known.find((record) => record.id === recordId);
      const output = earlier
        ? await outputOf(turnId, earlier)
        : await runAndRecord(app, step, call, place, environment);
      if (signal.aborted && !earlier) {
        write({ type: "tool-output-error", toolCallId: call.id, errorText: "Stopped" });
      } else write({ type: "tool-output-available", toolCallId: call.id, output });
      return output;
    }),
  );
  const results = calls.map((call, place) => ({
    toolCallId: call.id,
    value: inStoredOrder(outputs[place] ?? null),
  }));
  const window = await app.contextWindows.of(modelsOf(app.models, step.turn));
  const shown = showResults(results, budgetOf(window, step.turn.context_limit));
  const files = shown.flatMap(({ file }) => file ?? []);
  if (files.length > 0) await writeFiles(environment.sandbox, files);
  return {
    role: "tool",
    content: calls.map((call, place) => ({
      type: "tool-result",
      toolCallId: call.id,
      toolName: call.name,
      output: shown[place]?.output ?? { type: "json", value: null },
    })),
  };
}

/** The index is needed because some models repeat their call ids from answer to answer. */
const recordIdOf = (index: number, call: ToolCall): string => `${index} ${call.id}`;

/** Returns the ids under which the step of this index records its calls. */
export const recordIds = (index: number, calls: readonly ToolCall[]): string[] =>
  calls.map((call) => recordIdOf(index, call));

/** Rejects only after all have settled: a repeated step must meet no call that still runs. */
async function allEnded<T>(running: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

async function runAndRecord(
  app: ToolParts,
  step: ToolCalls,
  call: ToolCall,
  place: number,
  environment: Omit<ToolContext, "model">,
): Promise<JSONValue> {
  const { turnId, index } = step;
  const subagent = recordSubagent(app, step, place);
  const output = await runTool(call.name, call.input, { ...environment, model: subagent.model });
  await subagent.recorded();
  await finishTool(turnId, recordIdOf(index, call), output);
  return output;
}

/**
 * Returns the model of a subagent, whose calls are recorded as they end, because a tool call that a crash
 * has cut is not repeated. `recorded` retries the calls that could not be recorded.
 */
function recordSubagent(app: ToolParts, { turn, turnId, index }: ToolCalls, place: number) {
  const key = { accountId: turn.account_id, turnId, load: turn.load };
  const missed: UsageEntry[] = [];
  let calls = 0;
  let reserved = 0;
  const reserve = async (estimateUsd: number | null): Promise<void> => {
    await reserveModelCall(key, { estimateUsd, spentUsd: 0, releasedUsd: reserved });
    reserved = estimateUsd ?? 0;
  };
  const [modelId] = app.modelOutages.available(modelsOf(app.models, turn));
  const { model } = meterModel(app.models, modelId, {
    ...(turn.has_budget && { reserve }),
    onUse: async (use) => {
      const entry = {
        ...toUsageEntry({ step: index, tool: place + 1, call: calls++ }, use),
        reserved_usd: reserved,
      };
      reserved = 0;
      await recordUsage(key, [entry]).catch(() => missed.push(entry));
    },
  });
  return {
    model: shareModel(app.queues.modelCalls, model, turn.account_id),
    recorded: async () => {
      if (missed.length > 0) await recordUsage(key, missed);
    },
  };
}

async function outputOf(turnId: string, known: KnownCall): Promise<JSONValue> {
  // Only JSON is stored.
  if (known.finished) return recordedOutput(known) as JSONValue;
  await finishTool(turnId, known.id, INTERRUPTED);
  return INTERRUPTED;
}

function toolEnvironment(
  app: Pick<App, "sandboxes">,
  { turn, turnId, credential = "key", signal }: ToolCalls,
): Omit<ToolContext, "model"> {
  const header = turn.has_key ? runCredentialHeader(turnId, credential) : undefined;
  return {
    sandbox: openSandbox(app, turn),
    env: {
      AGENT_API_URL: serviceOrigin(),
      ...(header === undefined ? {} : { AGENT_API_AUTH_HEADER: header }),
    },
    signal,
    serviceOrigin: serviceOrigin(),
    reportFault: (tool, error) => serverLog().error({ err: error, tool, turnId }, "tool failed"),
  };
}

/** When the sandbox was deleted during the turn, its tools fail, but the turn does not. */
export function openSandbox({ sandboxes }: Pick<App, "sandboxes">, turn: ActiveTurn): Sandbox {
  const state = storedSandbox.nullable().parse(turn.sandbox_state);
  if (state) return sandboxes.open(state, turn.account_id);
  const fail = async (): Promise<never> => {
    throw new SandboxError("unavailable", "The session has no sandbox");
  };
  return { run: fail, readFile: fail, writeFile: fail };
}

const WRITES_AT_ONCE = 8;

/** A file that cannot be written is missing for the agent, but its turn goes on. */
export async function writeFiles(
  sandbox: Sandbox,
  files: readonly { readonly path: string; readonly text: string }[],
): Promise<void> {
  const left = [...files];
  const write = async (): Promise<void> => {
    for (let file = left.shift(); file; file = left.shift()) {
      await sandbox.writeFile(file.path, file.text).catch((error: unknown) => {
        if (!isSandboxError(error)) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, write));
}
