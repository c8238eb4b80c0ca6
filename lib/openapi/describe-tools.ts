/** The tools of the MCP server, made from the contracts that offer one. */
import type { Caller } from "../identity/credentials/caller.ts";
import type { Tool } from "../mcp/serve-message.ts";
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
  const { paths } = describeApi(toolOperations, {}, undefined);
  return toolOperations.map(({ id, contract }) => {
    const { method, path, summary, description, runCredential } = contract;
    const verb = method.toLowerCase() as Lowercase<typeof method>;
    const operation = paths?.[path]?.[verb];
    const tool: Tool = {
      name: id,
      title: summary,
      description: description === undefined ? summary : `${summary}. ${description}`,
      inputSchema: mergeSchemas([
        ...(operation?.parameters ?? []).map(ofParameter),
        ofBody(operation?.requestBody),
      ]),
      annotations: {
        readOnlyHint: method === "GET",
        idempotentHint: method === "PUT" || method === "DELETE",
        destructiveHint: method === "DELETE",
      },
    };
    return { tool, forRuns: runCredential !== undefined };
  });
}

type Fields = Pick<Tool["inputSchema"], "properties" | "required">;
const none: Fields = { properties: {}, required: [] };

function mergeSchemas(parts: readonly Fields[]): Tool["inputSchema"] {
  return {
    type: "object",
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => required),
  };
}

/** A header is no argument. */
function ofParameter(parameter: object): Fields {
  if (!("name" in parameter && "in" in parameter && "schema" in parameter)) return none;
  const { name, schema } = parameter;
  const isArgument = parameter.in === "path" || parameter.in === "query";
  if (!isArgument || typeof name !== "string" || typeof schema !== "object") return none;
  const description = "description" in parameter ? { description: parameter.description } : {};
  const isRequired = "required" in parameter && parameter.required === true;
  return {
    properties: { [name]: { ...schema, ...description } },
    required: isRequired ? [name] : [],
  };
}

function ofBody(body: object | undefined): Fields {
  if (!body || !("content" in body)) return none;
  const { content } = body as { content: Readonly<Record<string, { schema?: Partial<Fields> }>> };
  const { properties = {}, required = [] } = content["application/json"]?.schema ?? {};
  return { properties, required };
}
