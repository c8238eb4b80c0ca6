/**
 * The schemas that runs can be started with, and the ones that are refused. What is said of each is a
 * matter of `packages/agent/tests/output-schemas.test.ts`; here are a few, and all with `SOAK=1`.
 */
import { describe, expect, it } from "vitest";
import { hostileSchemas, outputSchemas } from "../support/fixtures/output-schemas.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { createPerson } from "../support/harness/clients.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

const some = <T>(rows: readonly T[]): readonly T[] =>
  process.env.SOAK === "1" ? rows : rows.filter((_, index) => index % 8 === 0);

describe("POST /api/chat/runs 400 of an output_schema", () => {
  it.each(some(hostileSchemas))("%s", async (_, output_schema, reason) => {
    const { withKey } = await createPerson();
    const answer = await withKey.post("/api/chat/runs", { prompt: "hello", output_schema });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toContain("output_schema");
    expect(JSON.parse(answer.text).message).toContain(reason);
  });

  it("no object is no schema", async () => {
    const { withKey } = await createPerson();
    for (const output_schema of [[], "{}", true, 7]) {
      const answer = await withKey.post("/api/chat/runs", { prompt: "hello", output_schema });
      expectError(answer, 400, "message", "output_schema must be an object");
    }
  });

  it("leaves nothing behind", async () => {
    const { id, withKey } = await createPerson();
    const output_schema = { $ref: "https://example.com/" };
    await withKey.post("/api/chat/runs", { prompt: "hello", output_schema });
    expect(await sql`select id from sessions where account_id = ${id}`).toHaveLength(0);
  });
});

describe("POST /api/chat/runs 202 of an output_schema", () => {
  it.each(some(outputSchemas))("$name", async ({ schema }) => {
    const { withKey } = await createPerson();
    const run = await startRun(withKey, { prompt: "hello", output_schema: schema });
    // The embedded model does not know what to submit.
    expect(await waitForRun(withKey, run)).toMatchObject({
      status: "failed",
      error: "output_invalid: The model stopped without submitting an output",
      output: null,
    });
  });
});
