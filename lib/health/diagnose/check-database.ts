/** The database over REST: reached, the secret key accepted, migrations current. */
import { z } from "zod";
import type { Config } from "../../platform/config.ts";
import { SCHEMA_VERSION } from "../../platform/database/schema-version.ts";
import { requestJson } from "../../platform/outbound/fetch-json.ts";
import { describeAnswer } from "../../platform/outbound/probe.ts";
import { type Finding, findingOf, misconfigured, ok, warning } from "./finding.ts";

const description = z.object({
  installation_id: z.string(),
  newest_migration: z.string().nullable(),
});
type Description = z.output<typeof description>;

/** PostgREST's answer where the function does not exist. */
const unknownFunction = z.object({ code: z.enum(["PGRST202", "42883"]) });

const access = { credentials: ["SUPABASE_SECRET_KEY"], address: ["SUPABASE_URL"] };

export interface CheckedDatabase {
  readonly findings: readonly Finding[];
  /** The identity of the database; undefined when it was not reported. */
  readonly installationId?: string;
}

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
  const told = answer.kind === "json" ? description.safeParse(answer.body).data : undefined;
  if (!told) {
    const unexpected = { kind: "broken", cause: new SyntaxError() } as const;
    const described = answer.kind === "json" ? unexpected : answer;
    return { findings: [findingOf("database", describeAnswer(url, described, access))] };
  }
  return {
    installationId: told.installation_id,
    findings: [
      ok("database", `${EMBEDDED_SUPABASE ? "embedded" : url.host}, the secret key is accepted`),
      checkMigrations(told),
    ],
  };
}

function checkMigrations({ newest_migration: newest }: Description): Finding {
  if (newest === null) {
    return warning("migrations", {
      detail: "the database does not tell which migrations it has",
      remedy: "Apply supabase/migrations with `supabase db push`, which records them.",
    });
  }
  if (newest < SCHEMA_VERSION) return lacksMigrations(newest);
  if (newest > SCHEMA_VERSION) {
    return warning("migrations", {
      detail: `the database has migration ${newest}, and this version knows them up to ${SCHEMA_VERSION}`,
      remedy: "Deploy the version of the service that the database was migrated for.",
    });
  }
  return ok("migrations", `current (${newest})`);
}

const lacksMigrations = (newest: string): Finding =>
  misconfigured("migrations", {
    detail: `this version needs migration ${SCHEMA_VERSION}, and the newest of the database is ${newest}`,
    remedy: "Run `supabase db push` in the folder of this version, or bin/migrate of its package.",
    settings: ["SUPABASE_URL"],
  });
