/** Decides the embedded model's next text and tool calls from the prompt alone. */
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { CONSOLIDATION } from "../../../consolidate-memory.ts";
import { withoutFacts } from "../../../facts.ts";
import { NOTE } from "../../../prompt.ts";
import { condenseMemory } from "./condense-memory.ts";
import { describeResult } from "./describe-result.ts";
import { INTRODUCTION } from "./identity.ts";
import { parsePlan } from "./parse-plan.ts";
import type { PlanStep, ToolRequest } from "./rules.ts";

export interface Reply {
  /** The deltas in order. */
  readonly text: Iterable<string>;
  readonly calls: readonly ToolRequest[];
}

type ToolStep = Extract<PlanStep, { kind: "tools" }>;

export function decideReply(prompt: LanguageModelV4Prompt, tools: ReadonlySet<string>): Reply {
  if (prompt[0]?.role === "system" && prompt[0].content === CONSOLIDATION) {
    return say(condenseMemory(textOf(prompt[1])));
  }
  const turnStart = prompt.findLastIndex(
    (message) => message.role === "user" && !textOf(message).startsWith(NOTE),
  );
  const plan = parsePlan(textOf(prompt[turnStart]));
  const results = resultsAfter(prompt, turnStart);
  const toolSteps = plan.filter((step) => step.kind === "tools");
  const step = stepAfter(toolSteps, callsAfter(prompt, turnStart));

  if (step) {
    const missing = step.calls.find((call) => !tools.has(call.tool));
    if (missing)
      return say(`I would call the tool \`${missing.tool}\`, but this run does not have it.`);
    return { text: words(announce(step, toolSteps)), calls: step.calls };
  }
  if (plan.length === 0) return say(INTRODUCTION);
  return { text: report(plan, results), calls: [] };
}

const say = (text: string): Reply => ({ text: words(text), calls: [] });

/** Returns the first step whose calls have not all been made. */
function stepAfter(steps: readonly ToolStep[], made: number): ToolStep | undefined {
  let needed = 0;
  return steps.find((step) => {
    needed += step.calls.length;
    return needed > made;
  });
}

function announce(step: ToolStep, steps: readonly ToolStep[]): string {
  const place = steps.length > 1 ? `Step ${steps.indexOf(step) + 1} of ${steps.length}: ` : "";
  const what = step.calls.map((call) => call.label).join(", ");
  return `${place}${place === "" ? what.charAt(0).toUpperCase() + what.slice(1) : what}.`;
}

function* report(plan: readonly PlanStep[], results: readonly unknown[]): Generator<string> {
  let next = 0;
  for (const [index, step] of plan.entries()) {
    if (index > 0) yield "\n\n";
    if (step.kind === "say") yield* step.deltas();
    else {
      for (const [position, call] of step.calls.entries()) {
        if (position > 0) yield "\n\n";
        yield* words(describeResult(call.label, results[next++]));
      }
    }
  }
}

/** Splits a text into deltas of one word. */
function words(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function textOf(message: LanguageModelV4Prompt[number] | undefined): string {
  if (message?.role !== "user") return "";
  const texts = message.content.map((part) =>
    part.type === "text" ? withoutFacts(part.text) : "",
  );
  return texts.join("\n");
}

function callsAfter(prompt: LanguageModelV4Prompt, start: number): number {
  return prompt
    .slice(start + 1)
    .flatMap((message) => (message.role === "assistant" ? message.content : []))
    .filter((part) => part.type === "tool-call").length;
}

/** Returns the results in the order of the calls; undefined where the prompt no longer has one. */
function resultsAfter(prompt: LanguageModelV4Prompt, start: number): unknown[] {
  const later = prompt.slice(start + 1);
  const outputs = new Map<string, unknown>();
  for (const message of later) {
    if (message.role !== "tool" && message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "tool-result") continue;
      const { output } = part;
      outputs.set(
        part.toolCallId,
        "value" in output ? output.value : { error: output.reason ?? "denied" },
      );
    }
  }
  return later
    .flatMap((message) => (message.role === "assistant" ? message.content : []))
    .flatMap((part) => (part.type === "tool-call" ? [outputs.get(part.toolCallId)] : []));
}
