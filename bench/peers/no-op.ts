import type { Script, ScriptPart } from "../../tests/support/fakes/openai.ts";

/** Asks for a tool that does nothing. Of the product's, its list of tasks only keeps its input. */
export function noOp({ tools }: Parameters<Script>[0]): ScriptPart {
  const todos = [{ id: "1", content: "Nothing", status: "completed" }];
  return tools.includes("noop") ? { tool: "noop", input: {} } : { tool: "todo", input: { todos } };
}
