/** What the settings of OpenTelemetry decide. */
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { projectRoot } from "../../scripts/project-root.ts";
import { startFakeCollector } from "../support/fakes/otel-collector.ts";
import { type Client, unknownKey } from "../support/harness/clients.ts";
import { createContent, observed, runTurn, withTwoTools } from "../support/harness/telemetry.ts";
import { clientAt, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
let caller: Client;
beforeAll(async () => {
  workspace = await startWorkspace();
  caller = await workspace.createCaller();
});
afterAll(() => workspace.stop());

it("OTEL_RECORD_CONTENT adds prompts and answers, and no credential", async () => {
  const content = createContent();
  const own = await startFakeCollector();
  const server = await workspace.startServer({
    env: { ...observed(own), OTEL_RECORD_CONTENT: "true" },
  });
  const key = unknownKey();
  workspace.model.script("recorded", withTwoTools(content));
  await runTurn("recorded", `${content.prompt} ${key}`, clientAt(server.url, caller));
  await expect.poll(() => own.received()).toContain(content.answer);
  expect(own.received()).toContain(content.prompt);
  expect(own.received()).toContain("[redacted]");
  expect(own.received()).not.toContain(key);
  await server.stop();
  await own.close();
});

it("OTEL_EXPORTER_OTLP_PROTOCOL selects protobuf, and a drain sends what is left", async () => {
  const own = await startFakeCollector();
  const server = await workspace.startServer({
    env: {
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

it.each([
  ["is not loaded without an endpoint", { OTEL_EXPORTER_OTLP_ENDPOINT: "" }, false],
  ["is loaded with an endpoint", {}, true],
])("the SDK %s", async (_, env, isLoaded) => {
  const own = await startFakeCollector();
  const file = join(tmpdir(), `${randomUUID()}.modules`);
  const preload = join(projectRoot, "tests/support/fixtures/log-modules.mjs");
  const server = await workspace.startServer({
    env: { ...observed(own), ...env, NODE_OPTIONS: `--import=${preload}`, LOADED_MODULES: file },
  });
  await runTurn("none", "hello", clientAt(server.url, caller));
  await server.stop();
  await own.close();
  expect(own.received() !== "").toBe(isLoaded);
  const modules = await readFile(file, "utf8");
  await rm(file);
  expect(modules).toContain("/node_modules/pino/");
  expect(/@opentelemetry\/(?:sdk|exporter|resources)/.test(modules)).toBe(isLoaded);
});
