/**
 * The one logger. What it is given names fields one by one; headers, bodies, tokens and keys are
 * never among them, and the redaction below is the second line of defence. Of an error it takes the
 * words and the place: some errors carry the request that failed, such as a whole conversation.
 */
import pino from "pino";
import { config } from "./config.ts";
import { processWide } from "./process-wide.ts";

const secrets = [
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
  return processWide("log", () =>
    pino({
      level: config().LOG_LEVEL,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
      redact: {
        paths: secrets.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
        censor: "[redacted]",
      },
    }),
  );
}

/** Some errors have what they refused in their words: megabytes of a request or of an answer. */
const MAX_TEXT_CHARS = 4_000;

const shorten = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS)}…`;

function describeError(error: unknown) {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, code, statusCode } = pino.stdSerializers.err(error);
  return { type, message: shorten(message), stack: shorten(stack), code, statusCode };
}
