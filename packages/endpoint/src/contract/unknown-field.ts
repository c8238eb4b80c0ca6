/** Describes unknown fields of a request, with the known field that was probably meant. */
import { z } from "zod";
import { innermost, type UnknownField } from "./normalize-input.ts";

/** Longer than any field; a hint for a longer name would be wrong and slow. */
const MAX_HINTED_CHARS = 64;
/** Of a name in an error's text. */
const MAX_SHOWN_CHARS = 200;

/** Returns the dotted path of a field. An empty name is written as `""`. */
export const fieldName = ({ path }: UnknownField): string =>
  path.map((name) => name || '""').join(".");

/**
 * Returns the sentence of an unknown field. It names the nearest field beside it, or one elsewhere in the
 * schema that is nearer.
 * @param schema of the query or body that has the field
 */
export function describeUnknownField(
  field: UnknownField,
  schema: z.ZodType,
  kind: "field" | "parameter",
): string {
  const nearest = nearestField(field, schema);
  const sentence = `${fieldName(field).slice(0, MAX_SHOWN_CHARS)} is not a known ${kind}`;
  return nearest === undefined ? sentence : `${sentence}: did you mean ${nearest}?`;
}

function nearestField({ path, known }: UnknownField, schema: z.ZodType): string | undefined {
  const name = plain(path.at(-1) ?? "");
  if (name.length > MAX_HINTED_CHARS) return undefined;
  const allowed = Math.ceil(name.length / 3);
  const beside = path.slice(0, -1);
  const candidates = [
    ...Object.keys(known).map((other) => ({ path: [...beside, other], penalty: 0 })),
    ...fieldsOf(schema, []).map((other) => ({ path: other, penalty: 1 })),
  ];
  let nearest: { readonly path: readonly string[]; readonly distance: number } | undefined;
  for (const { path: other, penalty } of candidates) {
    const edits = editDistance(name, plain(other.at(-1) ?? ""));
    const distance = edits + penalty;
    if (edits > allowed || (nearest && nearest.distance <= distance)) continue;
    nearest = { path: other, distance };
  }
  return nearest?.path.join(".");
}

/** Returns a name without the differences between camelCase and snake_case. */
const plain = (name: string): string => name.replaceAll("_", "").toLowerCase();

/** Returns the paths of the fields within objects, except fields that only some kinds have. */
function fieldsOf(schema: z.ZodType, path: readonly string[]): readonly (readonly string[])[] {
  const inner = innermost(schema);
  if (inner instanceof z.ZodUnion && !(inner instanceof z.ZodDiscriminatedUnion)) {
    return inner.options.flatMap((one) => (one instanceof z.ZodType ? fieldsOf(one, path) : []));
  }
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape).flatMap(([name, field]) => [
    [...path, name],
    ...(field instanceof z.ZodType ? fieldsOf(field, [...path, name]) : []),
  ]);
}

/** Returns the number of characters to insert, delete or replace (Levenshtein). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, char] of [...from].entries()) {
    const next = [index + 1];
    for (let at = 0; at < to.length; at++) {
      const replaced = (row[at] ?? 0) + (char === to[at] ? 0 : 1);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
