/** How the model server answers a turn of the simulation. */

import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { UIMessage } from "ai";
import type { Gate, Script, ScriptPart } from "../../support/fakes/openai.ts";
import { oneQuestion } from "../../support/fixtures/questions.ts";
import type { Conversation } from "../../support/harness/conversation.ts";
import type { Workspace } from "../../support/harness/workspace.ts";
import type { PAUSES, TurnPlan } from "./plan.ts";

/** Whether the text is a prefix of a scripted answer. */
export const isScripted = (text: string): boolean =>
  "Step # goes on. ".startsWith(text.replace(/\d+/, "#"));

type Where = (typeof PAUSES)[number];

/** The output of a command, which fills the context of a small model in a few turns. */
const NOISE = "seq 1000 1350";

/**
 * Writes the id of a call to one file per chat and to one for all chats, both in the workspace,
 * then to `effects`.
 */
const leave = (id: string): string =>
  `mkdir -p workspace/calls && echo ${id} > workspace/calls/${id} && ` +
  `echo ${id} >> workspace/all && echo ${id} >> effects`;

/**
 * Each command leaves the id of its call in three files. A paused one then waits for a file of
 * the turn's name. Without tools, the request is one for a summary.
 */
export function scriptOf(name: string, plan: TurnPlan, gate: Gate): Script {
  const stepsOfCalls = new Map<string, number>();
  return async function* ({ messages, tools }): AsyncGenerator<ScriptPart> {
    if (tools.length === 0) {
      yield { text: `## Goal\nSummary ${randomUUID()}` };
      return;
    }
    const called = messages.flatMap(({ tool_calls = [] }) => tool_calls.map((each) => idOf(each)));
    // Calls cannot be counted: a summary leaves out the first ones.
    const step = Math.max(-1, ...called.map((id) => stepsOfCalls.get(id) ?? -1)) + 1;
    const newCall = () => {
      const id = randomUUID();
      stepsOfCalls.set(id, step);
      return id;
    };
    const pausesAt = (where: Where) => plan.pause?.step === step && plan.pause.where === where;
    const at = async (where: Where) => {
      if (pausesAt(where)) await gate.pass();
    };
    await at("before");
    yield { text: `Step ${step} ` };
    await at("text");
    yield { text: "goes on. " };
    const wait = pausesAt("command") ? `; while [ ! -e ${name} ]; do sleep 0.05; done` : "";
    for (let call = 0; call < (plan.tools[step] ?? 0); call++) {
      const id = newCall();
      const input = { command: `${leave(id)}; ${NOISE}${call === 0 ? wait : ""}` };
      yield { tool: "bash", id, input, pieces: 2, between: () => at("input") };
    }
    // The text that follows the answer to a question has a higher number.
    if (step === plan.tools.length) {
      if (plan.end === "failure") yield { fail: 400 };
      if (plan.end === "question") {
        yield { tool: "ask_user_question", id: newCall(), input: oneQuestion };
      }
    }
    await at("called");
  };
}

/** Submits each of these outputs at the call of its number, then stops. @param asks whether it has an effect first */
export function submitting(outputs: readonly unknown[], asks: boolean): Script {
  return function* ({ messages }) {
    const called = messages.flatMap(({ tool_calls = [] }) => tool_calls).length;
    yield { text: `Step ${called} goes on. ` };
    if (asks && called === 0) {
      const id = randomUUID();
      yield { tool: "bash", id, input: { command: `echo ${id} >> effects` } };
      return;
    }
    const step = asks ? called - 1 : called;
    if (step < outputs.length) yield { tool: "submit_output", input: { n: outputs[step] } };
  };
}

const idOf = (call: unknown): string => String(Object(call).id);

/** Lets a turn go on that waits where its plan has a pause. */
export async function letProceed(
  { env }: Workspace,
  { sessionId }: Conversation,
  { name, gate }: { readonly name: string; readonly gate: Gate },
): Promise<void> {
  gate.open();
  const home = join(env.DATA_DIR ?? "", "sandboxes", sessionId, "home");
  // The folder of a deleted session is gone.
  await writeFile(join(home, name), "").catch(() => {});
}

type Part = UIMessage["parts"][number];

const isOpen = (part: Part): boolean =>
  part.type === "tool-ask_user_question" && part.state === "input-available";

export const hasOpenQuestion = ({ parts }: { readonly parts: readonly unknown[] }): boolean =>
  (parts as Part[]).some(isOpen);

/** The message as a client holds it once its question, if it has one, is answered. */
export const withAnswer = (asked: UIMessage): UIMessage => ({
  ...asked,
  parts: asked.parts.map((part) =>
    isOpen(part)
      ? ({ ...part, state: "output-available", output: { declined: true } } as Part)
      : part,
  ),
});
