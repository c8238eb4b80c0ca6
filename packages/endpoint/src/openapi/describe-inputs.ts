/** The input of an operation as one JSON Schema. */
import type { oas32 } from "zod-openapi";
import { describeApi } from "./document.ts";
import type { Operation } from "./operation.ts";

/** Returns a function that describes the parameters and the fields of an operation's body together. */
export function inputsOf(described: readonly Operation[]) {
  const { paths } = describeApi({ info: { title: "", version: "" } }, described, {});
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

/** A header is not an argument. */
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
