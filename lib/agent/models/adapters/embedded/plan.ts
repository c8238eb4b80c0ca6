export interface ToolRequest {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What is being done, for people: "running `ls`". */
  readonly label: string;
}

export type PlanStep =
  | { readonly kind: "tools"; readonly calls: readonly ToolRequest[] }
  /** Text that is made, not looked up; one delta an item. */
  | { readonly kind: "say"; readonly deltas: () => Iterable<string> };
