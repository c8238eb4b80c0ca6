/** The tools that a client runs itself. Their calls stay open until it sends the results. */
import { z } from "zod";

const MAX_TOOLS = 20;
const MAX_DESCRIPTION_CHARS = 4_000;

const clientTool = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, {
    error: "name must be 1 to 64 letters, digits, underscores and hyphens",
  }),
  description: z.string().max(MAX_DESCRIPTION_CHARS).meta({
    description: "Tells the agent what the tool does and when to use it",
  }),
  input_schema: z.record(z.string(), z.unknown()).meta({
    description:
      "A JSON Schema (2020-12) of the input, whose type is `object`; the limits of `output_schema` apply. The agent writes the input by it, and nothing else checks the input.",
  }),
});
export type ClientTool = z.output<typeof clientTool>;

export const clientTools = z
  .array(clientTool)
  .max(MAX_TOOLS)
  .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, {
    error: "client_tools must have different names",
  });
