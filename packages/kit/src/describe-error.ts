/**
 * Describes errors for the log. Some quote their input: a conversation, a file, the words of a caller. The log gets their
 * kind and place, and none of this text.
 */

/** Bounds messages and stacks: some contain megabytes of a request or a response. */
const MAX_TEXT_CHARS = 4_000;
const MAX_CAUSES = 5;
const MAX_ISSUES = 5;

/** Every error of the AI SDK has it. Most of them quote values in their message. */
const AI_SDK = Symbol.for("vercel.ai.error");
/** Their messages are fixed texts, names of settings and models, or the answer of the vendor. */
const PLAIN_AI_ERRORS = new Set([
  ...["AI_APICallError", "AI_EmptyResponseBodyError", "AI_LoadAPIKeyError", "AI_LoadSettingError"],
  ...["AI_NoContentGeneratedError", "AI_NoOutputGeneratedError", "AI_NoSuchModelError"],
  ...["AI_StreamProviderError", "AI_UnsupportedModelVersionError"],
]);
/** Zod, YAML, structured clones, and `JSON.parse`, which throws a SyntaxError. */
const QUOTING_NAME = /^(?:\$?Zod\w*|YAML\w*|DataCloneError|SyntaxError)$/;
/** Errors of Node ("Received '…'"), CSV, and PostgreSQL: in data, and in expressions such as searches. */
const QUOTING_CODE = /^(?:ERR_INVALID_\w+|CSV_\w+|22[0-9A-Z]{3}|42601)$/;
/** Errors of `fetch`: the value of a header. */
const QUOTING_MESSAGE = /^Headers?\.|is an invalid header value/;

function quotesInput(error: Error & { readonly code?: unknown }): boolean {
  const { name, code, message } = error;
  return (
    (AI_SDK in error && !PLAIN_AI_ERRORS.has(name)) ||
    QUOTING_NAME.test(name) ||
    QUOTING_CODE.test(String(code)) ||
    QUOTING_MESSAGE.test(message)
  );
}

/** Describes an error with its causes. Anything else is returned as it is. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const chain = chainOf(error).map((one) => ({ ...describeOne(one), type: typeOf(one) }));
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  return {
    type: typeOf(error),
    message: shorten(chain.map(({ message }) => message).join(": ")),
    stack: shorten(
      chain
        .map(({ type, message, frames }) => `${type}: ${message}${frames}`)
        .join("\ncaused by: "),
    ),
    code,
    statusCode,
  };
}

/** The error and its causes. A repeated call of the AI SDK names the last failure only in its message. */
function chainOf(error: Error): Error[] {
  const chain = [error];
  for (let one = error; chain.length <= MAX_CAUSES; ) {
    const { cause = Reflect.get(one, "lastError") } = one;
    if (!(cause instanceof Error) || chain.includes(cause)) break;
    chain.push(cause);
    one = cause;
  }
  return chain;
}

function describeOne(error: Error): { readonly message: string; readonly frames: string } {
  const { message, stack = "" } = error;
  // A stack starts with the name, and the message as it was when the error was made.
  const start = stack.indexOf(": ") + 2;
  const isSame = message !== "" && stack.startsWith(message, start);
  const frames = isSame ? stack.slice(start + message.length) : undefined;
  if (!quotesInput(error)) return { message, frames: frames ?? `\n${stack}` };
  return { message: placeOf(error), frames: frames ?? "" };
}

/** Returns where the input is at fault: the issues of a schema, or the position in a JSON text. */
function placeOf(error: Error): string {
  const issues = issuesIn(Reflect.get(error, "issues"));
  if (issues.length > 0) return issues.slice(0, MAX_ISSUES).map(placeOfIssue).join(", ");
  const [position] = /at position \d+|line \d+(?:,? column \d+)?/.exec(error.message) ?? [];
  return position === undefined ? "quotes its input" : `quotes its input (${position})`;
}

interface Issue {
  readonly code?: unknown;
  readonly path?: readonly unknown[];
  /** The issues of each option of a union. */
  readonly errors?: readonly (readonly Issue[])[];
}

function issuesIn(issues: unknown, path: readonly unknown[] = []): Issue[] {
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue: Issue): Issue[] => {
    const place = [...path, ...(issue.path ?? [])];
    const inner = issuesIn(issue.errors?.flat(), place);
    return inner.length > 0 ? inner : [{ code: issue.code, path: place }];
  });
}

/** Names that a schema may have. Keys of a record are part of the input, and rarely look like one. */
const FIELD = /^[A-Za-z_]{1,30}$/;

function placeOfIssue({ code, path = [] }: Issue): string {
  const place = path.map((part) =>
    typeof part === "number" || FIELD.test(String(part)) ? part : "?",
  );
  return `${String(code)} at ${place.join(".") || "the top"}`;
}

/** The class is mangled in a build. */
const typeOf = (error: Error): string =>
  error.name === "Error" ? error.constructor.name : error.name;

const shorten = (text: string): string =>
  text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS)}…`;
