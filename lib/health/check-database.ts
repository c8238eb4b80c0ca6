/**
 * Checks the database: over REST the secret key and the migrations, and by `DATABASE_URL` the login and
 * that it leads to the same database.
 */
import pg from "pg";
import { z } from "zod";
import { requestJson } from "../../packages/kit/src/outbound/fetch-json.ts";
import { describeAnswer, describeFailure } from "../../packages/kit/src/outbound/probe.ts";
import { isRefusedLogin } from "../../packages/world-postgres/src/outage.ts";
import type { Config } from "../platform/config.ts";
import { SCHEMA_VERSION } from "../platform/database/schema-version.ts";
import type { Recorded } from "./check-shared.ts";
import { type Finding, findingOf, misconfigured, ok, warning } from "./finding.ts";

const description = z.object({
  installation_id: z.string(),
  newest_migration: z.string().nullable(),
  // Absent before the newest migration.
  secret_fingerprint: z.string().nullish(),
  data_dir_id: z.string().nullish(),
});

/** PostgREST's answer where the function does not exist. */
const unknownFunction = z.object({ code: z.enum(["PGRST202", "42883"]) });

const access = { credentials: ["SUPABASE_SECRET_KEY"], address: ["SUPABASE_URL"] };

interface CheckedDatabase {
  readonly findings: readonly Finding[];
  /** The identity of the database; undefined when it was not reported. */
  readonly installationId?: string;
  readonly recorded?: Recorded;
}

/** Checks the database behind `SUPABASE_URL`. */
export async function checkDatabase(
  { SUPABASE_URL, SUPABASE_SECRET_KEY, EMBEDDED_SUPABASE }: Config,
  deadline: AbortSignal,
): Promise<CheckedDatabase> {
  const url = new URL("/rest/v1/rpc/describe_database", SUPABASE_URL);
  const answer = await requestJson(url, {
    vendor: "database",
    headers: { apikey: SUPABASE_SECRET_KEY, authorization: `Bearer ${SUPABASE_SECRET_KEY}` },
    body: {},
    deadline,
  });
  if (answer.kind === "refused" && unknownFunction.safeParse(answer.body).success) {
    return { findings: [lacksMigrations("none that this version knows of")] };
  }
  const found = answer.kind === "json" ? description.safeParse(answer.body).data : undefined;
  if (!found) {
    const unexpected = { kind: "broken", cause: new SyntaxError() } as const;
    const described = answer.kind === "json" ? unexpected : answer;
    return { findings: [findingOf("database", describeAnswer(url, described, access))] };
  }
  const host = EMBEDDED_SUPABASE ? "embedded" : url.host;
  return {
    installationId: found.installation_id,
    recorded: found,
    findings: [
      ok("database", `${host}, the secret key is accepted`),
      checkMigrations(found.newest_migration),
    ],
  };
}

function checkMigrations(newest: string | null): Finding {
  if (newest === SCHEMA_VERSION) return ok("migrations", `current (${newest})`);
  if (newest !== null && newest < SCHEMA_VERSION) return lacksMigrations(newest);
  return newest === null
    ? warning(
        "migrations",
        "the database does not record which migrations it has",
        "Apply supabase/migrations with `supabase db push`, which records them.",
      )
    : warning(
        "migrations",
        `the database has migration ${newest}, and this version knows them up to ${SCHEMA_VERSION}`,
        "Deploy the version of the service that the database was migrated for.",
      );
}

const lacksMigrations = (newest: string): Finding =>
  misconfigured(
    "migrations",
    `this version needs migration ${SCHEMA_VERSION}, and the newest of the database is ${newest}`,
    "Run `supabase db push` in the folder of this version, or bin/migrate of its package.",
    ["SUPABASE_URL"],
  );

const serverRow = z.object({ version: z.number(), has_engine: z.boolean() });
const loginRow = z.object({ id: z.string(), may_act: z.boolean() });
const settings = ["DATABASE_URL"];

/** @param installationId the identity of the database behind `SUPABASE_URL`, if it is known */
export async function checkConnection(
  { DATABASE_URL, VERCEL }: Config,
  installationId: string | undefined,
  timeoutMs: number,
): Promise<Finding> {
  if (DATABASE_URL === undefined || VERCEL) return ok("connection", "not used");
  const url = new URL(DATABASE_URL);
  if (url.port === "6543" && /\.supabase\.(?:co|com)$/.test(url.hostname)) {
    const detail =
      "DATABASE_URL leads to Supabase's pooler in transaction mode, which cannot listen";
    const remedy = "Set DATABASE_URL to a direct or session-mode connection, at port 5432.";
    return misconfigured("connection", detail, remedy, settings);
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
    if (!(error instanceof pg.DatabaseError && isRefusedLogin(error))) {
      const access = { credentials: settings, address: settings };
      return findingOf("connection", describeFailure(url, error, access));
    }
    const detail = `${url.host} refuses the login or the database of DATABASE_URL (${error.code})`;
    const remedy = "Correct the user, the password and the path of DATABASE_URL.";
    return misconfigured("connection", detail, remedy, settings);
  } finally {
    await client.end().catch(() => {});
  }
}

async function examine(client: pg.Client, installationId: string | undefined): Promise<Finding> {
  const { rows } = await client.query(`
    select current_setting('server_version_num')::integer / 10000 as version,
      to_regclass('engine.runs') is not null as has_engine`);
  const { version, has_engine: hasEngine } = serverRow.parse(rows[0]);
  if (!hasEngine) {
    const detail = "the database of DATABASE_URL lacks the tables of the durable engine";
    const remedy =
      "Set DATABASE_URL to a database with all of supabase/migrations (`supabase db push`).";
    return misconfigured("connection", detail, remedy, settings);
  }
  const found = await client
    .query(
      "select public.installation_id()::text as id, pg_has_role('service_role', 'member') as may_act",
    )
    // The durable engine may have a separate login, without access to the product's tables.
    .catch(() => ({ rows: [] }));
  const login = loginRow.safeParse(found.rows[0]).data;
  const isOther = installationId !== undefined && login?.id !== installationId;
  if (!isOther && login?.may_act !== false) return ok("connection", `PostgreSQL ${version}`);
  return warning(
    "connection",
    "SQL functions are called over REST: DATABASE_URL does not lead to the database of SUPABASE_URL with a login that may act as service_role",
    "Set DATABASE_URL to the database of the same project and grant service_role to its login, unless this is intended.",
    [...settings, "SUPABASE_URL"],
  );
}
