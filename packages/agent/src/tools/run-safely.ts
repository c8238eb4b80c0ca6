import { isQueueRefusal } from "@platform/kit/fair-queue";
import { startTimer } from "@platform/kit/telemetry/metrics";
import { inSpan } from "@platform/kit/telemetry/spans";
import { isSandboxError, type SandboxError } from "@platform/sandbox/port";
import type { JSONValue } from "ai";
import { isBudgetRefusal } from "../models/budget-refusal.ts";
import { makeStorable } from "./make-storable.ts";
import { type AnyAgentTool, type ToolContext, toolFailure } from "./tool.ts";

const STOPPED = "Stopped before it finished";
const BUSY = "Too many requests of this account are waiting. Try again later";

type RunnableTool = Pick<AnyAgentTool, "name" | "run">;

/** Runs a tool. Never rejects: every failure resolves with an `{error}` for the model. */
export function runSafely(
  tool: RunnableTool,
  input: unknown,
  context: ToolContext,
): Promise<JSONValue> {
  const { name } = tool;
  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name } as const;
  const measure = startTimer("agent_platform.tool.duration");
  return inSpan(`execute_tool ${name}`, { attributes }, async (span) => {
    const output = await run(tool, input, context);
    const hasFailed = typeof output === "object" && output !== null && "error" in output;
    if (hasFailed) span.fail("tool_error");
    measure({ "gen_ai.tool.name": name, outcome: hasFailed ? "error" : "ok" });
    return output;
  });
}

async function run(tool: RunnableTool, input: unknown, context: ToolContext): Promise<JSONValue> {
  const { signal } = context;
  if (signal.aborted) return toolFailure(STOPPED);
  let onAbort = (): void => {};
  // A tool that reacts slowly to the stop must not delay the end of the turn.
  const stopped = new Promise<JSONValue>((resolve) => {
    onAbort = () => resolve(toolFailure(STOPPED));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  const answer = tool.run(input, context).catch((error: unknown) => {
    if (signal.aborted) return toolFailure(STOPPED);
    if (isQueueRefusal(error)) return toolFailure(BUSY);
    if (isBudgetRefusal(error)) return toolFailure(error.message);
    if (isSandboxError(error)) return toolFailure(textOf(error));
    context.reportFault(tool.name, error);
    return toolFailure(`The tool ${tool.name} failed`);
  });
  try {
    return makeStorable(await Promise.race([answer, stopped]), context.env);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function textOf(error: SandboxError): string {
  switch (error.code) {
    case "not_found":
      return "No such file in the sandbox";
    case "refused":
      return "The sandbox refused: outside its folder, or not a regular file";
    case "changed":
      return "The file was changed in the meantime";
    case "no_space":
      return "The sandbox is full";
    case "disk_full":
      return "The service has no disk space left. Try again later";
    case "too_large":
      return "The file is too large";
    case "busy":
      return "Not run: too many commands of this account are running. Try again later";
    case "incomplete":
    case "unavailable":
      return "The sandbox is not available";
  }
}
