/** Which tools the server runs, and the ones that a client runs itself: their calls stay open until it sends the results. */

import { AGENT_TOOLS } from "@platform/endpoint/contract/run-options";
import { z } from "zod";
import { isMcpName } from "./mcp-tool.ts";

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

/** The tool with which the agent of a run with an output schema ends it. */
export const SUBMIT_OUTPUT = "submit_output";

const namesOfAgent: ReadonlySet<string> = new Set([...AGENT_TOOLS, SUBMIT_OUTPUT]);
const isOfAgent = (name: string): boolean => namesOfAgent.has(name) || isMcpName(name);

/** Returns whether the server runs calls of the tool. All others stay open until the client answers them. */
export const isServerTool = (name: string): boolean =>
  isOfAgent(name) && name !== ("ask_user_question" satisfies (typeof AGENT_TOOLS)[number]);

/** Returns the problem of the names of a client's tools; undefined if they have none. */
export function faultOfNames(tools: readonly ClientTool[]): string | undefined {
  const taken = tools.findIndex(({ name }) => isOfAgent(name));
  return taken < 0 ? undefined : `client_tools.${taken}.name is the name of a tool of the agent`;
}

export const clientTools = z
  .array(clientTool)
  .max(MAX_TOOLS)
  .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, {
    error: "client_tools must have different names",
  });
