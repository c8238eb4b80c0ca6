/** The ten tools of the agent, and the one that submits the output of a run. */
import { type JSONValue, jsonSchema, type ToolSet, tool, zodSchema } from "ai";
import { type JsonSchema, toolInputOf } from "../output/json-schema.ts";
import { askUserQuestion } from "./ask-user-question.ts";
import { bash } from "./bash.ts";
import { fetchTool } from "./fetch.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { read } from "./read.ts";
import { runSafely } from "./run-safely.ts";
import { skill } from "./skill.ts";
import { SUBMIT_OUTPUT, submitOutput, submitOutputDescription } from "./submit-output.ts";
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

/** Created once for a turn, because the tokens of a set of tools are estimated once. */
const toolsOfOutputs = new WeakMap<JsonSchema, ToolSet>();

export interface ToolOptions {
  /** Whether no user is present to answer questions. */
  readonly headless: boolean;
  /** The schema of the output to submit; null or absent for none. */
  readonly output_schema?: JsonSchema | null;
  /** Present for a subagent, which has its own tools. */
  readonly subagent?: object;
}

/**
 * Returns the tools for a model call, without `execute`: the turn runs and records calls itself.
 */
export function toolSchemas({ headless, output_schema, subagent }: ToolOptions): ToolSet {
  if (subagent) return subagentTools;
  const common = headless ? headlessTools : interactive;
  if (!output_schema) return common;
  const known = toolsOfOutputs.get(output_schema);
  if (known) return known;
  const tools: ToolSet = {
    ...common,
    [SUBMIT_OUTPUT]: tool({
      description: submitOutputDescription,
      inputSchema: jsonSchema<unknown>(toolInputOf(output_schema)),
    }),
  };
  toolsOfOutputs.set(output_schema, tools);
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
  { subagent }: Pick<ToolOptions, "subagent"> = {},
): Promise<JSONValue> {
  const { output } = context;
  const isSubmission = name === SUBMIT_OUTPUT && output && !subagent;
  const found = isSubmission
    ? submitOutput(output)
    : (subagent ? ofSubagents : runnable).find((candidate) => candidate.name === name);
  return found ? runSafely(found, input, context) : toolFailure("There is no such tool");
}

/**
 * Returns whether a call that a crash has cut is run again: a subagent continues, and the validation of an
 * output has no effect.
 */
export const isRepeatable = (name: string): boolean => name === task.name || name === SUBMIT_OUTPUT;

/** Returns whether calls of the tool stay open until the client answers them. */
export const isAnsweredByClient = (name: string): boolean => name === askUserQuestion.name;

export { userAnswer } from "./ask-user-question.ts";
export type { ToolContext } from "./tool.ts";
