/** A start on a standby, which waits until the database is promoted. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { afterEach, expect, inject, test, vi } from "vitest";
import { findRunning } from "../../../scripts/embedded/find-running.ts";
import { keepSecrets } from "../../../scripts/embedded/keep-secrets.ts";
import { startEmbedded } from "../../../scripts/embedded/start-embedded.ts";
import { startLite } from "../../../scripts/embedded/start-lite.ts";
import { startParts } from "../../../scripts/start-parts.ts";
import { copyDataDir } from "../../support/harness/database-template.ts";

let dataDir = "";
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dataDir, { recursive: true, force: true });
});

function makeStandby(): void {
  dataDir = copyDataDir(inject("stack").template);
  writeFileSync(join(dataDir, "postgres", "standby.signal"), "");
}

test("the parts wait for a standby and say so, and then start", async () => {
  makeStandby();
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  const starting = startParts({ dataDir, publicUrl: "http://localhost:3000", given: {} });
  const reasons = () => said.mock.calls.map(([text]) => String(text));
  await expect
    .poll(reasons, { timeout: 30_000 })
    .toContainEqual(expect.stringMatching(/^Not ready, waiting for the database: cannot execute/));
  const sql = postgres(findRunning(dataDir) ?? "", { max: 1 });
  await sql`select pg_promote()`;
  await sql.end();
  const parts = await starting;
  // The reason is printed once for as long as it is the same.
  expect(new Set(reasons()).size).toBe(reasons().length);
  const answer = await fetch(`${parts.env.SUPABASE_URL}/rest/v1/accounts`, {
    headers: { apikey: parts.env.SUPABASE_SECRET_KEY ?? "" },
  });
  expect(answer.status).toBe(200);
  await parts.stop();
}, 60_000);

test("a command does not wait for a standby", async () => {
  makeStandby();
  await expect(startEmbedded({ dataDir })).rejects.toThrow("cannot execute");
});

test("a wrong password or an unknown host is not waited for", async () => {
  dataDir = copyDataDir(inject("stack").template);
  const url = new URL(inject("stack").env.DATABASE_URL ?? "");
  const wrong = [new URL(url.href), new URL(url.href)] as const;
  wrong[0].password = "wrong";
  wrong[1].hostname = "database.invalid";
  for (const { href } of wrong) {
    const lite = startLite({ output: "inherit", name: "the output" });
    const secrets = keepSecrets(dataDir);
    const serving = lite.serve({
      databaseUrl: href,
      dataDir,
      secrets,
      siteUrl: "http://localhost",
      waits: true,
    });
    await expect(serving).rejects.toThrow(/password authentication failed|ENOTFOUND|EAI_AGAIN/);
    await lite.stop();
  }
});
