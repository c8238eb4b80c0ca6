export interface ToolRequest {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Describes the step for people: "running `ls`". */
  readonly label: string;
}

export type PlanStep =
  | { readonly kind: "tools"; readonly calls: readonly ToolRequest[] }
  /** Generated text; each item is one delta. */
  | { readonly kind: "say"; readonly deltas: () => Iterable<string> };
