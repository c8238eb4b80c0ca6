import { fork } from "node:child_process";
import { join } from "node:path";
import { exitOf } from "./exit-of.ts";
import { guardProcess } from "./guard-process.ts";
import type { EmbeddedSecrets } from "./keep-secrets.ts";
import { type LiteSettings, liteAnswerSchema } from "./lite-protocol.ts";
import { whenAvailable } from "./when-available.ts";

/** The settings with which an application uses the REST and auth server. */
export interface ServedDatabase {
  readonly databaseUrl: string;
  /** Empty unless `databaseUrl` leads through a pooler in transaction mode. */
  readonly directDatabaseUrl: string;
  readonly supabaseUrl: string;
  readonly supabaseSecretKey: string;
  readonly supabasePublishableKey: string;
  readonly supabaseJwtSecret: string;
  /** The `iss` of its tokens. It differs from `supabaseUrl`, whose port changes with every start. */
  readonly supabaseJwtIssuer: string;
  /** The HMAC key of API keys, unless another one is configured. */
  readonly apiKeySecret: string;
}

const issuerOf = (siteUrl: string): string => new URL("/auth/v1", siteUrl).href;

export const servedDatabase = (
  secrets: EmbeddedSecrets,
  urls: Readonly<Record<"databaseUrl" | "supabaseUrl" | "siteUrl", string>> & {
    readonly directDatabaseUrl?: string;
  },
): ServedDatabase => ({
  databaseUrl: urls.databaseUrl,
  directDatabaseUrl: urls.directDatabaseUrl ?? "",
  supabaseUrl: urls.supabaseUrl,
  supabaseSecretKey: secrets.secretKey,
  supabasePublishableKey: secrets.publishableKey,
  supabaseJwtSecret: secrets.jwtSecret,
  supabaseJwtIssuer: issuerOf(urls.siteUrl),
  apiKeySecret: secrets.apiKeySecret,
});

interface LiteOptions {
  readonly databaseUrl: string;
  /** Set where `databaseUrl` leads through a pooler in transaction mode. */
  readonly directDatabaseUrl?: string | undefined;
  readonly dataDir: string;
  readonly secrets: EmbeddedSecrets;
  /** The origin of the application, for links in mails and the issuer of tokens. */
  readonly siteUrl: string;
  /** How the auth server sends codes: through `smtpUrl`, otherwise to `<dataDir>/mailbox`. */
  readonly mail?: { smtpUrl?: string | undefined; from?: string | undefined } | undefined;
  /** Whether to wait for a database that is down, read-only or full. Default: false */
  readonly waits?: boolean;
}

/** The process of `serve-lite.ts`. */
export interface Lite {
  readonly pid: number;
  /** Resolves with a message when the process exits without `stop()`. */
  readonly died: Promise<string>;
  /** Migrates the database and serves it. */
  serve(options: LiteOptions): Promise<ServedDatabase>;
  stop(): Promise<void>;
}

/**
 * Starts the process that serves Supabase's REST and auth protocols from a PostgreSQL; its modules
 * load while the caller prepares the database.
 *
 * @param log the open log file, or ours, and its name for messages
 */
export function startLite(log: { output: number | "inherit"; name: string }): Lite {
  const child = fork(join(import.meta.dirname, "serve-lite.ts"), [], {
    detached: true,
    env: {
      PATH: process.env.PATH,
      NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_ENV: "production",
      TZ: "UTC",
    },
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", log.output, log.output, "ipc"],
  });
  guardProcess(child, "TERM", "process");

  let stopping = false;
  const ended = exitOf(child);
  const died = new Promise<string>((done) => {
    ended.then((how) => {
      if (!stopping) done(`The embedded Supabase exited unexpectedly (${how}). See ${log.name}`);
    });
  });
  const start = (settings: LiteSettings): Promise<string> => {
    const answered = new Promise<string>((done, fail) => {
      child.once("message", (message) => {
        const answer = liteAnswerSchema.parse(message);
        if (answer.kind === "serving") done(answer.url);
        else fail(new Error(answer.reason, { cause: answer.cause }));
      });
      died.then((reason) => fail(new Error(reason)));
    });
    child.send(settings);
    return answered;
  };
  return {
    pid: child.pid ?? 0,
    died,
    async serve({ databaseUrl, dataDir, secrets, siteUrl, mail, waits = false, ...more }) {
      const directDatabaseUrl = more.directDatabaseUrl || "";
      const issuer = issuerOf(siteUrl);
      const { jwtSecret, publishableKey, secretKey } = secrets;
      const settings = {
        ...{ databaseUrl, directDatabaseUrl, issuer, siteUrl },
        ...{ jwtSecret, publishableKey, secretKey },
        mail: {
          dataDir,
          smtpUrl: mail?.smtpUrl || null,
          from: mail?.from || "Agent Platform <no-reply@localhost>",
        },
      };
      const supabaseUrl = await (waits ? whenAvailable(() => start(settings)) : start(settings));
      return servedDatabase(secrets, { databaseUrl, directDatabaseUrl, supabaseUrl, siteUrl });
    },
    async stop() {
      stopping = true;
      child.kill("SIGTERM");
      await ended;
    },
  };
}
