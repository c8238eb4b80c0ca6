import { startLite } from "../embedded/start-lite.ts";
import { embeddedParts, hostedParts, type StartParts } from "../parts.ts";
import { databaseUrl, migrate, ownSecrets, requireMigrations } from "./database.ts";

/**
 * Starts the parts that a package runs beside its server processes: nothing with a Supabase project,
 * otherwise the REST and auth server on the PostgreSQL of `DATABASE_URL`.
 *
 * By default a missing migration is an error, because an update of the schema should be a decision:
 * several machines may serve one database, and the login that serves may lack the rights to change it.
 */
export const startPackagedParts =
  ({ migrates }: { migrates: boolean }): StartParts =>
  async ({ dataDir, publicUrl, given }) => {
    if (migrates) await migrate(given);
    else await requireMigrations(given);
    if (given.SUPABASE_URL) return hostedParts();

    const lite = startLite({ output: "inherit", name: "the log" });
    try {
      const served = await lite.serve({
        databaseUrl: databaseUrl(given),
        dataDir,
        secrets: ownSecrets(dataDir),
        siteUrl: publicUrl,
        mail: { smtpUrl: given.SMTP_URL, from: given.MAIL_FROM },
      });
      const { died, stop } = lite;
      return embeddedParts({ ...served, died, stop }, given.API_KEY_SECRET);
    } catch (error) {
      await lite.stop();
      throw error;
    }
  };
