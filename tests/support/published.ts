import { expect } from "vitest";
import type { Contract } from "../../lib/http/contract.ts";
import type { Answer } from "./clients.ts";

/** The answer is what its contract publishes for this status: nothing missing, and nothing more. */
export function expectPublished(answer: Answer, contract: Contract): void {
  const schema = contract.responses[answer.status]?.schema;
  if (!schema) throw new Error(`${answer.status} is not published: ${answer.text}`);
  // Parsing drops what the schema does not name.
  expect(schema.parse(answer.body)).toEqual(answer.body);
}
