/** The interface of the agent's tools. */

import type { DocumentWork } from "@platform/documents/run-document-worker";
import type { UntrustedSource } from "@platform/endpoint/contract/approvals";
import type { TurnPolicies } from "@platform/kit/network-policy";
import type { CommandOptions, Sandbox } from "@platform/sandbox/port";
import type { SkillLibrary } from "@platform/skills/skill";
import type { JSONValue } from "ai";
import type { z } from "zod";
import type { OutputValidation } from "../output/check-output.ts";
import type { McpTool } from "./mcp-tool.ts";
import type { MediaRequest } from "./media-request.ts";
import type { SearchAnswer, SearchFailure, SearchRequest } from "./search.ts";

export interface SubagentWork {
  readonly task: string;
  readonly instructions: string;
  readonly model?: "fast" | undefined;
}

/** How the model of the turn gets images. */
interface ImageInput {
  /** Resolves with whether each model that may answer reads images. */
  readonly areRead: () => Promise<boolean>;
  /** Resolves with the image as models accept it; null for one that cannot be decoded. @throws QueueRefusal */
  readonly shrink: (bytes: Uint8Array) => Promise<Uint8Array | null>;
  /** An image of more pixels is not decoded. */
  readonly maxPixels: number;
}

/** A request to this service that the policies of the turn have let pass. */
export interface JudgedRequest {
  /** With the path in its one form. */
  readonly url: URL;
  /** Show the service that it was judged. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ToolContext {
  readonly sandbox: Sandbox;
  /** The environment of commands, `AGENT_API_URL` and `AGENT_API_AUTH_HEADER`. It has a secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Aborts when the turn is stopped. Every tool then ends immediately. */
  readonly signal: AbortSignal;
  /** Shows the output of a command while it runs. */
  readonly onOutput?: CommandOptions["onOutput"];
  /** Runs a subagent, and resolves with its report or `{error}`. */
  readonly runSubagent: (work: SubagentWork) => Promise<JSONValue>;
  /** Whose share of this machine documents take that are read or written. */
  readonly documents: DocumentWork;
  readonly images: ImageInput;
  readonly skills: SkillLibrary;
  /** Searches the web, and records the cost of the search. */
  readonly searchWeb: (request: SearchRequest) => Promise<SearchAnswer | SearchFailure>;
  /** Creates a task of the account, and resolves with it or `{error}`. */
  readonly scheduleTask: (input: unknown) => Promise<JSONValue>;
  /** Resolves with the newest tasks of the account. */
  readonly listTasks: () => Promise<JSONValue>;
  /** Generates an image or a video, and resolves with its file in the sandbox or `{error}`. */
  readonly makeMedia: (request: MediaRequest) => Promise<JSONValue>;
  /** Resolves with a request to this service as the policies of the turn have judged it; null for no operation. */
  readonly judgedRequest: (
    method: string,
    url: URL,
    body: string | undefined,
  ) => Promise<JudgedRequest | null>;
  /** Whether a person must approve requests to other hosts. */
  readonly asksForHosts: boolean;
  /** Notes that the output has content of a stranger. */
  readonly addSources: (...sources: UntrustedSource[]) => void;
  /** Calls a tool of an MCP server; absent in a turn without any. */
  readonly callMcpTool?: (
    tool: McpTool,
    input: Readonly<Record<string, unknown>>,
  ) => Promise<JSONValue>;
  /** How the output of the run is validated; absent in a run without an output schema. */
  readonly output?: OutputValidation;
  /** Which hosts the turn may reach. */
  readonly network: TurnPolicies;
  /** The origin of this service, which `fetch` may call even at a private address. */
  readonly serviceOrigin: string;
  /** Reports a bug or an outage, for which the model gets a fixed text. */
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

/** A tool of any input type, which validates its input itself. */
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

/** Returns a failure as an answer. The text must be safe to show to the model and the client. */
export const toolFailure = (error: string): { error: string } => ({ error });
