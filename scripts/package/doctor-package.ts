import { checkParsing } from "../../lib/health/check-settings.ts";
import { misconfigured } from "../../lib/health/finding.ts";
import { DataDirUnusable, dataDirOf } from "../data-dir.ts";
import type { Installation } from "../doctor.ts";
import { startPackagedParts } from "./parts.ts";

/** Placeholders for the settings that the REST and auth server provides once it runs. */
const provided = {
  SUPABASE_URL: "http://127.0.0.1",
  SUPABASE_SECRET_KEY: "provided",
  SUPABASE_PUBLISHABLE_KEY: undefined,
  SUPABASE_JWT_SECRET: undefined,
  SUPABASE_JWT_ISSUER: undefined,
};
const API_KEY_SECRET = "made with the others unless it is given";

/** A self-contained package: PostgreSQL of one's own, unless a Supabase project is configured. */
export const packagedInstallation: Installation = {
  name: "bin/doctor",
  checkGiven: (env) =>
    checkParsing(
      env.SUPABASE_URL
        ? env
        : { ...env, ...provided, API_KEY_SECRET: env.API_KEY_SECRET || API_KEY_SECRET },
    ),
  async reachParts(publicUrl) {
    const given = process.env;
    try {
      const dataDir = dataDirOf(given);
      return await startPackagedParts({ migrates: false, waits: false })({
        dataDir,
        publicUrl,
        given,
      });
    } catch (error) {
      if (error instanceof DataDirUnusable) {
        const remedy = "Set DATA_DIR to a folder that the user of the server may write to.";
        return misconfigured("data", error.message, remedy, ["DATA_DIR"]);
      }
      const detail = error instanceof Error ? error.message : String(error);
      const remedy = "Correct DATABASE_URL, or run bin/migrate where a migration is missing.";
      return misconfigured("database", detail, remedy, ["DATABASE_URL"]);
    }
  },
};
