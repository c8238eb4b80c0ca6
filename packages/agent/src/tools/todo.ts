import { z } from "zod";
import { agentTool } from "./tool.ts";

export const todo = agentTool({
  name: "todo",
  description: `Write down the plan of a task with several steps, and keep it up to date.
- Every call gives the complete list, which replaces the former one.
- Keep one item in_progress; mark an item completed as soon as it is done.
- Not for a task of one or two simple steps.`,
  input: z.object({
    todos: z
      .array(
        z.object({
          id: z.string().min(1),
          content: z.string().min(1),
          status: z.enum(["pending", "in_progress", "completed"]),
        }),
      )
      .max(200),
  }),
  // The list is stored in the conversation, as the input of this call.
  execute: async ({ todos }) => ({ todos }),
});
