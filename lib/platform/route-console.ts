/**
 * Sends what dependencies print to the logger. Some print answers of vendors, of any size and with tokens in them. A line
 * has a bounded text, without the values of fields that name a secret.
 */
import { formatWithOptions, stripVTControlCharacters } from "node:util";
import { describeError } from "@platform/kit/describe-error";
import { log, secretFields } from "@platform/kit/log";
import { processWide } from "@platform/kit/process-wide";

const MAX_CHARS = 4_000;
const FORMAT = {
  depth: 3,
  maxArrayLength: 20,
  maxStringLength: MAX_CHARS,
  breakLength: Number.POSITIVE_INFINITY,
} as const;
const LEVELS = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error" } as const;

/** How Next.js marks its lines about its start and its builds. */
const OF_NEXT = /^(?:[▲○✓⨯-] |$)/u;

/** In a text such as `{ token: 'x' }`, `"token":"x"`, `token=x` and `Authorization: Bearer x`. */
const SECRET = new RegExp(
  `((?:${secretFields.join("|")})["'\`]?\\s*[:=]\\s*)("[^"]*"?|'[^']*'?|(?:(?:bearer|basic)\\s+)?[^\\s"',;&)}\\]]+)`,
  "gi",
);

/** Returns the text of a call of `console`, of at most 4,001 characters. */
export function consoleText(values: readonly unknown[]): string {
  const text = formatWithOptions(FORMAT, ...values.map(bounded));
  // Cut first, which bounds the work on the text.
  const redacted = stripVTControlCharacters(text.slice(0, 2 * MAX_CHARS))
    .trim()
    .replace(SECRET, "$1[redacted]");
  return redacted.length > MAX_CHARS || text.length > 2 * MAX_CHARS
    ? `${redacted.slice(0, MAX_CHARS)}…`
    : redacted;
}

function bounded(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, 2 * MAX_CHARS);
  if (!(value instanceof Error)) return value;
  const { stack } = describeError(value) as { readonly stack: string };
  return stack;
}

/** Replaces the methods of `console`, once in a process. */
export function routeConsole(): void {
  processWide("console", () => {
    for (const method of ["debug", "log", "info", "warn", "error"] as const) {
      const print = console[method].bind(console);
      console[method] = (...values: unknown[]) => {
        const text = consoleText(values);
        if (method === "log" && OF_NEXT.test(text)) print(text);
        else log()[LEVELS[method]]({ source: "console" }, text);
      };
    }
    return true;
  });
}
