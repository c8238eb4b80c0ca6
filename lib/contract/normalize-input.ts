/** Makes `null` count as absent in optional fields, and accepts each field in either spelling. */
import { z } from "zod";

/**
 * Returns `value` in the spelling of `schema` and without the fields that are `null` and optional in it,
 * at any depth that the schema describes. It keeps a `null` that the schema accepts, and one of a field
 * that must not be provided. Of an array that is too long it keeps one item more than allowed, which the
 * schema refuses.
 * @param onConflict called with both spellings of a field that has a different value in each
 */
export function normalizeInput(
  schema: z.ZodType,
  value: unknown,
  onConflict: (name: string, other: string) => void,
): unknown {
  const inner = innermost(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const { element } = inner;
    // One item too many is refused like a million, each of which would have to be visited.
    const items = value.slice(0, maxItems(inner) + 1);
    return element instanceof z.ZodType
      ? items.map((one) => normalizeInput(element, one, onConflict))
      : items;
  }
  if (inner instanceof z.ZodDiscriminatedUnion && isRecord(value)) {
    const kind = inner.def.discriminator;
    const option = inner.options.find(
      (one) => one instanceof z.ZodObject && one.shape[kind]?.safeParse(value[kind]).success,
    );
    return option instanceof z.ZodObject ? normalizeInput(option, value, onConflict) : value;
  }
  if (!(inner instanceof z.ZodObject) || !isRecord(value)) return value;
  // Copied only when a field changes: a body may have thousands of unknown fields.
  let kept = value;
  for (const [name, field] of Object.entries(inner.shape)) {
    const other = otherSpelling(name);
    if (Object.hasOwn(kept, other) && !Object.hasOwn(inner.shape, other)) {
      if (kept === value) kept = { ...value };
      if (Object.hasOwn(kept, name) && JSON.stringify(kept[name]) !== JSON.stringify(kept[other])) {
        onConflict(name, other);
      }
      kept[name] = kept[other];
      delete kept[other];
    }
    if (!Object.hasOwn(kept, name) || !(field instanceof z.ZodType)) continue;
    const isAbsent = kept[name] === null && takesNullAsAbsent(field);
    const given = isAbsent ? undefined : normalizeInput(field, kept[name], onConflict);
    if (given === kept[name]) continue;
    if (kept === value) kept = { ...value };
    if (isAbsent) delete kept[name];
    else kept[name] = given;
  }
  return kept;
}

/** Returns a name in camelCase in snake_case, and the reverse; a single word stays the same. */
export const otherSpelling = (name: string): string =>
  name.includes("_")
    ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the number of items that the schema allows; without a bound, any number. */
function maxItems({ _zod }: z.ZodArray): number {
  const bounds = (_zod.def.checks ?? []).flatMap((check) =>
    check instanceof z.core.$ZodCheckMaxLength ? [check._zod.def.maximum] : [],
  );
  return bounds.length === 0 ? Number.MAX_SAFE_INTEGER - 1 : Math.max(...bounds);
}

/** Returns the schema that callers see: it accepts `null` wherever `normalizeInput` removes it. */
export function withNulls(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodArray) {
    const { element } = schema;
    return element instanceof z.ZodType
      ? z.clone(schema, { ...schema._zod.def, element: withNulls(element) }, { parent: true })
      : schema;
  }
  if (schema instanceof z.ZodOptional) {
    const { innerType } = schema._zod.def;
    return innerType instanceof z.ZodType
      ? z.clone(schema, { ...schema._zod.def, innerType: withNulls(innerType) }, { parent: true })
      : schema;
  }
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const options = schema.options.map((one) => (one instanceof z.ZodType ? withNulls(one) : one));
    return z.clone(schema, { ...schema._zod.def, options }, { parent: true });
  }
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape).map(([name, field]) => {
    if (!(field instanceof z.ZodType)) return [name, field] as const;
    const inside = withNulls(field);
    if (!takesNullAsAbsent(field)) return [name, inside] as const;
    const { description } = field.meta() ?? {};
    return [
      name,
      inside.nullable().meta(description === undefined ? {} : { description }),
    ] as const;
  });
  return z.clone(
    schema,
    { ...schema._zod.def, shape: Object.fromEntries(shape) },
    { parent: true },
  );
}

/** Memoizes `takesNullAsAbsent`, which is called for each `null` of a body. */
const takesNull = new WeakMap<z.ZodType, boolean>();

function takesNullAsAbsent(field: z.ZodType): boolean {
  const known = takesNull.get(field);
  if (known !== undefined) return known;
  const takes =
    !(innermost(field) instanceof z.ZodNever) &&
    field.safeParse(undefined).success &&
    !field.safeParse(null).success;
  takesNull.set(field, takes);
  return takes;
}

/** Returns the schema inside wrappers that make a value optional or transform it. */
function innermost(schema: z.ZodType): z.ZodType {
  const inside =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
      ? schema._zod.def.innerType
      : schema instanceof z.ZodPipe
        ? schema._zod.def.in
        : undefined;
  return inside instanceof z.ZodType ? innermost(inside) : schema;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
