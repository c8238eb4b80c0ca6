/** The ten tools of the agent. */
import { type JSONValue, type ToolSet, tool, zodSchema } from "ai";
import { askUserQuestion } from "./ask-user-question.ts";
import { bash } from "./bash.ts";
import { fetchTool } from "./fetch.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { read } from "./read.ts";
import { runSafely } from "./run-safely.ts";
import { skill } from "./skill.ts";
import { task } from "./task.ts";
import { todo } from "./todo.ts";
import { type AnyAgentTool, type ToolContext, toolFailure } from "./tool.ts";
import { write } from "./write.ts";

const runnable: readonly AnyAgentTool[] = [
  bash,
  read,
  write,
  grep,
  glob,
  todo,
  task,
  skill,
  fetchTool,
];

/** Created once, because the SDK translates a bare zod schema again at every model call. */
const schemas = [...runnable, askUserQuestion].map(
  ({ name, description, input }) =>
    [name, tool({ description, inputSchema: zodSchema<unknown>(input) })] as const,
);
/** What a subagent has: files and commands. */
const ofSubagents: readonly AnyAgentTool[] = [bash, read, write, grep, glob];
const subagentTools: ToolSet = Object.fromEntries(
  schemas.filter(([name]) => ofSubagents.some((each) => each.name === name)),
);
const interactive: ToolSet = Object.fromEntries(schemas);
const headlessTools: ToolSet = Object.fromEntries(
  schemas.filter(([name]) => name !== askUserQuestion.name),
);

/**
 * Returns the tools for a model call, without `execute`: the turn runs and records calls itself.
 */
export function toolSchemas({ headless, subagent }: Agent): ToolSet {
  if (subagent) return subagentTools;
  return headless ? headlessTools : interactive;
}

interface Agent {
  readonly headless: boolean;
  /** Present if it is a subagent. */
  readonly subagent?: object;
}

/**
 * Runs one tool call. Never rejects: an unknown tool, a malformed input, a failure and a stop all
 * resolve with `{error}`, whose text is safe to show.
 */
export async function runTool(
  name: string,
  input: unknown,
  context: ToolContext,
  { subagent }: Pick<Agent, "subagent"> = {},
): Promise<JSONValue> {
  const found = (subagent ? ofSubagents : runnable).find((candidate) => candidate.name === name);
  return found ? runSafely(found, input, context) : toolFailure("There is no such tool");
}

/** Returns whether calls of the tool stay open until the client answers them. */
export const isAnsweredByClient = (name: string): boolean => name === askUserQuestion.name;

export { userAnswer } from "./ask-user-question.ts";
export type { ToolContext } from "./tool.ts";
