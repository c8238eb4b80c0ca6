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

const MAX_NAMED_CHARS = 100;

/** A subschema, by the parts of its JSON pointer. Pointers are only joined in errors: they may be long. */
interface Place {
  readonly schema: Subschema;
  readonly parent?: Place;
  readonly parts: readonly string[];
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSubschema = (value: unknown): value is Subschema =>
  isObject(value) || typeof value === "boolean";

const kindOf = (keyword: string) =>
  Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;

function subschemasOf(keyword: string, value: unknown): Pick<Place, "schema" | "parts">[] {
  const kind = kindOf(keyword);
  const found: [schema: unknown, parts: string[]][] =
    kind === "one"
      ? [[value, [keyword]]]
      : kind === undefined || typeof value !== "object" || value === null
        ? []
        : Object.entries(value).map(([name, inner]) => [inner, [keyword, name]]);
  return found.flatMap(([schema, parts]) => (isSubschema(schema) ? [{ schema, parts }] : []));
}

function nameOf(place: Place): string {
  const parts: string[] = [];
  for (let each: Place | undefined = place; each; each = each.parent) parts.unshift(...each.parts);
  return shorten(parts.map((part) => `/${escapePart(part)}`).join("")) || "its root";
}

const shorten = (text: string): string => text.slice(0, MAX_NAMED_CHARS);

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
  const { $id: _, ...root } = schema;
  const places = collect({ schema: root, parts: [] });
  for (const place of places) {
    const { schema: found } = place;
    if (!isObject(found)) continue;
    const unsupported = UNSUPPORTED.find((keyword) => Object.hasOwn(found, keyword));
    if (unsupported) return `has ${unsupported} at ${nameOf(place)}, which is not supported`;
    const { $ref } = found;
    if ($ref === undefined) continue;
    if (typeof $ref !== "string" || !$ref.startsWith("#")) {
      return `has a $ref to another document at ${nameOf(place)}: put the schema into $defs`;
    }
    if (resolve(root, $ref) === undefined) {
      return `has a $ref that is no subschema at ${nameOf(place)}: ${shorten($ref)}`;
    }
  }
  return faultOfReferences(root, places);
}

const withoutFragment = (value: unknown): unknown =>
  typeof value === "string" ? value.replace(/#$/, "") : value;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function collect(place: Place, found: Place[] = []): readonly Place[] {
  found.push(place);
  if (!isObject(place.schema)) return found;
  for (const [keyword, value] of Object.entries(place.schema)) {
    for (const inner of subschemasOf(keyword, value)) collect({ ...inner, parent: place }, found);
  }
  return found;
}

/** Returns the subschema that a local reference names, if there is one. */
function resolve(root: Subschema, reference: string): Subschema | undefined {
  const [start, ...parts] = decoded(reference.slice(1)).split("/");
  let value: unknown = start === "" ? root : undefined;
  for (let next = 0; next < parts.length && isObject(value); ) {
    const keyword = parts[next++] ?? "";
    const kind = kindOf(keyword);
    const inner = kind && own(value, keyword);
    value = kind === "one" ? inner : own(inner, unescapePart(parts[next++] ?? ""));
    if (next >= parts.length) return isSubschema(value) ? value : undefined;
  }
  return parts.length === 0 && isSubschema(value) ? value : undefined;
}

const own = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;

const unescapePart = (part: string): string => part.replaceAll("~1", "/").replaceAll("~0", "~");

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Finds references that apply a schema to a value again and again, or too many schemas to it. */
function faultOfReferences(root: JsonSchema, places: readonly Place[]): string | null {
  const counts = new Map<JsonSchema, number>();
  const open = new Set<JsonSchema>();
  /** Returns how many subschemas apply to a value in place; infinite for a circle. */
  const count = (schema: Subschema | undefined): number => {
    if (!isObject(schema)) return 1;
    const known = counts.get(schema);
    if (known !== undefined) return known;
    if (open.has(schema)) return Number.POSITIVE_INFINITY;
    open.add(schema);
    let sum = 1;
    for (const [keyword, value] of Object.entries(schema)) {
      if (!IN_PLACE.has(keyword)) continue;
      for (const inner of subschemasOf(keyword, value)) sum += count(inner.schema);
    }
    if (typeof schema.$ref === "string") sum += count(resolve(root, schema.$ref));
    open.delete(schema);
    counts.set(schema, sum);
    return sum;
  };
  for (const place of places) {
    const applied = count(place.schema);
    if (applied === Number.POSITIVE_INFINITY) {
      return `refers to itself without an end at ${nameOf(place)}`;
    }
    if (applied > MAX_SUBSCHEMAS_PER_VALUE) {
      return `applies more than ${MAX_SUBSCHEMAS_PER_VALUE} subschemas to one value at ${nameOf(place)}`;
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
      const kind = kindOf(keyword);
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
