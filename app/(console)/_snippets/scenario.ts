export type Scenario = ChatScenario | RunScenario;

export interface AgentSetup {
  /** Null for the default model. */
  readonly modelId: string | null;
  readonly instructions: string | null;
  readonly templateId: string | null;
  readonly connectors: readonly string[];
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Sends a message and reads the answer while it is written. */
export interface ChatScenario {
  readonly kind: "chat";
  /** Null for a new chat, which is set up first; a chat that exists is left as it is. */
  readonly chat: { readonly sessionId: string; readonly chatId: string } | null;
  readonly message: string;
  readonly setup: AgentSetup;
  /** In tokens; null for no limit. */
  readonly contextLimit: number | null;
}

/** Starts a headless run and waits for its end. */
export type RunScenario = Readonly<{ kind: "run"; prompt: string; setup: AgentSetup }>;

export interface Target {
  readonly baseUrl: string;
  /** Null for the environment variable `AGENT_PLATFORM_API_KEY`. */
  readonly apiKey: string | null;
}

/** The fields with which `PATCH` sets a chat up; null when there is nothing to set. */
export function chatFields({
  modelId,
  instructions,
  templateId,
  options,
}: AgentSetup): Readonly<Record<string, unknown>> | null {
  const fields = {
    ...(modelId && { modelId }),
    ...(instructions && { instructions }),
    ...(templateId && { templateId }),
    ...options,
  };
  return Object.keys(fields).length === 0 ? null : fields;
}

/** A comment on the connectors of a chat that exists, which stay as they are; null without any. */
export const connectorsNote = ({ chat, setup: { connectors } }: ChatScenario): string | null =>
  chat === null || connectors.length === 0
    ? null
    : `In this chat, the agent may act with ${connectors.join(", ")}.`;

/** The body of `POST /api/chat/runs`. */
export const runBody = ({ prompt, setup }: RunScenario): Readonly<Record<string, unknown>> => ({
  prompt,
  ...(setup.modelId && { model: setup.modelId }),
  ...(setup.instructions && { instructions: setup.instructions }),
  ...(setup.templateId && { template_id: setup.templateId }),
  ...(setup.connectors.length > 0 && { connectors: setup.connectors }),
  ...setup.options,
});

export const json = (value: unknown): string => JSON.stringify(value, null, 2);
