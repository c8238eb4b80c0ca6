/** A tool as the protocol lists it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
  };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly idempotentHint: boolean;
    readonly destructiveHint: boolean;
  };
}

/** Calls the endpoint of a tool; null for a name that is no tool's. */
export type CallTool = (
  name: string,
  input: Readonly<Record<string, unknown>>,
) => Promise<Response> | null;
