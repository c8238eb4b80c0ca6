import {
  APICallError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from "@ai-sdk/provider";
import { describeError } from "@platform/kit/describe-error";
import {
  InvalidToolInputError,
  NoObjectGeneratedError,
  NoSuchToolError,
  RetryError,
  ToolCallRepairError,
} from "ai";
import { parse as parseCsv } from "csv-parse/sync";
import { expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { z } from "zod";

const CANARY = "Velvet-Harbor-7731";

/** Returns the error that the work throws. */
function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("Nothing was thrown");
}

const badJson = (text: string) => thrownBy(() => JSON.parse(text));
const badValue = thrownBy(() =>
  z
    .object({ choices: z.array(z.object({ delta: z.strictObject({ content: z.string() }) })) })
    .parse({ choices: [{ delta: { content: 1, [CANARY]: CANARY } }] }),
);
const ofSdk = new TypeValidationError({ value: { text: CANARY }, cause: badValue });
const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

const quoting: [kind: string, error: Error, place: RegExp][] = [
  ["AI_TypeValidationError", ofSdk, /invalid_type at choices\.0\.delta\.content/],
  ["ZodError", badValue, /unrecognized_keys at choices\.0\.delta/],
  ["ZodError", thrownBy(() => z.record(z.string(), z.int()).parse({ [CANARY]: CANARY })), /at \?/],
  [
    "ZodError",
    thrownBy(() =>
      z.object({ a: z.union([z.object({ b: z.int() }), z.null()]) }).parse({ a: { b: CANARY } }),
    ),
    /invalid_type at a\.b, invalid_type at a$/,
  ],
  ["ZodError", thrownBy(() => z.uuid().parse(CANARY)), /invalid_format at the top/],
  ["AI_JSONParseError", new JSONParseError({ text: CANARY, cause: badJson(CANARY) }), /quotes/],
  ["SyntaxError", badJson(CANARY), /quotes/],
  ["SyntaxError", badJson(`{"a": ${CANARY}}`), /quotes/],
  ["SyntaxError", badJson(`["${CANARY}`), /position \d+/],
  ["SyntaxError", thrownBy(() => BigInt(CANARY)), /quotes/],
  ["SyntaxError", thrownBy(() => new RegExp(`${CANARY}(`)), /quotes/],
  ["AI_InvalidResponseDataError", new InvalidResponseDataError({ data: CANARY }), /quotes/],
  ["AI_InvalidPromptError", new InvalidPromptError({ prompt: [], message: CANARY }), /quotes/],
  ["AI_NoSuchToolError", new NoSuchToolError({ toolName: CANARY }), /quotes/],
  [
    "AI_InvalidToolInputError",
    new InvalidToolInputError({ toolName: "bash", toolInput: CANARY, cause: badJson(CANARY) }),
    /quotes/,
  ],
  [
    "AI_ToolCallRepairError",
    new ToolCallRepairError({
      originalError: new NoSuchToolError({ toolName: CANARY }),
      cause: badJson(CANARY),
    }),
    /quotes/,
  ],
  [
    "AI_NoObjectGeneratedError",
    new NoObjectGeneratedError({
      ...{
        message: CANARY,
        text: CANARY,
        cause: ofSdk,
        finishReason: "stop",
        usage: usage as never,
      },
      response: { id: "a", timestamp: new Date(0), modelId: "m" },
    }),
    /choices\.0\.delta/,
  ],
  [
    "AI_RetryError",
    new RetryError({
      message: `Failed after 3 attempts. Last error: ${CANARY}`,
      reason: "maxRetriesExceeded",
      errors: [ofSdk],
    }),
    /choices\.0\.delta/,
  ],
  [
    "AI_APICallError",
    new APICallError({
      ...{ message: "Invalid JSON response", url: "https://h.test/v1", statusCode: 200 },
      ...{ requestBodyValues: { prompt: CANARY }, responseBody: CANARY, cause: ofSdk },
      data: { error: CANARY },
    }),
    /^Invalid JSON response: .*choices\.0\.delta/,
  ],
  [
    "PostgresError",
    Object.assign(new Error(`invalid input syntax for type uuid: "${CANARY}"`), {
      ...{ name: "PostgresError", code: "22P02", detail: CANARY, where: CANARY },
      parameters: [CANARY],
    }),
    /quotes/,
  ],
  [
    "PostgresError",
    Object.assign(new Error('duplicate key value violates unique constraint "a"'), {
      ...{ name: "PostgresError", code: "23505", detail: `Key (text)=(${CANARY})`, query: CANARY },
    }),
    /^duplicate key value violates unique constraint "a"$/,
  ],
  ["TypeError", thrownBy(() => Buffer.alloc(CANARY as never)), /quotes/],
  ["TypeError", thrownBy(() => new Headers({ a: `${CANARY}\nb` })), /quotes/],
  ["DataCloneError", thrownBy(() => structuredClone({ a: () => CANARY })), /quotes/],
  ["YAMLParseError", thrownBy(() => parseYaml(`a: [${CANARY}`)), /quotes its input \(line 1/],
  ["Error", thrownBy(() => parseCsv(`a,b\n"${CANARY}"x,1`)), /quotes/],
  ["Error", new Error("A tool failed", { cause: badJson(CANARY) }), /^A tool failed: .*quotes/],
  ["Error", new Error("A tool failed", { cause: CANARY }), /^A tool failed$/],
];

test.each(quoting)("the log has the kind and the place of a %s, and no text", (_, error, place) => {
  const described = describeError(error);
  expect(JSON.stringify(described)).not.toContain(CANARY);
  expect(described).toMatchObject({
    type: expect.stringContaining("Error"),
    message: expect.stringMatching(place),
    stack: expect.stringMatching(/\n {4}at /),
  });
});

test("a message that was replaced after the error was made leaves its first text in no stack", () => {
  for (const message of ["Something else", "", "t"]) {
    const error = badJson(CANARY);
    error.message = message;
    expect(JSON.stringify(describeError(error))).not.toContain(CANARY);
  }
});

test("causes in a circle end", () => {
  const error = new Error("one");
  error.cause = new Error("two", { cause: error });
  expect(describeError(error)).toMatchObject({ message: "one: two" });
});

test("other errors keep their words", () => {
  class DatabaseUnavailable extends Error {}
  const error = new DatabaseUnavailable("connect ECONNREFUSED 127.0.0.1:5432");
  expect(describeError(error)).toMatchObject({
    type: "DatabaseUnavailable",
    message: "connect ECONNREFUSED 127.0.0.1:5432",
    stack: expect.stringMatching(/^DatabaseUnavailable: connect ECONNREFUSED .*\n {4}at /),
  });
  expect(describeError("text")).toBe("text");
});
