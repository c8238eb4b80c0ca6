import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { join, resolve } from "node:path";
import { RESTORING } from "../data-dir.ts";
import { recordSupabaseUrl } from "./find-served.ts";
import { keepSecrets } from "./keep-secrets.ts";
import { lockDataDir } from "./lock-data-dir.ts";
import { runPostgres } from "./run-postgres.ts";
import { type Lite, type ServedDatabase, startLite } from "./start-lite.ts";

export { DataDirInUse } from "./lock-data-dir.ts";

export type Embedded = ServedDatabase & {
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
 * @throws DataDirUnusable when the directory cannot be written to
 */
export async function startEmbedded(options: {
  dataDir: string;
  /** The origin of the application, for links in mails and the issuer of tokens. */
  siteUrl?: string;
  /** How the auth server sends codes: through `smtpUrl`, otherwise to `<dataDir>/mailbox`. */
  mail?: { smtpUrl?: string | undefined; from?: string | undefined };
  /** Whether to wait for a database that is read-only or full. Default: false */
  waits?: boolean;
}): Promise<Embedded> {
  const dataDir = resolve(options.dataDir);
  const logs = join(dataDir, "logs");
  const lock = await lockDataDir(dataDir);
  try {
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    if (existsSync(join(dataDir, RESTORING))) {
      throw new Error(
        `A restore into ${dataDir} was cut off. Empty the folder, and restore again.`,
      );
    }
    const secrets = keepSecrets(dataDir);
    // Started first, so its modules load while PostgreSQL starts.
    const lite = openLite(join(logs, "supabase.log"));
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
    try {
      const serving = lite.serve({
        databaseUrl: postgres.url,
        dataDir,
        secrets,
        siteUrl: options.siteUrl ?? "http://localhost:3000",
        mail: options.mail,
        waits: options.waits ?? false,
      });
      const ended = postgres.died.then((reason) => {
        throw new Error(reason);
      });
      const served = await Promise.race([serving, ended]);
      recordSupabaseUrl(dataDir, served.supabaseUrl);
      return {
        ...served,
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

function openLite(logFile: string): Lite {
  const output = openSync(logFile, "a", 0o600);
  try {
    return startLite({ output, name: logFile });
  } finally {
    closeSync(output);
  }
}
