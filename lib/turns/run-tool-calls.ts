import type { JSONValue, ToolModelMessage, UIMessageChunk } from "ai";
import { shareModel } from "../agent/models/share-model.ts";
import type { ToolCall } from "../agent/step-result.ts";
import { runTool, type ToolContext } from "../agent/tools/index.ts";
import {
  type RunCredentialForm,
  runCredentialHeader,
} from "../identity/keys/derive-run-credential.ts";
import { log as serverLog } from "../platform/log.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { services } from "../platform/services.ts";
import { type Sandbox, SandboxError } from "../sandbox/port.ts";
import { storedSandbox } from "../sandbox/stored-sandbox.ts";
import {
  type ActiveTurn,
  finishTool,
  type KnownCall,
  recordedOutput,
  startTools,
} from "./turn-store.ts";

type OutputChunk = Extract<UIMessageChunk, { type: "tool-output-available" | "tool-output-error" }>;

export interface ToolRound {
  readonly turnId: string;
  /** Of the step that runs the calls. */
  readonly index: number;
  readonly turn: ActiveTurn;
  readonly credential?: RunCredentialForm;
  readonly calls: readonly ToolCall[];
  readonly signal: AbortSignal;
  readonly write: (chunk: OutputChunk) => void;
}

const INTERRUPTED: JSONValue = {
  error:
    "The server stopped while this was running. Its outcome is unknown, and it was not run again.",
};

/**
 * Runs the calls at once, each of them once in the life of the turn: it is recorded before it
 * starts and when it has ended. One that is found started was cut by a crash, and says so.
 * @returns what the model is told, null when there was nothing to run.
 */
export async function runToolCalls(round: ToolRound): Promise<ToolModelMessage | null> {
  const { turnId, calls, signal, write } = round;
  if (calls.length === 0) return null;
  // There are models whose ids repeat from answer to answer.
  const recordOf = (call: ToolCall) => `${round.index} ${call.id}`;
  const known = await startTools(turnId, calls.map(recordOf));
  const context = toolContext(round);
  const outputs = await whenAllEnded(
    calls.map(async (call) => {
      const before = known.find((record) => record.id === recordOf(call));
      const output = before
        ? await outputOf(turnId, before)
        : await runOnce(turnId, recordOf(call), call, context);
      if (signal.aborted && !before) {
        write({ type: "tool-output-error", toolCallId: call.id, errorText: "Stopped" });
      } else write({ type: "tool-output-available", toolCallId: call.id, output });
      return output;
    }),
  );
  return {
    role: "tool",
    content: calls.map((call, place) => ({
      type: "tool-result",
      toolCallId: call.id,
      toolName: call.name,
      output: { type: "json", value: outputs[place] ?? null },
    })),
  };
}

/** A failure waits for the others: a repeated step must not meet calls that are still running. */
async function whenAllEnded<T>(running: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

async function runOnce(
  turnId: string,
  record: string,
  call: ToolCall,
  context: ToolContext,
): Promise<JSONValue> {
  const output = await runTool(call.name, call.input, context);
  await finishTool(turnId, record, output);
  return output;
}

async function outputOf(turnId: string, known: KnownCall): Promise<JSONValue> {
  // The outputs were JSON when they were stored.
  if (known.finished) return recordedOutput(known) as JSONValue;
  await finishTool(turnId, known.id, INTERRUPTED);
  return INTERRUPTED;
}

function toolContext({ turn, turnId, credential = "key", signal }: ToolRound): ToolContext {
  const header = turn.has_key ? runCredentialHeader(turnId, credential) : undefined;
  return {
    sandbox: openSandbox(turn.sandbox_state, turn.account_id),
    env: {
      AGENT_API_URL: serviceOrigin(),
      ...(header === undefined ? {} : { AGENT_API_AUTH_HEADER: header }),
    },
    signal,
    model: shareModel(services().models.resolve(turn.model_id), turn.account_id),
    serviceOrigin: serviceOrigin(),
    reportFault: (tool, error) => serverLog().error({ err: error, tool, turnId }, "tool failed"),
  };
}

/** The sandbox may have been deleted while the turn ran; its tools then fail, not the turn. */
function openSandbox(stored: unknown, accountId: string): Sandbox {
  const state = storedSandbox.nullable().parse(stored);
  if (state) return services().sandboxes.open(state, accountId);
  const gone = async (): Promise<never> => {
    throw new SandboxError("unavailable", "The session has no sandbox");
  };
  return { run: gone, readFile: gone, writeFile: gone };
}
