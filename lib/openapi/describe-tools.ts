/** The tools of the MCP server, made from the contracts that offer one. */
import type { Tool } from "@modelcontextprotocol/server";
import { inputsOf } from "@platform/endpoint/openapi/describe-inputs";
import type { Operation } from "@platform/endpoint/openapi/operation";
import type { Caller } from "../identity/credentials/caller.ts";
import { operations } from "./registry.ts";

/** The operations that are tools. */
export const toolOperations: readonly Operation[] = operations.filter(
  ({ contract }) => contract.tool,
);

/** Made once for each copy of this module: `next dev` evaluates it again when a contract changes. */
let described: readonly { readonly tool: Tool; readonly forRuns: boolean }[] | undefined;

/** Returns the tools that the caller's credential may be good for; each call is checked by itself. */
export function describeTools({ credential }: Pick<Caller, "credential">): readonly Tool[] {
  described ??= describeAll();
  const offered = described.filter(({ forRuns }) => forRuns || credential.kind !== "run");
  return offered.map(({ tool }) => tool);
}

function describeAll() {
  const inputOf = inputsOf(toolOperations);
  return toolOperations.map((operation) => {
    const { id, contract } = operation;
    const { method, summary, description, runCredential } = contract;
    const tool: Tool = {
      name: id,
      title: summary,
      description: description === undefined ? summary : `${summary}. ${description}`,
      inputSchema: inputOf(operation),
      annotations: {
        readOnlyHint: method === "GET",
        idempotentHint: method === "PUT" || method === "DELETE",
        destructiveHint: method === "DELETE",
      },
    };
    return { tool, forRuns: runCredential !== undefined };
  });
}
