/** The validator of JSON values. It runs in the worker threads of `check-output.ts`, and in tests. */
import { Ajv2020, type ErrorObject, type Options } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { RE2JS } from "re2js";
import { z } from "zod";
import type { JsonSchema } from "./json-schema.ts";

const MAX_ERRORS = 20;
const MAX_ERROR_CHARS = 300;

/**
 * Patterns that schema libraries write beside a format, with a lookahead that RE2 has not. None of them
 * backtracks far, and the deadline applies to them, too.
 */
const KNOWN_PATTERNS = new Set([
  // `z.email()` before zod 4.6.
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
  z.regexes.duration.source,
  z.regexes.hostname.source,
]);

/**
 * A regular expression whose time is linear in the length of the text. RE2 has no lookaround and no
 * backreferences, which need more, and refuses expressions that take much memory.
 */
function linearPattern(source: string) {
  if (KNOWN_PATTERNS.has(source)) return new RegExp(source, "u");
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
  // ajv distinguishes patterns by their text.
  return { test: (text: string) => pattern.matcher(text).find(), toString: () => source };
}
/** For code that ajv writes to a file, which is not done here. */
linearPattern.code = "linearPattern";

const options = {
  strict: false,
  logger: false,
  ownProperties: true,
  // 19.99 is a multiple of 0.01, although 19.99 / 0.01 is not a whole number.
  multipleOfPrecision: 6,
  code: { regExp: linearPattern },
} as const satisfies Options;

function compile({ $schema: _, $id: __, ...schema }: JsonSchema, allErrors: boolean) {
  const ajv = new Ajv2020({ ...options, allErrors });
  // The package is CommonJS, whose default export has a different type than its value.
  (addFormats as unknown as typeof addFormats.default)(ajv);
  return ajv.compile(schema);
}

/** Returns why a schema cannot be used; null if it can. */
export function faultOfDialect(schema: JsonSchema): string | null {
  try {
    compile(schema, false);
    return null;
  } catch (error) {
    return cut(error instanceof Error ? error.message : "cannot be compiled");
  }
}

/**
 * Validates a value.
 * @param root the place of the value in the errors, such as `/output`
 * @param report called with the errors: the first ones, then all of them, which may take much longer
 * @returns whether the value is valid
 */
export function validate(
  schema: JsonSchema,
  value: unknown,
  root: string,
  report: (errors: readonly string[]) => void,
): boolean {
  // Without the other errors, a union is left at its first branch that does not apply.
  const first = compile(schema, false);
  if (first(value) === true) return true;
  report(describe(first.errors, root));
  const all = compile(schema, true);
  if (all(value) !== true) report(describe(all.errors, root));
  return false;
}

function describe(errors: readonly ErrorObject[] | null | undefined, root: string): string[] {
  const texts = (errors ?? []).map(({ instancePath, message = "is invalid", params }) => {
    const detail = params.allowedValues ?? params.allowedValue;
    const named = params.additionalProperty ?? params.unevaluatedProperty;
    const more =
      detail !== undefined
        ? `: ${JSON.stringify(detail)}`
        : named !== undefined
          ? `: ${JSON.stringify(named)}`
          : "";
    return cut(`${root}${instancePath} ${message}${more}`.trim());
  });
  if (texts.length === 0) return ["The output is invalid"];
  return [...new Set(texts)].slice(0, MAX_ERRORS);
}

const cut = (text: string): string =>
  text.length <= MAX_ERROR_CHARS ? text : `${text.slice(0, MAX_ERROR_CHARS)}…`;
