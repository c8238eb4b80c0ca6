/**
 * The process that serves Supabase's REST and auth protocols from the embedded PostgreSQL.
 * `start-embedded.ts` starts it, sends the settings over the IPC channel and receives the URL.
 */
import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { App } from "@supabase/lite";
import type { PostgresConnection } from "@supabase/lite/postgres";
import type postgres from "postgres";
import { applyMigrations } from "./apply-migrations.ts";
import { connectLite } from "./connect-lite.ts";
import { connectPostgres } from "./connect-postgres.ts";
import {
  describeDatabaseError,
  isDatabaseOutage,
  reconnectDelay,
} from "./describe-database-error.ts";
import { CODE_LENGTH, guardAuth, hashRefreshTokens } from "./guard-auth.ts";
import { type LiteAnswer, liteAnswerSchema, liteSettingsSchema } from "./lite-protocol.ts";
import { mailCodes } from "./mail-codes.ts";

const here = import.meta.dirname;
const codeMail = {
  subject: "Your sign-in code is {{ .Token }}",
  content_path: join(here, "..", "..", "supabase", "templates", "sign-in-code.html"),
};

// The library would log failed queries with their parameters: only the SQLSTATE and the place are
// logged.
console.error = (...values: unknown[]) => {
  for (const value of values) {
    const described = value instanceof Error ? describeDatabaseError(value) : undefined;
    const summary =
      described instanceof Error && "summary" in described ? described.summary : undefined;
    if (typeof summary === "string") {
      if (!summary.startsWith("PT")) process.stderr.write(`database error ${summary}\n`);
    } else if (value instanceof Error) {
      const frames = value.stack?.split("\n").filter((line) => /^ {4}at /.test(line)) ?? [];
      process.stderr.write([value.name, ...frames, ""].join("\n"));
    }
  }
};
console.log = () => {};
console.info = () => {};

function answer(message: LiteAnswer): void {
  process.send?.(message);
}

/** Migrates the database, and reads its schema. */
async function prepare(app: App, connection: PostgresConnection, sql: postgres.Sql): Promise<void> {
  const [existing] = await sql`select to_regnamespace('supabase_migrations') is not null as there`;
  if (existing?.there !== true) {
    await sql.unsafe(readFileSync(join(here, "bootstrap.sql"), "utf8")).simple();
  }
  await app.ensureSystemSchema();
  await hashRefreshTokens(sql);
  await applyMigrations(sql, join(here, "..", "..", "supabase"));
  // Like PostgREST, listens to `notify pgrst` for changes of the schema.
  await sql.listen("pgrst", () => connection.clearSchemaCache());
  await connection.introspect({ useCache: true });
}

async function run(settings: unknown): Promise<void> {
  const {
    databaseUrl,
    directDatabaseUrl,
    jwtSecret,
    issuer,
    publishableKey,
    secretKey,
    siteUrl,
    mail,
  } = liteSettingsSchema.parse(settings);

  const connection = connectLite(databaseUrl, !directDatabaseUrl);
  const app = new App({
    connection,
    api: { enabled: true, schemas: ["public"], max_rows: 1000 },
    auth: {
      enabled: true,
      jwt_secret: jwtSecret,
      publishable_key: publishableKey,
      secret_key: secretKey,
      site_url: siteUrl,
      // `guardAuth` judges the reuse of tokens.
      enable_refresh_token_rotation: false,
      // The API trusts the email address of a bearer token, so an address is verified before it gets
      // a session.
      email: {
        enable_signup: true,
        enable_confirmations: true,
        otp_length: CODE_LENGTH,
        otp_expiry: 900,
        template: { magic_link: codeMail, confirmation: codeMail },
      },
    },
    studio: { enabled: false },
    storage: { enabled: false },
    db: { migrations: { enabled: false } },
    options: {
      server: { admin: false, disableStudio: true, disableFallback: true },
      drivers: { email: mailCodes(mail) },
    },
  });

  // Migrations, locks and `listen` need a session.
  const sql = connectPostgres(directDatabaseUrl || databaseUrl, {
    max: 2,
    backoff: reconnectDelay,
  });
  try {
    await prepare(app, connection, sql);
  } catch (error) {
    // The supervisor may send the settings again.
    await Promise.allSettled([sql.end({ timeout: 1 }), connection.driver.end({ timeout: 1 })]);
    throw error;
  }

  const library = async (request: Request) => app.fetch(request);
  const auth = guardAuth({ sql, jwtSecret, secretKey, issuer }, library);
  const answerRequest = (request: Request) =>
    new URL(request.url).pathname.startsWith("/rest/v1/") ? library(request) : auth(request);
  const server = serve({ fetch: answerRequest, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
    answer({ kind: "serving", url: `http://127.0.0.1:${port}` }),
  );
  if ("keepAliveTimeout" in server) {
    // Longer than any client keeps an idle connection, so none is closed during a request.
    server.keepAliveTimeout = 120_000;
  }
  // Only a process that exits in order would leave its compiled modules to the next one.
  flushCompileCache();
}

process.on("message", (settings) => {
  run(settings).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    const cause = [error, Object(error).cause].find(isDatabaseOutage);
    answer(liteAnswerSchema.parse({ kind: "failed", reason, cause }));
  });
});
// An outage also rejects internal promises of the driver that nothing handles, such as its queries of types and channels.
process.on("unhandledRejection", (reason) => {
  if (!isDatabaseOutage(reason)) throw reason;
  console.error(reason);
});
// The supervisor has exited.
process.once("disconnect", () => process.exit(0));
