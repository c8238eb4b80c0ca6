/** The effects of the OpenTelemetry settings. */
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { projectRoot } from "../../scripts/project-root.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fakes/openai.ts";
import { startFakeCollector } from "../support/fakes/otel-collector.ts";
import { type Client, createPerson, unknownKey } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";
import { createContent, observed, runTurn, withTwoTools } from "../support/harness/telemetry.ts";
import { clientAt } from "../support/harness/workspace.ts";

let model: FakeOpenAI;
let caller: Client;
beforeAll(async () => {
  model = await startFakeOpenAI();
  caller = (await createPerson()).withKey;
});
afterAll(() => model.close());

/** Starts a server whose modules are written into a file as they are loaded. */
async function startServerWith(env: Readonly<Record<string, string>>) {
  const file = join(tmpdir(), `${randomUUID()}.modules`);
  const preload = join(projectRoot, "tests/support/fixtures/log-modules.mjs");
  const server = await startServer({
    env: {
      ...{ OPENAI_BASE_URL: model.url, LOADED_MODULES: file },
      NODE_OPTIONS: `--import=${preload}`,
      ...env,
    },
  });
  return {
    url: server.url,
    /** Stops it, and returns whether it has loaded the SDK. */
    async stop(): Promise<boolean> {
      await server.stop();
      const modules = await readFile(file, "utf8");
      await rm(file);
      expect(modules).toContain("/node_modules/pino/");
      return /@opentelemetry\/(?:sdk|exporter|resources)/.test(modules);
    },
  };
}

it("an endpoint loads the SDK, and OTEL_RECORD_CONTENT adds prompts and answers, and no credential", async () => {
  const content = createContent();
  const own = await startFakeCollector();
  const server = await startServerWith({ ...observed(own), OTEL_RECORD_CONTENT: "true" });
  const key = unknownKey();
  model.script("recorded", withTwoTools(content));
  await runTurn("recorded", `${content.prompt} ${key}`, clientAt(server.url, caller));
  await expect.poll(() => own.received()).toContain(content.answer);
  expect(own.received()).toContain(content.prompt);
  expect(own.received()).toContain("[redacted]");
  expect(own.received()).not.toContain(key);
  expect(await server.stop()).toBe(true);
  await own.close();
});

it("OTEL_EXPORTER_OTLP_PROTOCOL selects protobuf, and a drain sends what is left", async () => {
  const own = await startFakeCollector();
  const server = await startServer({
    env: {
      OPENAI_BASE_URL: model.url,
      ...observed(own),
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      TEST_CONSTANTS: JSON.stringify({
        SPANS_INTERVAL_MS: 3_600_000,
        METRICS_INTERVAL_MS: 3_600_000,
      }),
      OTEL_SERVICE_NAME: "renamed-service",
    },
  });
  const requestId = randomUUID();
  await fetch(`${server.url}/api/health`, { headers: { "x-request-id": requestId } });
  await server.stop();
  expect([...own.types]).toEqual(["application/x-protobuf"]);
  expect(own.received()).toContain("renamed-service");
  expect(own.received()).toContain(requestId);
  expect(own.received()).toContain("http.server.request.duration");
  await own.close();
});

it("the SDK is not loaded without an endpoint", async () => {
  const own = await startFakeCollector();
  const server = await startServerWith({ ...observed(own), OTEL_EXPORTER_OTLP_ENDPOINT: "" });
  await runTurn("none", "hello", clientAt(server.url, caller));
  expect(await server.stop()).toBe(false);
  await own.close();
  expect(own.received()).toBe("");
});
