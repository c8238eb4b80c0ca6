/** How the model server answers a turn of the simulation. */

import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Gate, Script, ScriptPart } from "../../support/fakes/openai.ts";
import { oneQuestion } from "../../support/fixtures/questions.ts";
import type { Conversation } from "../../support/harness/conversation.ts";
import type { Workspace } from "../../support/harness/workspace.ts";
import type { PAUSES, TurnPlan } from "./plan.ts";

/** Whether this is what a model call says, or its beginning. */
export const isScripted = (text: string): boolean =>
  "Step # goes on. ".startsWith(text.replace(/\d+/, "#"));

type Where = (typeof PAUSES)[number];

/**
 * Each command adds the id of its call to the file `effects`. A paused one then waits for a file of
 * the turn's name.
 */
export function scriptOf(name: string, plan: TurnPlan, gate: Gate): Script {
  return async function* ({ step }): AsyncGenerator<ScriptPart> {
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
      const id = randomUUID();
      const input = { command: `echo ${id} >> effects${call === 0 ? wait : ""}` };
      yield { tool: "bash", id, input, pieces: 2, between: () => at("input") };
    }
    // What follows the answer to a question has a higher number.
    if (step === plan.tools.length) {
      if (plan.end === "failure") yield { fail: 400 };
      if (plan.end === "question") {
        yield { tool: "ask_user_question", id: randomUUID(), input: oneQuestion };
      }
    }
    await at("called");
  };
}

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
