import type { AgentSetup } from "../_snippets/scenario.ts";
import { agentTools } from "./agent-tools.ts";

/** The message that the page suggests. */
export const EXAMPLE = "Draft a release plan for a single that comes out in eight weeks";

/** The settings that are numbers; an empty field leaves one to the model. */
export const numberFields = {
  contextLimit: { label: "Context limit", max: 10_000_000, placeholder: "No limit" },
  temperature: { label: "Temperature", max: 2, placeholder: "The model’s own" },
  maxOutputTokens: { label: "Answer limit", max: 1_000_000, placeholder: "The model’s own" },
} as const;
export type NumberField = keyof typeof numberFields;

/** The values of the playground's panel. */
export type PlaygroundSetup = Readonly<typeof defaultSetup>;

export const defaultSetup = {
  ...{ contextLimit: "", temperature: "", maxOutputTokens: "" },
  source: "text" as "text" | "template",
  ...{ instructions: "", templateId: "" },
  /** Empty for the default model. */
  modelId: "",
  connectors: [] as readonly string[],
  /** The names of the tools that the agent may use. */
  tools: agentTools.map(({ name }): string => name) as readonly string[],
};

/** Returns a number, null for none, or undefined when the text of the field is not a valid one. */
export function readNumber(setup: PlaygroundSetup, field: NumberField): number | null | undefined {
  const text = setup[field].trim();
  if (text === "") return null;
  const number = Number(text);
  const isWhole = Number.isInteger(number) && number >= 1;
  const isValid = field === "temperature" ? number >= 0 : isWhole;
  return isValid && number <= numberFields[field].max ? number : undefined;
}

/** Returns the label of a field that is to be corrected, if there is one. */
export function faultOf(setup: PlaygroundSetup): string | undefined {
  const names = Object.keys(numberFields) as NumberField[];
  const invalid = names.find((field) => readNumber(setup, field) === undefined);
  return invalid && numberFields[invalid].label;
}

export function toAgentSetup(setup: PlaygroundSetup): AgentSetup {
  const temperature = readNumber(setup, "temperature") ?? undefined;
  const max_output_tokens = readNumber(setup, "maxOutputTokens") ?? undefined;
  return {
    modelId: setup.modelId || null,
    instructions: (setup.source === "text" && setup.instructions.trim()) || null,
    templateId: (setup.source === "template" && setup.templateId) || null,
    connectors: setup.connectors,
    options: {
      ...(setup.tools.length < agentTools.length && { tools: [...setup.tools] }),
      ...(temperature !== undefined && { temperature }),
      ...(max_output_tokens !== undefined && { max_output_tokens }),
    },
  };
}
