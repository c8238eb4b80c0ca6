import { fork } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { join, resolve } from "node:path";
import { exitOf } from "./exit-of.ts";
import { guardProcess } from "./guard-process.ts";
import { keepSecrets } from "./keep-secrets.ts";
import { type LiteSettings, liteAnswerSchema } from "./lite-protocol.ts";
import { lockDataDir } from "./lock-data-dir.ts";
import { runPostgres } from "./run-postgres.ts";

export { DataDirInUse } from "./lock-data-dir.ts";

/** The folder in `DATA_DIR` in which a restore is under way. */
export const RESTORING = "restoring";

export type Embedded = {
  /** The PostgreSQL URL for the durable engine. */
  databaseUrl: string;
  supabaseUrl: string;
  supabaseSecretKey: string;
  supabasePublishableKey: string;
  supabaseJwtSecret: string;
  /** The `iss` of its tokens. It differs from `supabaseUrl`, whose port changes with every start. */
  supabaseJwtIssuer: string;
  /** The HMAC key of API keys, unless another one is configured. */
  apiKeySecret: string;
  pids: { postgres: number; lite: number };
  /** Resolves with a message when a part exits without `stop()`. */
  died: Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts the embedded Supabase: PostgreSQL with its data in `<dataDir>/postgres`, migrated to
 * `supabase/migrations`, and the REST and auth server. Both listen only on loopback.
 *
 * @throws DataDirInUse when another process uses the directory
 */
export async function startEmbedded(options: {
  dataDir: string;
  /** The origin of the application, for links in mails and the issuer of tokens. */
  siteUrl?: string;
  /** How the auth server sends codes: through `smtpUrl`, otherwise to `<dataDir>/mailbox`. */
  mail?: { smtpUrl?: string | undefined; from?: string | undefined };
}): Promise<Embedded> {
  const dataDir = resolve(options.dataDir);
  const logs = join(dataDir, "logs");
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const lock = await lockDataDir(dataDir);
  try {
    if (existsSync(join(dataDir, RESTORING))) {
      throw new Error(
        `A restore into ${dataDir} was cut off. Empty the folder, and restore again.`,
      );
    }
    const secrets = keepSecrets(dataDir);
    // Started first, so that its modules load while PostgreSQL starts.
    const lite = startLite(join(logs, "supabase.log"));
    const postgres = await runPostgres({
      dataDir,
      password: secrets.postgresPassword,
      logFile: join(logs, "postgres.log"),
    }).catch((error: unknown) => {
      void lite.stop();
      throw error;
    });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= (async () => {
        await lite.stop();
        await postgres.stop();
        lock.release();
      })();
      return stopped;
    };
    const siteUrl = options.siteUrl ?? "http://localhost:3000";
    const issuer = new URL("/auth/v1", siteUrl).href;
    try {
      const supabaseUrl = await lite.serve({
        databaseUrl: postgres.url,
        jwtSecret: secrets.jwtSecret,
        publishableKey: secrets.publishableKey,
        secretKey: secrets.secretKey,
        issuer,
        siteUrl,
        mail: {
          dataDir,
          smtpUrl: options.mail?.smtpUrl || null,
          from: options.mail?.from || "Agent Platform <no-reply@localhost>",
        },
      });
      return {
        databaseUrl: postgres.url,
        supabaseUrl,
        supabaseSecretKey: secrets.secretKey,
        supabasePublishableKey: secrets.publishableKey,
        supabaseJwtSecret: secrets.jwtSecret,
        supabaseJwtIssuer: issuer,
        apiKeySecret: secrets.apiKeySecret,
        pids: { postgres: postgres.pid, lite: lite.pid },
        died: Promise.race([postgres.died, lite.died]),
        stop,
      };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    lock.release();
    throw error;
  }
}

function startLite(logFile: string) {
  const output = openSync(logFile, "a", 0o600);
  const child = fork(join(import.meta.dirname, "serve-lite.ts"), [], {
    detached: true,
    env: { PATH: process.env.PATH, NODE_ENV: "production", TZ: "UTC" },
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdio: ["ignore", output, output, "ipc"],
  });
  closeSync(output);
  guardProcess(child, "TERM", "process");

  let stopping = false;
  const ended = exitOf(child);
  const died = new Promise<string>((done) => {
    ended.then((how) => {
      if (!stopping) done(`The embedded Supabase exited unexpectedly (${how}). See ${logFile}`);
    });
  });
  return {
    pid: child.pid ?? 0,
    died,
    serve(settings: LiteSettings): Promise<string> {
      const answered = new Promise<string>((done, fail) => {
        child.once("message", (message) => {
          const answer = liteAnswerSchema.parse(message);
          if (answer.kind === "serving") done(answer.url);
          else fail(new Error(answer.reason));
        });
        died.then((reason) => fail(new Error(reason)));
      });
      child.send(settings);
      return answered;
    },
    async stop(): Promise<void> {
      stopping = true;
      child.kill("SIGTERM");
      await ended;
    },
  };
}
