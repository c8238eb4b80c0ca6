/** What a tool of the agent is, and what it may use. Spec: POST /api/chat; decisions, section 5. */
import type { JSONValue, LanguageModel } from "ai";
import type { z } from "zod";
import type { Sandbox } from "../../sandbox/port.ts";

export interface ToolContext {
  readonly sandbox: Sandbox;
  /** Environment of commands: `AGENT_API_URL`, `AGENT_API_AUTH_HEADER`. Its values are secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the turn: every tool gives up at once. */
  readonly signal: AbortSignal;
  /** For subagents. */
  readonly model: LanguageModel;
  /** The origin of this service, which `fetch` may call although it can be a private address. */
  readonly serviceOrigin: string;
  /** For what is a bug or an outage and not an answer: the model gets a fixed text instead. */
  readonly reportFault: (tool: string, error: unknown) => void;
}

export interface AgentTool<Input> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /**
   * A failure is an answer: `{error}` with a text that is safe to show to the model and the client.
   * A thrown SandboxError becomes such an answer; any other throw is a fault.
   */
  execute(input: Input, context: ToolContext): Promise<JSONValue>;
}

/** A tool whose input type is its own affair. */
export interface AnyAgentTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType;
  run(input: unknown, context: ToolContext): Promise<JSONValue>;
}

export function agentTool<Input>(tool: AgentTool<Input>): AnyAgentTool {
  const { name, description, input } = tool;
  return {
    name,
    description,
    input,
    async run(given, context) {
      const parsed = input.safeParse(given);
      if (parsed.success) return tool.execute(parsed.data, context);
      const issue = parsed.error.issues[0];
      const place = issue === undefined || issue.path.length === 0 ? "input" : issue.path.join(".");
      return { error: `Invalid input: ${place}: ${issue?.message ?? "malformed"}` };
    },
  };
}

export const toolFailure = (error: string): { error: string } => ({ error });
