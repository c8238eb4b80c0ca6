import { startLite } from "../embedded/start-lite.ts";
import { whenAvailable } from "../embedded/when-available.ts";
import { embeddedParts, hostedParts, type StartParts } from "../parts.ts";
import { databaseUrl, migrate, ownSecrets, requireMigrations } from "./database.ts";

/**
 * Starts the parts that a package runs beside its server processes: nothing with a Supabase project,
 * otherwise the REST and auth server on the PostgreSQL of `DATABASE_URL`.
 *
 * By default a missing migration is an error, because an update of the schema should be a decision:
 * several machines may serve one database, and the login that serves may lack the rights to change it.
 *
 * @param options.waits whether to wait for a database that is down, read-only or full
 */
export const startPackagedParts =
  ({ migrates, waits }: { migrates: boolean; waits: boolean }): StartParts =>
  async ({ dataDir, publicUrl, given }) => {
    const look = () => (migrates ? migrate(given) : requireMigrations(given));
    await (waits ? whenAvailable<unknown>(look) : look());
    if (given.SUPABASE_URL) return hostedParts();

    const lite = startLite({ output: "inherit", name: "the log" });
    try {
      const served = await lite.serve({
        databaseUrl: databaseUrl(given),
        directDatabaseUrl: given.DIRECT_DATABASE_URL,
        dataDir,
        secrets: ownSecrets(dataDir),
        siteUrl: publicUrl,
        mail: { smtpUrl: given.SMTP_URL, from: given.MAIL_FROM },
        waits,
      });
      const { died, stop } = lite;
      return embeddedParts({ ...served, died, stop }, given.API_KEY_SECRET);
    } catch (error) {
      await lite.stop();
      throw error;
    }
  };
