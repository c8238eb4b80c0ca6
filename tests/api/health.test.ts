import { describe, expect, it } from "vitest";
import { z } from "zod";
import { client } from "../support/harness/clients.ts";

const parts = z.array(
  z.object({ name: z.string(), adapter: z.string(), ready: z.boolean().optional() }),
);
const health = z.object({ status: z.string(), parts });

describe("GET /api/health", () => {
  it("200: names the adapter of each part without a credential", async () => {
    const answer = await client().get("/api/health");
    expect(answer.status).toBe(200);
    const { status, parts: found } = health.parse(answer.body);
    expect(status).toBe("ok");
    expect(Object.fromEntries(found.map(({ name, adapter }) => [name, adapter]))).toEqual({
      database: "embedded",
      identity: "embedded",
      durableRuns: "postgres",
      sandbox: "local",
      model: "embedded",
      mail: "mailbox",
      connectors: "embedded",
      catalog: "embedded",
      research: "embedded",
      search: "embedded",
      taskRunner: "embedded",
      content: "embedded",
      mediaStorage: "disk",
    });
  });
});

describe("GET /api/health/ready", () => {
  it("200: every part answers", async () => {
    const answer = await client().get("/api/health/ready");
    expect(answer.status, answer.text).toBe(200);
    expect(health.parse(answer.body).parts.every(({ ready }) => ready)).toBe(true);
  });
});
