/** Optional fields of a body take `null` as if they were absent; here once, for every contract. */
import { z } from "zod";

/**
 * Returns `value` without the fields that are `null` and optional in `schema`, at any depth that the
 * schema describes. A field whose schema has a meaning for `null`, and one that must not be given,
 * stay as they are. A list that is too long stays so, but loses what follows its first item too many.
 */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  const inner = innermost(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const { element } = inner;
    // One more than there may be is as wrong as a million more, each of which would be looked at.
    const items = value.slice(0, mostItems(inner) + 1);
    return element instanceof z.ZodType ? items.map((one) => withoutNulls(element, one)) : items;
  }
  if (!(inner instanceof z.ZodObject) || !isRecord(value)) return value;
  // Copied once it has to be: a body may have thousands of fields that nobody knows.
  let kept = value;
  for (const [name, field] of Object.entries(inner.shape)) {
    if (!Object.hasOwn(value, name) || !(field instanceof z.ZodType)) continue;
    const isAbsent = value[name] === null && takesNullAsAbsent(field);
    const given = isAbsent ? undefined : withoutNulls(field, value[name]);
    if (given === value[name]) continue;
    if (kept === value) kept = { ...value };
    if (isAbsent) delete kept[name];
    else kept[name] = given;
  }
  return kept;
}

/** How many items the schema allows before it changes them; without a bound, any number. */
function mostItems({ _zod }: z.ZodArray): number {
  const bounds = (_zod.def.checks ?? []).flatMap((check) =>
    check instanceof z.core.$ZodCheckMaxLength ? [check._zod.def.maximum] : [],
  );
  return bounds.length === 0 ? Number.MAX_SAFE_INTEGER - 1 : Math.max(...bounds);
}

/** Returns the schema as a caller may use it: where `withoutNulls` takes `null`, it says so. */
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

/** What `takesNullAsAbsent` found out: it is asked for each null of a body. */
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

/** What is inside of the wrappers that only say when a value may be left out, or change it after. */
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
