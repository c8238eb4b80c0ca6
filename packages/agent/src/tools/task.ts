import { z } from "zod";
import { MAX_SUBAGENT_STEPS } from "./limits.ts";
import { agentTool } from "./tool.ts";

export const task = agentTool({
  name: "task",
  description: `Hand a self-contained piece of work to a subagent, which has bash, read, write, edit, grep and glob in the same sandbox, at most ${MAX_SUBAGENT_STEPS} steps, and no knowledge of this conversation.
- Use it for work that needs many steps of which you only want the outcome. Up to four run at the same time.
- instructions must hold all it needs to know, and say what to report back.
- Gives {result, steps}: its final report. The user does not see it; tell what matters.`,
  input: z.object({
    task: z.string().min(1).describe("What it is about, three to ten words"),
    instructions: z.string().min(1).describe("The complete instructions"),
    model: z
      .literal("fast")
      .optional()
      .describe("For simple work: a faster and cheaper model, where the service has one"),
  }),
  execute: (work, context) => context.runSubagent(work),
});
