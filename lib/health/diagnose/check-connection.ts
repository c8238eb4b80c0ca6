/** `DATABASE_URL`: reached, the login accepted, and the same database. */
import pg from "pg";
import { z } from "zod";
import type { Config } from "../../platform/config.ts";
import { codeOf, describeFailure } from "../../platform/outbound/probe.ts";
import { type Finding, findingOf, misconfigured, ok, warning } from "./finding.ts";

const CHECK = "connection";
const setting = "DATABASE_URL";
const settings = [setting];
/** The version that the tests run on. */
const TESTED_VERSION = 17;

const serverRow = z.object({
  version: z.number(),
  has_engine: z.boolean(),
});
const identityRow = z.object({ id: z.string(), may_act: z.boolean() });

/** @param installationId the identity of the database behind `SUPABASE_URL`, if it is known */
export async function checkConnection(
  config: Config,
  installationId: string | undefined,
  timeoutMs: number,
): Promise<Finding[]> {
  const { DATABASE_URL, VERCEL } = config;
  if (DATABASE_URL === undefined || VERCEL) return [];
  const url = new URL(DATABASE_URL);
  if (url.port === "6543" && /\.supabase\.(?:co|com)$/.test(url.hostname)) {
    return [
      misconfigured(CHECK, {
        detail: "DATABASE_URL leads to Supabase's pooler in transaction mode, which cannot listen",
        remedy: "Set DATABASE_URL to a direct or session-mode connection, at port 5432.",
        settings,
      }),
    ];
  }
  const client = new pg.Client({
    connectionString: DATABASE_URL,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: "agent-platform-doctor",
  });
  // A connection that is lost rejects the query, too.
  client.on("error", () => {});
  try {
    await client.connect();
    return await examine(client, installationId);
  } catch (error) {
    return [describeRefusal(url, error)];
  } finally {
    await client.end().catch(() => {});
  }
}

async function examine(client: pg.Client, installationId: string | undefined): Promise<Finding[]> {
  const { rows } = await client.query(`
    select current_setting('server_version_num')::integer / 10000 as version,
      to_regclass('engine.runs') is not null as has_engine`);
  const server = serverRow.parse(rows[0]);
  if (!server.has_engine) {
    return [
      misconfigured(CHECK, {
        detail: "the database of DATABASE_URL lacks the tables of the durable engine",
        remedy:
          "Set DATABASE_URL to a database with all of supabase/migrations (`supabase db push`).",
        settings,
      }),
    ];
  }
  const found = await client
    .query(
      "select public.installation_id()::text as id, pg_has_role('service_role', 'member') as may_act",
    )
    // The durable engine may have a separate login, without access to the product's tables.
    .catch(() => ({ rows: [] }));
  const identity = identityRow.safeParse(found.rows[0]).data;
  const findings = [
    ...identityFindings(identity, installationId),
    ...(server.version < TESTED_VERSION ? [untested(server.version)] : []),
  ];
  return findings.length > 0 ? findings : [ok(CHECK, `PostgreSQL ${server.version}`)];
}

function identityFindings(
  identity: z.output<typeof identityRow> | undefined,
  installationId: string | undefined,
): Finding[] {
  if (installationId !== undefined && identity?.id !== installationId) {
    return [
      warning(CHECK, {
        detail:
          "DATABASE_URL does not lead to the database of SUPABASE_URL, so that SQL functions are called over REST",
        remedy: "Set DATABASE_URL to the database of the same project, unless this is intended.",
        settings: [setting, "SUPABASE_URL"],
      }),
    ];
  }
  if (identity && !identity.may_act) {
    return [
      warning(CHECK, {
        detail:
          "the login of DATABASE_URL may not act as service_role, so that SQL functions are called over REST",
        remedy: "Grant service_role to the login, unless this is intended.",
        settings,
      }),
    ];
  }
  return [];
}

const untested = (version: number): Finding =>
  warning(CHECK, {
    detail: `PostgreSQL ${version} is older than ${TESTED_VERSION}, on which the service is tested`,
    remedy: `Upgrade the database to PostgreSQL ${TESTED_VERSION}.`,
    settings,
  });

/** SQLSTATEs of a login that is refused; XX000 is how Supabase's pooler refuses an unknown one. */
const LOGIN_REFUSED = new Set(["28P01", "28000", "XX000"]);
const NO_SUCH_DATABASE = "3D000";

function describeRefusal(url: URL, error: unknown): Finding {
  const code = codeOf(error) ?? "";
  if (LOGIN_REFUSED.has(code)) {
    return misconfigured(CHECK, {
      detail: `${url.host} refuses the login of DATABASE_URL (${code})`,
      remedy: "Correct the user and the password in DATABASE_URL.",
      settings,
    });
  }
  if (code === NO_SUCH_DATABASE) {
    return misconfigured(CHECK, {
      detail: `${url.host} has no database of the name in DATABASE_URL`,
      remedy: "Correct the path of DATABASE_URL.",
      settings,
    });
  }
  const access = { credentials: settings, address: settings };
  return findingOf(CHECK, describeFailure(url, error, access));
}
