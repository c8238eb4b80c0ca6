import { expect } from "vitest";
import { z } from "zod";
import type { Contract, ErrorFamily } from "../../lib/http/contract.ts";
import type { Answer } from "./clients.ts";

const status = z.literal("error");
const sentence = z.string().min(1);

/** Exactly the decided bodies: nothing more, nothing less. */
export const errorShapes: Readonly<Record<ErrorFamily, z.ZodType>> = {
  message: z.strictObject({ status, message: sentence }),
  error: z.strictObject({ status, error: sentence }),
  missing: z.strictObject({ status, error: sentence, missing_fields: z.array(z.string()) }),
  plain: z.strictObject({ error: sentence }),
  catalog: z.strictObject({ error: z.strictObject({ status: z.int(), message: sentence }) }),
};

export function expectErrorShape(answer: Answer, family: ErrorFamily): void {
  expect(errorShapes[family].safeParse(answer.body).error, answer.text).toBeUndefined();
  expect(answer.headers.get("x-error-code")).toMatch(/^[a-z_]+$/);
  expect(answer.headers.get("x-request-id")).toBeTruthy();
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(answer.headers.get("cache-control")).toContain("no-store");
}

/** The sentence of an error, wherever its family keeps it. */
export function sentenceOf(answer: Pick<Answer, "body">): string {
  const found = z
    .union([
      z.object({ message: sentence }).transform((body) => body.message),
      z.object({ error: sentence }).transform((body) => body.error),
      z.object({ error: z.object({ message: sentence }) }).transform((body) => body.error.message),
    ])
    .parse(answer.body);
  return found;
}

/** `/api/keys/{id}` with values; a name without one stays as it is given by `fallback`. */
export function fillPath(
  path: string,
  values: Readonly<Record<string, string>>,
  fallback: () => string = () => crypto.randomUUID(),
): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? fallback());
}

export const nameOf = ({ method, path }: Contract): string => `${method} ${path}`;
