/** JSON Schemas of callers: their structure, without validating values, which `validate-worker.ts` does. */

export type JsonSchema = { readonly [keyword: string]: unknown };
type Subschema = JsonSchema | boolean;

const MAX_BYTES = 64 * 1024;
/** Nested objects and arrays, the schema itself included. */
const MAX_DEPTH = 20;
/** The subschemas that may apply to one value, however often they are referenced. */
const MAX_SUBSCHEMAS_PER_VALUE = 10_000;
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Where a keyword has its subschemas. */
const KEYWORDS: Readonly<Record<string, "one" | "list" | "map">> = {
  $defs: "map",
  definitions: "map",
  properties: "map",
  patternProperties: "map",
  dependentSchemas: "map",
  allOf: "list",
  anyOf: "list",
  oneOf: "list",
  prefixItems: "list",
  additionalProperties: "one",
  contains: "one",
  contentSchema: "one",
  else: "one",
  if: "one",
  items: "one",
  not: "one",
  propertyNames: "one",
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: "one",
  unevaluatedItems: "one",
  unevaluatedProperties: "one",
};
/** Their subschemas apply to the same value as the schema that has them. */
const IN_PLACE = new Set([
  ...["allOf", "anyOf", "oneOf", "dependentSchemas"],
  ...["if", "then", "else", "not"],
]);
/** They change how references are resolved, or how the validator answers. */
const UNSUPPORTED = ["$id", "$anchor", "$async", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"];
/** Providers reject them at the root of a tool's input. */
const NOT_AT_ROOT = ["$ref", "allOf", "anyOf", "enum", "not", "oneOf"];

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the subschemas of a keyword with the last parts of their JSON pointers. */
function subschemasOf(keyword: string, value: unknown): [part: string, schema: Subschema][] {
  const kind = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
  const found: [string, unknown][] =
    kind === "one"
      ? [[keyword, value]]
      : kind === undefined || typeof value !== "object" || value === null
        ? []
        : Object.entries(value).map(([name, inner]) => [`${keyword}/${escapePart(name)}`, inner]);
  return found.filter(
    (entry): entry is [string, Subschema] => isObject(entry[1]) || typeof entry[1] === "boolean",
  );
}

const escapePart = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/**
 * Returns the problem of a schema that no validator should be given; null if it has none: it is small, and
 * refers to itself only, and applies a bounded number of subschemas to a value.
 */
export function faultOfSchema(schema: JsonSchema): string | null {
  if (isDeeper(schema, MAX_DEPTH)) return `must be nested at most ${MAX_DEPTH} levels deep`;
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) {
    return `must be at most ${MAX_BYTES / 1024} kB of JSON`;
  }
  if (schema.$schema !== undefined && withoutFragment(schema.$schema) !== DIALECT) {
    return `has an unsupported $schema: it must be ${DIALECT} or absent`;
  }
  const schemas = new Map<string, Subschema>();
  const { $id: _, ...rest } = schema;
  collect("", rest, schemas);
  for (const [pointer, found] of schemas) {
    if (!isObject(found)) continue;
    const unsupported = UNSUPPORTED.find((keyword) => Object.hasOwn(found, keyword));
    if (unsupported)
      return `has ${unsupported} at ${pointer || "its root"}, which is not supported`;
    const { $ref } = found;
    if ($ref === undefined) continue;
    if (typeof $ref !== "string" || !$ref.startsWith("#")) {
      return `has a $ref to another document at ${pointer || "its root"}: put the schema into $defs`;
    }
    if (!schemas.has(pointerIn($ref))) {
      return `has a $ref that is no subschema at ${pointer || "its root"}: ${$ref.slice(0, 100)}`;
    }
  }
  return faultOfReferences(schemas);
}

const withoutFragment = (value: unknown): unknown =>
  typeof value === "string" ? value.replace(/#$/, "") : value;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function collect(pointer: string, schema: Subschema, found: Map<string, Subschema>): void {
  found.set(pointer, schema);
  if (!isObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    for (const [part, inner] of subschemasOf(keyword, value)) {
      collect(`${pointer}/${part}`, inner, found);
    }
  }
}

/** Returns the JSON pointer of a local reference, with its parts as `collect` writes them. */
function pointerIn(reference: string): string {
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return reference;
  }
}

/** Finds references that apply a schema to a value again and again, or too many schemas to it. */
function faultOfReferences(schemas: ReadonlyMap<string, Subschema>): string | null {
  const counts = new Map<string, number>();
  const open = new Set<string>();
  /** Returns how many subschemas apply to a value in place; infinite for a circle. */
  const count = (pointer: string): number => {
    const known = counts.get(pointer);
    if (known !== undefined) return known;
    const schema = schemas.get(pointer);
    if (!isObject(schema)) return 1;
    if (open.has(pointer)) return Number.POSITIVE_INFINITY;
    open.add(pointer);
    let sum = 1;
    for (const [keyword, value] of Object.entries(schema)) {
      if (!IN_PLACE.has(keyword)) continue;
      for (const [part] of subschemasOf(keyword, value)) sum += count(`${pointer}/${part}`);
    }
    if (typeof schema.$ref === "string") sum += count(pointerIn(schema.$ref));
    open.delete(pointer);
    counts.set(pointer, sum);
    return sum;
  };
  for (const pointer of schemas.keys()) {
    const applied = count(pointer);
    const place = pointer || "its root";
    if (applied === Number.POSITIVE_INFINITY) return `refers to itself without an end at ${place}`;
    if (applied > MAX_SUBSCHEMAS_PER_VALUE) {
      return `applies more than ${MAX_SUBSCHEMAS_PER_VALUE} subschemas to one value at ${place}`;
    }
  }
  return null;
}

/** Returns whether the output is the field `output` of the tool's input, and not the input itself. */
export const isWrapped = (schema: JsonSchema): boolean =>
  schema.type !== "object" || NOT_AT_ROOT.some((keyword) => Object.hasOwn(schema, keyword));

/** Returns the schema of the input of the tool that submits an output. It is an object, as providers require. */
export function toolInputOf({ $schema: _, $id: __, ...schema }: JsonSchema): JsonSchema {
  if (!isWrapped(schema)) return schema;
  const { $defs, definitions, ...output } = relocate(schema);
  return {
    type: "object",
    properties: { output },
    required: ["output"],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** Changes the references of a schema that becomes `properties/output`, all but the ones to its definitions. */
function relocate(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === "$ref" && typeof value === "string") return [keyword, relocated(value)];
      const kind = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
      const inner = (each: unknown) => (isObject(each) ? relocate(each) : each);
      if (kind === "one") return [keyword, inner(value)];
      if (kind === "list" && Array.isArray(value)) return [keyword, value.map(inner)];
      if (kind !== "map" || !isObject(value)) return [keyword, value];
      const entries = Object.entries(value).map(([name, each]) => [name, inner(each)]);
      return [keyword, Object.fromEntries(entries)];
    }),
  );
}

const relocated = (reference: string): string =>
  /^#\/(?:\$defs|definitions)\//.test(reference)
    ? reference
    : `#/properties/output${reference.slice(1)}`;
