/** How the model server answers a turn of the simulation. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Gate, Script, ScriptPart } from "../../support/fakes/openai.ts";
import type { Conversation } from "../../support/harness/conversation.ts";
import type { Workspace } from "../../support/harness/workspace.ts";
import type { HALTS, TurnPlan } from "./plan.ts";

type Where = (typeof HALTS)[number];

const question = {
  questions: [
    {
      question: "Which one?",
      header: "Choice",
      options: [
        { label: "Left", description: "The left one" },
        { label: "Right", description: "The right one" },
      ],
    },
  ],
};

/**
 * Each command adds the id of its call to the file `effects`. A halted one then waits for a file of
 * the turn's name.
 */
export function scriptOf(name: string, plan: TurnPlan, gate: Gate): Script {
  return async function* ({ step }): AsyncGenerator<ScriptPart> {
    const isHalt = (where: Where) => plan.halt?.step === step && plan.halt.where === where;
    const at = async (where: Where) => {
      if (isHalt(where)) await gate.pass();
    };
    await at("before");
    yield { text: `Step ${step} ` };
    await at("text");
    yield { text: "goes on. " };
    const wait = isHalt("command") ? `; while [ ! -e ${name} ]; do sleep 0.05; done` : "";
    for (let call = 0; call < (plan.tools[step] ?? 0); call++) {
      const id = randomUUID();
      const input = { command: `echo ${id} >> effects${call === 0 ? wait : ""}` };
      yield { tool: "bash", id, input, pieces: 2, between: () => at("input") };
    }
    // What follows the answer to a question has a higher number.
    if (step === plan.tools.length) {
      if (plan.end === "failure") yield { fail: 400 };
      if (plan.end === "question") {
        yield { tool: "ask_user_question", id: randomUUID(), input: question };
      }
    }
    await at("called");
  };
}

/** Lets a turn go on that waits where its plan has a halt. */
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
