import type { AgentSetup } from "../_snippets/scenario.ts";

/** The largest context limit that the API takes. */
const MAX_CONTEXT_LIMIT = 10_000_000;

/** What to send when one has no message of one's own. */
export const EXAMPLE = "Draft a release plan for a single that comes out in eight weeks";

/** What the panel of the playground sets. */
export interface PlaygroundSetup {
  readonly source: "text" | "template";
  readonly instructions: string;
  readonly templateId: string;
  /** Empty for the default model. */
  readonly modelId: string;
  /** In tokens; empty for no limit. */
  readonly contextLimit: string;
  readonly connectors: readonly string[];
}

export const defaultSetup: PlaygroundSetup = {
  source: "text",
  instructions: "",
  templateId: "",
  modelId: "",
  contextLimit: "",
  connectors: [],
};

export const toAgentSetup = (setup: PlaygroundSetup): AgentSetup => ({
  modelId: setup.modelId || null,
  instructions: (setup.source === "text" && setup.instructions.trim()) || null,
  templateId: (setup.source === "template" && setup.templateId) || null,
  connectors: setup.connectors,
});

/** Returns the limit in tokens, null for none, or undefined when the text is not a valid number. */
export function readContextLimit(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const limit = Number(text);
  const isValid = Number.isInteger(limit) && limit >= 1 && limit <= MAX_CONTEXT_LIMIT;
  return isValid ? limit : undefined;
}
