/** The errors that a real PgBouncer reports when it, or the database behind it, is unavailable. */
import { afterEach, describe, expect, it } from "vitest";
import { checkConnections } from "../../../lib/health/check-database.ts";
import { parseConfig } from "../../../lib/platform/config.ts";
import { PostgresDatabase } from "../../../lib/platform/database/postgres.ts";
import { isUnavailable } from "../../../lib/platform/database/unavailable.ts";
import { describeRefusal } from "../../../packages/world-postgres/src/outage.ts";
import { whenAvailable } from "../../../scripts/embedded/when-available.ts";
import { requireMigrations } from "../../../scripts/package/database.ts";
import { startPgBouncer, withoutPgBouncer } from "../../support/harness/pgbouncer.ts";
import { setting, stack } from "../../support/harness/stack.ts";

Object.assign(process.env, stack.env, { LOG_LEVEL: "silent" });
const direct = setting("DATABASE_URL");
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Settings = Parameters<typeof startPgBouncer>[1];

async function startPooler(settings: Settings = {}) {
  const pooler = await startPgBouncer(direct, settings);
  closing.push(() => pooler.close());
  return pooler;
}

function connectFunctions(url: string, connections: number): PostgresDatabase {
  const database = new PostgresDatabase(url, connections);
  closing.push(() => database.close());
  return database;
}

const doctor = (changes: Readonly<Record<string, string>>) =>
  checkConnections(parseConfig({ ...stack.env, ...changes }), {
    installationId: undefined,
    timeoutMs: 5_000,
  });

describe.skipIf(withoutPgBouncer)(`PgBouncer (${withoutPgBouncer ?? "installed"})`, () => {
  it("that is paused, killed, restarted, disabled or without its server is an outage that passes", async () => {
    const pooler = await startPooler({
      query_wait_timeout: 1,
      server_connect_timeout: 1,
      server_login_retry: 1,
    });
    const functions = connectFunctions(pooler.url, 2);
    const works = async () => (await functions.call("installation_id", {})).error === null;
    const outage = async () => isUnavailable(await functions.call("installation_id", {}));
    expect(await works()).toBe(true);

    await pooler.stop();
    await expect.poll(outage).toBe(true);
    await pooler.start();
    await expect.poll(works).toBe(true);

    await pooler.command("kill postgres");
    await expect.poll(outage).toBe(true);
    await pooler.command("resume postgres");
    await expect.poll(works).toBe(true);

    await pooler.command("disable postgres");
    await pooler.command("reconnect postgres");
    const late = connectFunctions(pooler.url, 1);
    expect(isUnavailable(await late.call("installation_id", {}))).toBe(true);
    await pooler.command("enable postgres");
    await expect.poll(works).toBe(true);
    expect((await late.call("installation_id", {})).error).toBeNull();

    const lost = new URL(direct);
    lost.port = "1";
    const alone = await startPgBouncer(lost.href, { query_wait_timeout: 1, server_login_retry: 1 });
    closing.push(() => alone.close());
    const cut = connectFunctions(alone.url, 1);
    expect(isUnavailable(await cut.call("installation_id", {}))).toBe(true);
    expect(await doctor({ DATABASE_URL: alone.url })).toMatchObject([{ status: "failed" }]);
    expect((await doctor({ DATABASE_URL: alone.url }))[0]?.blocksStart).toBeUndefined();
  });

  it("refuses a parameter, a login or a database with a remedy, and not as an outage that passes", async () => {
    const { url } = await startPooler({ server_login_retry: 0.1 });
    const changed = (change: (url: URL) => void) => {
      const made = new URL(url);
      change(made);
      return made.href;
    };
    const cases: [string, string][] = [
      [
        changed((one) => one.searchParams.set("options", "-c search_path=x")),
        "ignore_startup_parameters",
      ],
      [
        changed((one) => {
          one.password = "wrong";
        }),
        "Correct the user",
      ],
      [
        changed((one) => {
          one.username = "stranger";
        }),
        "Correct the user",
      ],
      [
        changed((one) => {
          one.pathname = "/missing";
        }),
        "Correct the user",
      ],
    ];
    for (const [refused, remedy] of cases) {
      const [finding] = await doctor({ DATABASE_URL: refused });
      expect(finding).toMatchObject({ status: "failed", blocksStart: true });
      expect(finding?.remedy).toContain(remedy);
      await expect(
        whenAvailable(() => requireMigrations({ DATABASE_URL: refused })),
      ).rejects.toThrow(remedy);
    }
    // Parameters for libpq and for other drivers are not sent.
    const known = changed((one) => {
      for (const name of [
        "pgbouncer",
        "connection_limit",
        "channel_binding",
        "gssencmode",
        "target_session_attrs",
      ])
        one.searchParams.set(name, "1");
    });
    await requireMigrations({ DATABASE_URL: known });
    expect(describeRefusal({ code: "08P01", message: "query_wait_timeout" })).toBeUndefined();
  });
});
