/**
 * The logger of the process. Callers name each field that they log, never headers, bodies, tokens or
 * keys; redaction is the second line of defense. No URL in a line has a query, a fragment or a user. Of an
 * error it logs the type, message and stack only, and no text that the message quotes
 * (`describe-error.ts`). A line within a trace has its `traceId`. `LOG_LEVEL` is its level, `info` if that is unknown.
 */
import pino from "pino";
import { describeError } from "./describe-error.ts";
import { processWide } from "./process-wide.ts";
import { currentTraceId } from "./telemetry/spans.ts";

/** Fields whose values are in no line. */
export const secretFields = [
  "authorization",
  "x-api-key",
  "apikey",
  "api_key",
  "token",
  "key",
  "password",
  "cookie",
];

export function log(): pino.Logger {
  const { LOG_LEVEL: level = "info" } = process.env;
  return processWide("log", () =>
    pino({
      level: level === "silent" || Object.hasOwn(pino.levels.values, level) ? level : "info",
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
      hooks: { streamWrite: stripUrls },
      mixin: () => ({ traceId: currentTraceId() }),
      redact: {
        paths: secretFields.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
        censor: "[redacted]",
      },
    }),
  );
}

/**
 * Removes user, query and fragment of every URL in a line of JSON: they may contain passwords, tokens and
 * signatures. A URL ends at white space, a quote or an angle bracket, which a URL's own text escapes.
 */
export function stripUrls(line: string): string {
  if (!line.includes("://")) return line;
  return line.replace(
    /\b([a-z][a-z0-9+.-]{0,30}:\/\/)(?:(?:[^\s"/?#<>\\]|\\\\)*@)?((?:[^\s"?#<>\\]|\\\\)*)([?#](?:[^\s"<>\\]|\\\\)*)?/gi,
    (_, scheme: string, rest: string, secret: string | undefined) =>
      scheme + rest + (secret === undefined ? "" : `${secret[0]}[redacted]`),
  );
}
