import { generateText, isStepCount, type ToolSet, tool } from "ai";
import { z } from "zod";
import { isQueueRefusal } from "../../platform/fair-queue.ts";
import { budgetRefusalIn } from "../models/budget-refusal.ts";
import { subagentPrompt } from "../prompt.ts";
import { bash } from "./bash.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { cut, MAX_SUBAGENT_STEPS } from "./limits.ts";
import { read } from "./read.ts";
import { runSafely } from "./run-safely.ts";
import { type AnyAgentTool, agentTool, type ToolContext, toolFailure } from "./tool.ts";
import { write } from "./write.ts";

const subagentTools: readonly AnyAgentTool[] = [bash, read, write, grep, glob];

export const task = agentTool({
  name: "task",
  description: `Hand a self-contained piece of work to a subagent, which has bash, read, write, grep and glob in the same sandbox, at most ${MAX_SUBAGENT_STEPS} steps, and no knowledge of this conversation.
- Use it for work that needs many steps of which you only want the outcome.
- instructions must hold all it needs to know, and say what to report back.
- Gives {result, steps}: its final report. The user does not see it; tell what matters.`,
  input: z.object({
    task: z.string().min(1).describe("What it is about, three to ten words"),
    instructions: z.string().min(1).describe("The complete instructions"),
  }),
  async execute({ instructions }, context) {
    const outcome = await generateText({
      model: context.model,
      instructions: subagentPrompt(),
      prompt: instructions,
      tools: executable(context),
      stopWhen: isStepCount(MAX_SUBAGENT_STEPS),
      abortSignal: context.signal,
    }).catch((error: unknown) => {
      if (context.signal.aborted || isQueueRefusal(error)) throw error;
      const refusal = budgetRefusalIn(error);
      if (refusal) throw refusal;
      context.reportFault("task", error);
      return null;
    });
    if (outcome === null) return toolFailure("The subagent failed");
    const { text, truncated } = cut(outcome.text);
    const steps = outcome.steps.length;
    if (text !== "") return { result: text, steps, ...(truncated ? { truncated } : {}) };
    return { result: `The subagent ended after ${steps} steps without a report.`, steps };
  },
});

function executable(context: ToolContext): ToolSet {
  return Object.fromEntries(
    subagentTools.map((agent) => [
      agent.name,
      tool({
        description: agent.description,
        inputSchema: agent.input,
        execute: (input: unknown) => runSafely(agent, input, context),
      }),
    ]),
  );
}
