/** A tool of an MCP server, as a turn has it. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { JsonSchema } from "../output/json-schema.ts";

/** The limit of providers. */
const MAX_NAME_CHARS = 64;
const PREFIX = "mcp__";
export const TOOL_SEARCH = "tool_search";

/** The parts of a server's tool definition that an agent uses. */
export const toolDefinition = z.object({
  title: z.string().nullable(),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
  read_only: z.boolean(),
  /** Absent in definitions from before it was recorded. */
  destructive: z.boolean().optional(),
});

export interface McpTool {
  readonly serverId: string;
  readonly server: string;
  /** The tool's name at the server. */
  readonly tool: string;
  readonly sha256: string;
  /** The name under which agents call it. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly readOnly: boolean;
  /** Whether the server says that the tool may destroy something. */
  readonly destructive: boolean;
}

/** Returns the name under which agents call a tool of a server: `mcp__<server>__<tool>`. */
export function mcpToolName(server: string, toolName: string): string {
  const name = `${PREFIX}${server}__${toolName}`;
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_");
  if (clean === name && name.length <= MAX_NAME_CHARS) return name;
  // Names that differ stay different.
  const digest = createHash("sha256").update(toolName).digest("hex").slice(0, 8);
  return `${clean.slice(0, MAX_NAME_CHARS - digest.length - 1)}_${digest}`;
}

/** The tools of a turn, as `mcp_tools_of_turn` in SQL returns them. */
export const turnMcpTools = z
  .array(
    z.object({
      server_id: z.string(),
      server: z.string(),
      tool: z.string(),
      sha256: z.string(),
      definition: z.string(),
    }),
  )
  .transform((tools): readonly McpTool[] => {
    const byName = new Map<string, McpTool>();
    for (const { server_id: serverId, server, tool: toolName, sha256, definition } of tools) {
      const name = mcpToolName(server, toolName);
      // A server can name two tools alike, and then has the first.
      if (byName.has(name)) continue;
      const known = toolDefinition.parse(JSON.parse(definition));
      byName.set(name, {
        ...{ serverId, server, tool: toolName, sha256, name },
        description: known.description,
        inputSchema: known.input_schema,
        readOnly: known.read_only,
        destructive: known.destructive === true,
      });
    }
    return [...byName.values()];
  });

/** Returns whether a name can be the name of an MCP server's tool, or of the one that finds them. */
export const isMcpName = (name: string): boolean => name === TOOL_SEARCH || name.startsWith(PREFIX);

/** Returns which tool of an MCP server a turn calls under a name; undefined for every other tool. */
export const mcpToolOf = (tools: readonly McpTool[], name: string): McpTool | undefined =>
  tools.find((each) => each.name === name);
