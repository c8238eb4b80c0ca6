/** The agent's eleven tools, optional ones, the output tool, and tools of clients and MCP servers. */

import type { AGENT_TOOLS, RunOptions } from "@platform/endpoint/contract/run-options";
import { processWide } from "@platform/kit/process-wide";
import { type TurnSkills, toolLimits } from "@platform/skills/prompt-skills";
import { type JSONValue, jsonSchema, type ModelMessage, type ToolSet, tool, zodSchema } from "ai";
import { type JsonSchema, toolInputOf } from "../output/json-schema.ts";
import { askUserQuestion } from "./ask-user-question.ts";
import { bash } from "./bash.ts";
import { type ClientTool, SUBMIT_OUTPUT } from "./client-tools.ts";
import { edit } from "./edit.ts";
import { fetchTool } from "./fetch.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { makeMedia } from "./make-media.ts";
import { mcpAgentTool, withMcpTools } from "./mcp.ts";
import type { McpTool } from "./mcp-tool.ts";
import { read } from "./read.ts";
import { runSafely } from "./run-safely.ts";
import { listSchedules, schedule } from "./schedule.ts";
import { skill } from "./skill.ts";
import { submitOutput, submitOutputDescription } from "./submit-output.ts";
import { task } from "./task.ts";
import { todo } from "./todo.ts";
import { type AnyAgentTool, type ToolContext, toolFailure } from "./tool.ts";
import { webSearch } from "./web-search.ts";
import { write } from "./write.ts";

const byName: Record<Exclude<(typeof AGENT_TOOLS)[number], "ask_user_question">, AnyAgentTool> = {
  bash,
  read,
  write,
  edit,
  grep,
  glob,
  todo,
  task,
  skill,
  fetch: fetchTool,
  web_search: webSearch,
  schedule,
  list_schedules: listSchedules,
  make_media: makeMedia,
};
const runnable = Object.values(byName);

const names = [...runnable, askUserQuestion].map(({ name }) => name);
/** The tools of a subagent: files and commands. */
const ofSubagents: readonly AnyAgentTool[] = [bash, read, write, edit, grep, glob];
/** The tools that an option turns on. */
const OPTIONS = new Map<string, "web_search" | "scheduling" | "media_tools">([
  [webSearch.name, "web_search"],
  [schedule.name, "scheduling"],
  [listSchedules.name, "scheduling"],
  [makeMedia.name, "media_tools"],
]);

/**
 * Created once, because the SDK translates a bare zod schema again at every model call; not before the first of them,
 * which is when the sandbox of the process is known.
 */
function makeToolSets() {
  const { programs } = processWide("sandboxes", () => ({ programs: "" }));
  const schemas = [...runnable, askUserQuestion].map(({ name, description, input }) => {
    const has = name === bash.name && programs !== "" ? `\n- The sandbox has ${programs}.` : "";
    return [
      name,
      tool({ description: description + has, inputSchema: zodSchema<unknown>(input) }),
    ] as const;
  });
  const toolsFor = (isWanted: (name: string) => boolean): ToolSet =>
    Object.fromEntries(schemas.filter(([name]) => isWanted(name)));
  return {
    ofSubagents: toolsFor((name) => ofSubagents.some((each) => each.name === name)),
    chat: toolsFor(() => true),
    headless: toolsFor((name) => name !== askUserQuestion.name),
  };
}

let made: ReturnType<typeof makeToolSets> | undefined;
const toolSets = () => (made ??= makeToolSets());

/** Created once for a turn, because the tokens of a set of tools are estimated once. */
const toolsOfTurns = new WeakMap<object, ToolSet>();

export interface ToolOptions {
  /** Whether no user is present to answer questions. */
  readonly headless: boolean;
  /** The schema of the output to submit; null or absent for none. */
  readonly output_schema?: JsonSchema | null;
  /** The tools that the client runs; null or absent for none. */
  readonly client_tools?: readonly ClientTool[] | null;
  /** The tools of MCP servers that the turn can call. */
  readonly mcp_tools?: readonly McpTool[];
  /** Present for a subagent, which has its own tools. */
  readonly subagent?: object;
  readonly options?: Pick<
    RunOptions,
    "skills" | "tools" | "web_search" | "scheduling" | "media_tools"
  >;
  /** Whether a task has started the turn, which then cannot create tasks. */
  readonly is_of_task?: boolean;
  readonly skills?: TurnSkills;
}

/** Narrowed sets by the names that are left, because the tokens of a set of tools are estimated once. */
const narrowedTools = new WeakMap<ToolSet, Map<string, ToolSet>>();

/**
 * Returns whether the options and the skills of a turn leave it a tool. A skill that names no tool of the agent limits
 * nothing.
 */
export function isLeft(
  name: string,
  { skills, options, is_of_task }: Pick<ToolOptions, "skills" | "options" | "is_of_task">,
): boolean {
  const option = OPTIONS.get(name);
  if (option && !options?.[option]) return false;
  if (name === schedule.name && is_of_task) return false;
  const isAgents = names.includes(name);
  const allowed: readonly string[] | undefined = options?.tools;
  if (isAgents && allowed && !allowed.includes(name)) return false;
  if (!skills) return true;
  return toolLimits(skills, options?.skills).every(
    (limit) => limit.includes(name) || !names.some((known) => limit.includes(known)),
  );
}

function narrow(tools: ToolSet, turn: ToolOptions): ToolSet {
  const names = Object.keys(tools).filter((name) => isLeft(name, turn));
  if (names.length === Object.keys(tools).length) return tools;
  const known = narrowedTools.get(tools) ?? new Map<string, ToolSet>();
  narrowedTools.set(tools, known);
  const narrowed =
    known.get(names.join(" ")) ??
    Object.fromEntries(Object.entries(tools).filter(([name]) => names.includes(name)));
  known.set(names.join(" "), narrowed);
  return narrowed;
}

/**
 * Returns the tools for a model call, without `execute`: the turn runs and records calls itself.
 * @param messages of the turn's steps, with the results of its tools, which may have loaded tools
 */
export function toolSchemas(turn: ToolOptions, messages: readonly ModelMessage[] = []): ToolSet {
  if (turn.subagent) return narrow(toolSets().ofSubagents, turn);
  const tools = toolsWithoutMcp(turn);
  const servers = turn.mcp_tools?.filter(({ name }) => isLeft(name, turn)) ?? [];
  return servers.length > 0 ? withMcpTools(tools, servers, messages) : tools;
}

function toolsWithoutMcp(turn: ToolOptions): ToolSet {
  const { headless, output_schema, client_tools } = turn;
  const { chat, headless: ofRuns } = toolSets();
  const common = narrow(headless ? ofRuns : chat, turn);
  const own = client_tools ?? output_schema;
  if (!own) return common;
  const known = toolsOfTurns.get(own);
  if (known) return known;
  const tools: ToolSet = {
    ...common,
    ...Object.fromEntries(
      (client_tools ?? []).map(({ name, description, input_schema }) => [
        name,
        tool({ description, inputSchema: jsonSchema<unknown>(input_schema) }),
      ]),
    ),
  };
  if (output_schema) {
    tools[SUBMIT_OUTPUT] = tool({
      description: submitOutputDescription,
      inputSchema: jsonSchema<unknown>(toolInputOf(output_schema)),
    });
  }
  toolsOfTurns.set(own, tools);
  return tools;
}

/**
 * Runs one tool call. Never rejects: an unknown tool, a malformed input, a failure and a stop all
 * resolve with `{error}`, whose text is safe to show.
 */
export async function runTool(
  name: string,
  input: unknown,
  context: ToolContext,
  turn: Pick<ToolOptions, "subagent" | "options" | "skills" | "mcp_tools" | "is_of_task"> = {},
): Promise<JSONValue> {
  const { output } = context;
  const { subagent, mcp_tools } = turn;
  const ofServer =
    subagent || !isLeft(name, turn) ? undefined : mcpAgentTool(mcp_tools ?? [], name);
  if (ofServer) return runSafely(ofServer, input, context);
  const isSubmission = name === SUBMIT_OUTPUT && output && !subagent;
  const found = isSubmission
    ? submitOutput(output)
    : (subagent ? ofSubagents : runnable).find(
        (candidate) => candidate.name === name && isLeft(name, turn),
      );
  return found ? runSafely(found, input, context) : toolFailure("There is no such tool");
}

/**
 * Returns whether a call that a crash has cut is run again: a subagent continues, a task and a generation have ids by
 * which they are found, and the validation of an output has no effect.
 */
export const isRepeatable = (name: string): boolean =>
  [task.name, schedule.name, makeMedia.name, SUBMIT_OUTPUT].includes(name);

export type { ToolContext } from "./tool.ts";
