/** A server checks the installation at its start: it refuses what cannot work, and warns of the rest. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeComposio } from "../support/fakes/composio.ts";
import { client } from "../support/harness/clients.ts";
import { type HostedProject, startHostedProject } from "../support/harness/hosted-project.ts";
import { startServer } from "../support/harness/server.ts";

let project: HostedProject;
beforeAll(async () => {
  project = await startHostedProject();
});
afterAll(() => project?.close());

/** Returns the output of a server that does not start. */
const refusal = async (env: Readonly<Record<string, string>>, processes?: number) =>
  startServer({ env, ...(processes !== undefined && { processes }) }).then(
    async (server) => {
      await server.stop();
      throw new Error("The server has started.");
    },
    (error: Error) => error.message,
  );

describe("a server does not start", () => {
  it("with a malformed setting, which it names with what it should be", async () => {
    const text = await refusal({ DRAIN_SECONDS: "soon", LOG_LEVEL: "loud" });
    expect(text).toMatch(/DRAIN_SECONDS: .+\. Correct or remove it: Seconds/);
    expect(text).toMatch(/LOG_LEVEL: .+\. Correct or remove it: The least/);
  });

  it("with credentials that a service rejects, in one process or in several", async () => {
    const composio = await startFakeComposio();
    const key = "revoked-key-of-the-connectors";
    composio.fail({ status: 401, body: JSON.stringify({ error: { message: key } }) });
    const env = { ...composio.env, COMPOSIO_API_KEY: key };
    for (const processes of [undefined, 2]) {
      const text = await refusal(env, processes);
      expect(text).toContain("The server refuses to start");
      expect(text).toContain("Set COMPOSIO_API_KEY to credentials that the service accepts");
      expect(text).not.toContain(key);
    }
    await composio.close();
  });

  it("on a database without the newest migration", async () => {
    const body = JSON.stringify({ code: "PGRST202", message: "Could not find the function" });
    project.fail({ status: 404, body }, "describe_database");
    const text = await refusal(project.env);
    project.recover();
    expect(text).toContain("`supabase db push`");
  });

  it("with another API_KEY_SECRET than the servers of its database, in one process or in several", async () => {
    const other = "another-secret-that-no-server-of-this-database-has";
    for (const processes of [undefined, 2]) {
      const text = await refusal({ API_KEY_SECRET: other }, processes);
      expect(text).toContain("The server refuses to start");
      expect(text).toContain("Set API_KEY_SECRET_PREVIOUS");
      expect(text).not.toContain(other);
    }
  });

  it("with another DATA_DIR than the servers of its database, unless that is adopted", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "another-data-dir-"));
    const text = await refusal({ DATA_DIR: dataDir });
    expect(text).toContain("The server refuses to start");
    const [, id = "", file = ""] = /write ([\w-]{36}) to (\S+)\./.exec(text) ?? [];
    expect(dirname(file)).toBe(dataDir);
    await writeFile(file, `${id}\n`);
    await (await startServer({ env: { DATA_DIR: dataDir } })).stop();
    await rm(dataDir, { recursive: true });
  });
});

it("a server starts while a service does not answer, and says so with the setting", async () => {
  const composio = await startFakeComposio();
  await composio.close();
  const server = await startServer({ env: composio.env });
  expect((await client(null, server.url).get("/api/health")).status).toBe(200);
  const line = server
    .logs()
    .split("\n")
    .find((entry) => entry.includes('"check":"connectors"'));
  expect(JSON.parse(line ?? "{}")).toMatchObject({
    level: 40,
    settings: ["COMPOSIO_BASE_URL"],
    remedy: expect.stringContaining("COMPOSIO_BASE_URL"),
  });
  await server.stop();
});

it("only the first of several processes checks the installation", async () => {
  const composio = await startFakeComposio();
  const server = await startServer({ env: composio.env, processes: 2 });
  await expect
    .poll(() => server.logs().match(/"check":"settings"/g)?.length)
    .toBeGreaterThanOrEqual(1);
  expect(composio.count("/connected_accounts")).toBe(1);
  await server.stop();
  await composio.close();
});
