/**
 * The examples of the OpenAPI document, requested again in the order of a new account.
 * `RECORD_EXAMPLES=1` writes them down instead.
 */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examples } from "../../lib/openapi/examples.ts";
import { operations } from "../../lib/openapi/registry.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { Placeholders } from "../support/fixtures/placeholders.ts";
import { type ArchiveServer, startArchiveServer } from "../support/fixtures/skills.ts";
import { contractOf } from "../support/harness/example-recorder.ts";
import { recordExamples } from "../support/harness/record-examples.ts";
import { startServer } from "../support/harness/server.ts";
import { setting, startOwnParts } from "../support/harness/stack.ts";

const root = join(import.meta.dirname, "../..");
const placeholders = new Placeholders();

// A separate database: the lists contain only objects of the new account.
let parts: Awaited<ReturnType<typeof startOwnParts>>;
let server: RunningNext;
let archive: ArchiveServer;
let recorded: Awaited<ReturnType<typeof recordExamples>>;
beforeAll(async () => {
  parts = await startOwnParts();
  const CRON_SECRET = setting("CRON_SECRET");
  archive = await startArchiveServer();
  const secrets = { CRON_SECRET, COMPOSIO_WEBHOOK_SECRET: CRON_SECRET };
  const env = { ...parts.env, ...secrets, OUTBOUND_LOOPBACK: "true" };
  server = await startServer({ env });
  placeholders.replaceText(archive.url, "https://example.com/radio-list.zip");
  placeholders.replaceText(CRON_SECRET, "your-cron-secret");
  placeholders.replaceText(server.url, "http://localhost:3000");
  const dataDir = parts.env.DATA_DIR ?? "";
  recorded = await recordExamples(server.url, dataDir, placeholders, CRON_SECRET, archive);
}, 300_000);
afterAll(async () => {
  archive?.close();
  await server?.stop();
  await parts?.stop();
});

async function record(): Promise<void> {
  const folder = join(root, "docs/api/examples");
  await mkdir(folder, { recursive: true });
  const asked = Object.entries(recorded);
  for (const [tag, list] of Map.groupBy(asked, ([id]) => contractOf(id).tag)) {
    const kept = Object.fromEntries(list);
    const file = join(folder, `${tag.toLowerCase().replaceAll(" ", "-")}.json`);
    await writeFile(file, JSON.stringify(kept));
  }
  await promisify(execFile)(
    "node_modules/@biomejs/biome/bin/biome",
    ["format", "--write", folder],
    {
      cwd: root,
    },
  );
}

const isRecording = process.env.RECORD_EXAMPLES === "1";

it.runIf(isRecording)("writes down what a running server answers today", record);

describe.skipIf(isRecording)("what a running server answers today", () => {
  it.each(operations.map(({ id }) => id))("%s: is what its examples say", (id) => {
    expect(recorded[id]).toEqual(examples[id]);
  });
});
