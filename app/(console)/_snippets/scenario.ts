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

/** A request that sets a new chat up; its path is relative to the chat's. */
export interface SetupRequest {
  readonly method: "PATCH" | "PUT";
  readonly path: "" | "/connectors";
  readonly body: Readonly<Record<string, unknown>>;
}

/** Returns the requests that set a new chat up; none when everything is the default. */
export function setupRequests(setup: AgentSetup): SetupRequest[] {
  const { modelId, instructions, templateId, connectors, options } = setup;
  const fields = {
    ...(modelId && { modelId }),
    ...(instructions && { instructions }),
    ...(templateId && { templateId }),
    ...options,
  };
  const requests: SetupRequest[] = [
    { method: "PATCH", path: "", body: fields },
    { method: "PUT", path: "/connectors", body: connectors.length > 0 ? { connectors } : {} },
  ];
  return requests.filter(({ body }) => Object.keys(body).length > 0);
}

/** Returns a line about the connectors of a chat that exists, which stay as they are; `""` without any. */
export const noteOf = ({ chat, setup: { connectors } }: ChatScenario, mark: string): string =>
  chat === null || connectors.length === 0
    ? ""
    : `${mark} In this chat, the agent may act with ${connectors.join(", ")}.\n`;

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
