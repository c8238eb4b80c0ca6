/** Schemas that convert rows of the database to the forms of the contracts. */
import { z } from "zod";

/** Converts any ISO 8601 form with an offset to UTC with milliseconds. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text).toISOString());

/**
 * Returns the schema of the row of a resource. A field is read from the column with its name in snake case;
 * an optional field is absent when the column is null. A field without a column may be in the object `options`.
 * @param columns the columns of fields that have another name
 */
export function rowOf<S extends z.ZodObject>(
  resource: S,
  columns: { readonly [field: string]: string } = {},
): z.ZodType<z.output<S>> {
  const fields = Object.entries(resource.shape).map(([field, schema]) => ({
    field,
    column: columns[field] ?? field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    isOptional: schema instanceof z.ZodOptional,
    isDate: isDate(schema),
  }));
  return z
    .looseObject({})
    .transform((row) => {
      const values: Record<string, unknown> = {};
      const options = new Map(Object.entries(Object(row.options)));
      for (const { field, column, isOptional, isDate } of fields) {
        const value = column in row ? row[column] : options.get(column);
        if (value === undefined || (isOptional && value === null)) continue;
        values[field] = isDate && value !== null ? timestamp.parse(value) : value;
      }
      return values;
    })
    .pipe(resource);
}

function isDate(schema: unknown): boolean {
  return schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? isDate(schema.unwrap())
    : schema instanceof z.ZodISODateTime;
}

/**
 * Returns the schema of a column with codes, which it turns into sentences.
 * @param sentences by code. Another text, such as the words of a person, stays as it is.
 */
export const sentenceOf = (sentences: Readonly<Record<string, string>>) =>
  z.string().transform((code) => sentences[code] ?? code);
