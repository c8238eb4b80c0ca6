/** The tools of the MCP server, made from the contracts that offer one. */
import type { Tool } from "@modelcontextprotocol/server";
import type { oas32 } from "zod-openapi";
import type { Caller } from "../identity/credentials/caller.ts";
import { describeApi } from "./document.ts";
import { type Operation, operations } from "./registry.ts";

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

/** Returns a function that describes the parameters and the fields of an operation's body together. */
export function inputsOf(described: readonly Operation[]) {
  const { paths } = describeApi(described, {}, undefined);
  return ({ contract: { method, path } }: Operation) => {
    const operation = paths?.[path]?.[method.toLowerCase() as Lowercase<typeof method>];
    return mergeSchemas([
      ...(operation?.parameters ?? []).map(ofParameter),
      ofBody(operation?.requestBody),
    ]);
  };
}

interface Fields {
  readonly properties?: Readonly<Record<string, oas32.SchemaObject | oas32.ReferenceObject>>;
  readonly required?: readonly string[];
}

function mergeSchemas(parts: readonly Fields[]) {
  return {
    type: "object" as const,
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
    additionalProperties: false,
  };
}

/** A header is no argument. */
function ofParameter(parameter: oas32.ParameterObject | oas32.ReferenceObject): Fields {
  if (!("name" in parameter)) return {};
  const { name, in: place, schema, description, required } = parameter;
  if ((place !== "path" && place !== "query") || typeof schema !== "object") return {};
  const field = { ...schema, ...(description !== undefined && { description }) };
  return { properties: { [name]: field }, required: required ? [name] : [] };
}

function ofBody(body: oas32.RequestBodyObject | oas32.ReferenceObject | undefined): Fields {
  const json = body && "content" in body ? body.content["application/json"] : undefined;
  const schema = json && "schema" in json ? json.schema : undefined;
  return typeof schema === "object" && "properties" in schema ? schema : {};
}
