/** Makes `null` count as absent in optional fields, accepts each field in either spelling, and finds unknown fields. */
import { z } from "zod";

/** A field that an object of the input has and its schema does not describe. */
export interface UnknownField {
  /** The fields and indexes from the input to it. */
  readonly path: readonly string[];
  /** The fields that the schema of its object describes. */
  readonly known: Readonly<Record<string, unknown>>;
  /** Whether the schema itself refuses the field (`z.strictObject`). */
  readonly isRefused: boolean;
}

interface Findings {
  /** Called with both spellings of a field that has a different value in each. */
  readonly onConflict: (name: string, other: string) => void;
  /** Called for every field that is unknown in both spellings. */
  readonly onUnknown: (field: UnknownField) => void;
}

/**
 * Returns `value` in the spelling of `schema` and without the fields that are `null` and optional in it,
 * at any depth that the schema describes. It keeps a `null` that the schema accepts, and one of a field
 * that must not be provided. Of an array that is too long it keeps one item more than allowed, which the
 * schema refuses. Records and loose objects have no unknown fields.
 */
export function normalizeInput(
  schema: z.ZodType,
  value: unknown,
  findings: Findings,
  path: readonly string[] = [],
): unknown {
  if (typeof value !== "object" || value === null) return value;
  const inside = (field: z.ZodType, given: unknown, name: string | number): unknown =>
    typeof given === "object"
      ? normalizeInput(field, given, findings, [...path, String(name)])
      : given;
  const inner = chosenOption(innermost(schema), value);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const { element } = inner;
    // One item too many is refused like a million, each of which would have to be visited.
    const items = value.slice(0, maxItems(inner) + 1);
    return element instanceof z.ZodType
      ? items.map((one, index) => inside(element, one, index))
      : items;
  }
  if (!(inner instanceof z.ZodObject) || !isRecord(value)) return value;
  const { shape } = inner;
  // Copied only when a field changes: a body may have thousands of unknown fields.
  let kept = value;
  for (const [name, field] of Object.entries(shape)) {
    const other = otherSpelling(name);
    if (Object.hasOwn(kept, other) && !Object.hasOwn(shape, other)) {
      if (kept === value) kept = { ...value };
      if (Object.hasOwn(kept, name) && JSON.stringify(kept[name]) !== JSON.stringify(kept[other])) {
        findings.onConflict(name, other);
      }
      kept[name] = kept[other];
      delete kept[other];
    }
    if (!Object.hasOwn(kept, name) || !(field instanceof z.ZodType)) continue;
    const isAbsent = kept[name] === null && takesNullAsAbsent(field);
    const given = isAbsent ? undefined : inside(field, kept[name], name);
    if (given === kept[name]) continue;
    if (kept === value) kept = { ...value };
    if (isAbsent) delete kept[name];
    else kept[name] = given;
  }
  reportUnknown(inner, kept, findings, path);
  return kept;
}

function reportUnknown(
  { shape, def: { catchall } }: z.ZodObject,
  value: object,
  { onUnknown }: Findings,
  path: readonly string[],
): void {
  const isRefused = catchall instanceof z.ZodNever;
  if (catchall !== undefined && !isRefused) return;
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(shape, name)) continue;
    onUnknown({ path: [...path, name], known: shape, isRefused });
  }
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

/**
 * Returns the schema that callers see: it accepts `null` wherever `normalizeInput` removes it.
 * @param isStrict whether it refuses the fields that `normalizeInput` finds unknown
 */
export function describedInput(schema: z.ZodType, isStrict: boolean): z.ZodType {
  const inside = <T>(one: T) => (one instanceof z.ZodType ? describedInput(one, isStrict) : one);
  const changed = <S extends z.ZodType>(from: S, changes: Partial<S["_zod"]["def"]>) =>
    z.clone(from, { ...from._zod.def, ...changes }, { parent: true });
  if (schema instanceof z.ZodArray) return changed(schema, { element: inside(schema.element) });
  if (schema instanceof z.ZodUnion) return changed(schema, { options: schema.options.map(inside) });
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  ) {
    return changed(schema, { innerType: inside(schema._zod.def.innerType) });
  }
  if (!(schema instanceof z.ZodObject)) return schema;
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    if (!(field instanceof z.ZodType) || !takesNullAsAbsent(field)) return [name, inside(field)];
    const { description } = field.meta() ?? {};
    return [
      name,
      describedInput(field, isStrict)
        .nullable()
        .meta(description === undefined ? {} : { description }),
    ];
  });
  const { catchall = isStrict ? z.never() : undefined } = schema._zod.def;
  return changed(schema, { shape: Object.fromEntries(fields), ...(catchall && { catchall }) });
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
export function innermost(schema: z.ZodType): z.ZodType {
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

/** Returns the option of a union that describes the value; the union itself if that is not exactly one. */
function chosenOption(schema: z.ZodType, value: object): z.ZodType {
  if (!(schema instanceof z.ZodUnion)) return schema;
  const options = schema.options.flatMap((one) => (one instanceof z.ZodType ? innermost(one) : []));
  const fitting =
    schema instanceof z.ZodDiscriminatedUnion
      ? options.filter((one) => hasKind(one, schema.def.discriminator, value))
      : options.filter((one) => one instanceof (Array.isArray(value) ? z.ZodArray : z.ZodObject));
  const [option] = fitting;
  return option && fitting.length === 1 ? option : schema;
}

const hasKind = (option: z.ZodType, discriminator: string, value: object): boolean =>
  option instanceof z.ZodObject &&
  z.safeParse(option.shape[discriminator], Reflect.get(value, discriminator)).success;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
