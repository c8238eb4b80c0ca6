import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { RunningNext } from "../../scripts/run-next.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { client, createAccount, createKey } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";

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

  it("answers HEAD like GET, without a body", async () => {
    const answer = await client().request("HEAD", "/api/health");
    expect(answer.status).toBe(200);
    expect(answer.text).toBe("");
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  });
});

describe("GET /api/health/ready", () => {
  it("200: every part answers", async () => {
    const answer = await client().get("/api/health/ready");
    expect(answer.status, answer.text).toBe(200);
    expect(health.parse(answer.body).parts.every(({ ready }) => ready)).toBe(true);
  });
});

describe("with a database that fails", () => {
  let broken: RunningNext;
  const failing = createServer((_, response) => response.writeHead(502).end("bad gateway"));

  beforeAll(async () => {
    const url = await new Promise<string>((resolve) => {
      failing.listen(0, "127.0.0.1", () => {
        const address = failing.address();
        resolve(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
      });
    });
    broken = await startServer({ env: { SUPABASE_URL: url } });
  });
  afterAll(async () => {
    await broken?.stop();
    failing.close();
  });

  it("liveness stays 200, readiness is 503 and says which part", async () => {
    expect((await client(null, broken.url).get("/api/health")).status).toBe(200);
    const answer = await client(null, broken.url).get("/api/health/ready");
    expect(answer.status).toBe(503);
    const down = health.parse(answer.body).parts.filter(({ ready }) => !ready);
    expect(down.map(({ name }) => name)).toEqual(["database"]);
  });

  it("a good key gets 503, never 401 or an empty list", async () => {
    const { id } = await createAccount();
    const answer = await client({ key: await createKey(id) }, broken.url).get("/api/keys");
    expectError(answer, 503, "error", "Service temporarily unavailable", "unavailable");
    expect(answer.headers.get("retry-after")).toBeTruthy();
  });
});
