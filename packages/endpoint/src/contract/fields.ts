/** Schemas that several contracts share. */

import { hidesCharacters } from "@platform/kit/visible-name";
import { z } from "zod";
import { hasTags } from "./visible-text.ts";

/** Of a path in a sandbox. */
export const MAX_PATH_CHARS = 4_096;

/** A UUID of any version, converted to lower case. */
export const uuid = z.guid().toLowerCase();

/** Refuses text that hides in a text of instructions (`hasTags`). */
export const withoutTags = (text: z.ZodString): z.ZodString =>
  text.refine((given) => !hasTags(given), {
    error: ({ path = [] }) =>
      `${path.join(".")} must not have invisible tag characters (U+E0000 to U+E007F)`,
  });

/** The account's instructions to the agent in addition to the message. */
export const instructions = withoutTags(z.string().trim().max(10_000));

/** How the content of a file is answered. */
export const contentAs = z.literal("document").optional().meta({
  description:
    "`document`: a PDF, DOCX, XLSX, XLS, ODS, PPTX, EML, MSG or RTF of at most 10 MiB as JSON: `about`, the `sections` with `title` and `text`, and the `sheets` of a spreadsheet with `name`, `rows` and `csv`",
});

/** A date and time of a response: ISO 8601 in UTC. */
export const dateTime = z.iso.datetime();

/** Whether it is the name of an IANA time zone. An offset is none, as it knows no daylight saving. */
export function isTimezone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return /^[A-Z]/i.test(text);
  } catch {
    return false;
  }
}

export const timezone = z
  .string()
  .max(100)
  .refine(isTimezone, { error: "timezone must be an IANA time zone" })
  .meta({ examples: ["Europe/Berlin"] });

/** Refuses a name or title with characters that are invisible or reorder text. @param field its name, for the error */
export const readableText = (schema: z.ZodString, field: string) =>
  schema.refine((text) => !hidesCharacters(text), {
    error: `${field} must not have characters that are invisible or change the direction of text`,
  });

/** A single line of text. @param field its name, for the error */
export const singleLine = (field: string) =>
  readableText(z.string().trim().min(1).max(100), field).refine(
    (line) => !/\p{Cc}/u.test(line),
    `${field} must be a single line`,
  );

/** The name of an account, as people read it in lists and mails. */
export const accountName = singleLine("name");

/** The picture of an account. A server on this machine has no https for the files that are uploaded to it. */
export const accountImage = z
  .url()
  .max(2048)
  .refine(
    (url) => /^(https:|http:\/\/(localhost|127\.0\.0\.1)(:\d+)?\/api\/media\/)/i.test(url),
    "image must be an https URL",
  );

/** Lower-cased. 254 is the length of the longest address (RFC 5321). */
export const emailAddress = z.email().max(254).toLowerCase();

/** A date and time of a request, with any offset, converted to UTC. Years 1970 to 9999. */
export const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine((date) => /^\d{4}-/.test(dateText(date)) && date.getTime() >= 0, {
    error: "A time must be between the years 1970 and 9999",
  })
  .transform(dateText)
  .meta({ override: { type: "string", format: "date-time" } });

function dateText(date: Date): string {
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

/** Refuses a body that gives none of its fields. */
export const withAnyField = <S extends z.ZodObject>(body: S): S =>
  body.refine((given) => Object.values(given).some((value) => value !== undefined), {
    error: `One of ${Object.keys(body.shape).join(", ")} must be provided`,
  });

/** Returns the names of the fields that a change removes with null. */
export const clearedFields = (changes: object): string[] =>
  Object.entries(changes).flatMap(([name, value]) => (value === null ? [name] : []));

/** A comma-separated list of `allowed` items in a query string; repeated items count once. */
export function commaList<const T extends string>(name: string, allowed: readonly T[]) {
  const isAllowed = (item: string): item is T => allowed.some((one) => one === item);
  const either = `(${allowed.join("|")})`;
  return z
    .string()
    .transform((text, context): T[] => {
      const parts = text.split(",");
      const items = parts.filter(isAllowed);
      if (items.length === parts.length) return [...new Set(items)];
      const message = `${name} must be a comma-separated list of ${allowed.join(", ")}`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .meta({ override: { type: "string", pattern: `^${either}(,${either})*$` } });
}

/** `true` or `false` in a query string. An enum would document its texts beside the boolean. */
export const queryBoolean = z
  .string()
  .check(({ value, issues }) => {
    if (value === "true" || value === "false") return;
    issues.push({ code: "invalid_value", values: ["true", "false"], input: value });
  })
  .transform((text) => text === "true")
  .meta({ override: { type: "boolean" } });

const integerText = (bounded: z.ZodInt) =>
  z
    .string()
    .transform((text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text))
    .pipe(bounded);

/** The greatest number of a version. */
const MAX_VERSION = 2_147_483_647;

/** The number of a version in a body. */
export const versionNumber = z.int().min(1).max(MAX_VERSION);

/** The database adds one to it. */
const MAX_INDEX = MAX_VERSION - 1;

/** The index of an item in a path. */
export const pathIndex = integerText(z.int().min(0).max(MAX_INDEX)).meta({
  override: { type: "integer", minimum: 0, maximum: MAX_INDEX },
});

/** The number of a version in a path. */
export const pathVersion = integerText(versionNumber).meta({
  override: { type: "integer", minimum: 1, maximum: MAX_VERSION },
});

/** Returns the schema of the number of a version in a query string. */
export const queryVersion = (min: 0 | 1, description: string) =>
  integerText(z.int().min(min).max(MAX_VERSION))
    .meta({ override: { type: "integer", minimum: min } })
    .optional()
    .meta({ description });

/** Returns the schema of an integer in a query string. */
export function queryInteger(range: { min: number; max?: number; default: number }) {
  const { min, max, default: fallback } = range;
  const bounded = max === undefined ? z.int().min(min) : z.int().min(min).max(max);
  return integerText(bounded)
    .optional()
    .transform((value) => value ?? fallback)
    .meta({
      override: {
        type: "integer",
        minimum: min,
        ...(max === undefined ? {} : { maximum: max }),
        default: fallback,
      },
    });
}
