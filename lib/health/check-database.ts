/**
 * Checks the database: over REST the secret key and the migrations, and by `DATABASE_URL` the login and
 * that it leads to the same database.
 */

import { requestJson } from "@platform/kit/outbound/fetch-json";
import { describeAnswer, describeFailure } from "@platform/kit/outbound/probe";
import pg from "pg";
import { z } from "zod";
import {
  describeWay,
  detectPooling,
  parseDatabaseUrl,
} from "../../packages/world-postgres/src/connection.ts";
import {
  describeRefusal,
  type Refusal,
  TRANSACTION_MODE,
} from "../../packages/world-postgres/src/outage.ts";
import type { Config } from "../platform/config.ts";
import { MISSING_RIGHTS, type MissingRight } from "../platform/database/missing-rights.ts";
import { REPLACED_VERSION, SCHEMA_VERSION } from "../platform/database/schema-version.ts";
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
  if (newest !== null && (newest < SCHEMA_VERSION || newest === REPLACED_VERSION)) {
    return lacksMigrations(newest);
  }
  return newest === null
    ? warning(
        "migrations",
        "the database does not record which migrations it has",
        "Apply them with bin/migrate or `supabase db push`, which record them.",
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
    "Run bin/migrate of the package of this version, or `npm run baseline` and `supabase db push` in its folder.",
    ["SUPABASE_URL"],
  );

const serverRow = z.object({ version: z.number(), login: z.string(), has_engine: z.boolean() });
const loginRow = z.object({ id: z.string(), may_act: z.boolean() });

interface Expected {
  /** The identity of the database behind `SUPABASE_URL`, if it is known. */
  readonly installationId: string | undefined;
  readonly timeoutMs: number;
  /** Whether a pooler may lend the connection for each transaction. */
  readonly isShared?: boolean;
  /** The uses whose missing rights are named. */
  readonly needs?: readonly string[];
}

/** Checks the connection of the durable engine, and the connection of requests where it leads another way. */
export async function checkConnections(
  { DATABASE_URL: url, DIRECT_DATABASE_URL: direct, VERCEL, EMBEDDED_SUPABASE }: Config,
  expected: Expected,
): Promise<Finding[]> {
  if (url === undefined || VERCEL) return [ok("connection", "not used")];
  const needs = EMBEDDED_SUPABASE ? ["engine", "rest"] : ["engine"];
  const found = await Promise.all([
    checkConnection(direct ? "DIRECT_DATABASE_URL" : "DATABASE_URL", direct ?? url, {
      ...expected,
      needs,
    }),
    direct ? checkConnection("DATABASE_URL", url, { ...expected, isShared: true }) : [],
  ]);
  return found.flat();
}

async function checkConnection(
  setting: string,
  url: string,
  expected: Expected,
): Promise<Finding[]> {
  const { timeoutMs, isShared } = expected;
  const refuse = ({ detail, remedy }: Refusal) => [
    misconfigured("connection", `${setting} (${new URL(url).host}): ${detail}`, remedy, [setting]),
  ];
  try {
    const pooling = await detectPooling(url, timeoutMs);
    if (pooling === "transaction" && !isShared) return refuse(TRANSACTION_MODE);
    const client = new pg.Client({
      ...parseDatabaseUrl(url),
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      application_name: "agent-platform-doctor",
    });
    // A connection that is lost rejects the query, too.
    client.on("error", () => {});
    try {
      await client.connect();
      return await examine(client, setting, describeWay(url, pooling), expected);
    } finally {
      await client.end().catch(() => {});
    }
  } catch (error) {
    const refusal = describeRefusal(Object(error));
    if (refusal) return refuse(refusal);
    const access = { credentials: [setting], address: [setting] };
    return [findingOf("connection", describeFailure(new URL(url), error, access))];
  }
}

async function examine(
  client: pg.Client,
  setting: string,
  way: string,
  { installationId, needs = [] }: Expected,
): Promise<Finding[]> {
  const { rows } = await client.query(`
    select current_setting('server_version_num')::integer / 10000 as version,
      current_user as login, exists (select from pg_namespace where nspname = 'engine') as has_engine`);
  const { version, login, has_engine: hasEngine } = serverRow.parse(rows[0]);
  if (!hasEngine) {
    const detail = `the database of ${setting} lacks the tables of the durable engine`;
    const remedy = `Set ${setting} to a database with all migrations (bin/migrate or \`supabase db push\`).`;
    return [misconfigured("connection", detail, remedy, [setting])];
  }
  const rights = await client.query<MissingRight>(MISSING_RIGHTS);
  const missing = rights.rows.filter(({ need }) => needs.includes(need));
  if (missing.length > 0) {
    return missing.map(({ right, remedy }) =>
      misconfigured("rights", `${login} lacks ${right}`, `As the administrator: ${remedy}.`, [
        setting,
      ]),
    );
  }
  const found = await client
    .query(
      "select public.installation_id()::text as id, pg_has_role('service_role', 'member') as may_act",
    )
    // The durable engine may have a separate login, without access to the product's tables.
    .catch(() => ({ rows: [] }));
  const access = loginRow.safeParse(found.rows[0]).data;
  const isOther = installationId !== undefined && access?.id !== installationId;
  if (isOther && setting === "DIRECT_DATABASE_URL") {
    const detail = "DIRECT_DATABASE_URL leads to another database than requests use";
    const remedy = "Set it to the same database, past the pooler.";
    return [misconfigured("connection", detail, remedy, [setting])];
  }
  if (!isOther && access?.may_act !== false) {
    return [ok("connection", `PostgreSQL ${version} as ${login}, ${way}`)];
  }
  return [
    warning(
      "connection",
      `SQL functions are called over REST: ${setting} does not lead to the database of SUPABASE_URL with a login that may act as service_role`,
      `Set ${setting} to the database of the same project and grant service_role to ${login}, unless this is intended.`,
      [setting, "SUPABASE_URL"],
    ),
  ];
}
