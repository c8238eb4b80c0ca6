import { misconfigured } from "../lib/health/finding.ts";
import { checkGiven } from "./check-given.ts";
import { dataDirOf } from "./data-dir.ts";
import type { Installation } from "./doctor.ts";
import { findServed } from "./embedded/find-served.ts";
import { DataDirInUse, startEmbedded } from "./embedded/start-embedded.ts";
import { embeddedParts } from "./parts.ts";

/** An installation of this repository: the embedded parts, unless a Supabase project is configured. */
export const repositoryInstallation: Installation = {
  name: "npm run doctor --",
  checkGiven,
  /** Finds the embedded parts of a running server, or starts them for the checks. */
  async reachParts(publicUrl) {
    const dataDir = dataDirOf(process.env);
    try {
      const embedded = await startEmbedded({ dataDir, siteUrl: publicUrl }).catch(
        (error: unknown) => {
          const served = error instanceof DataDirInUse ? findServed(dataDir, publicUrl) : undefined;
          if (served === undefined) throw error;
          const untouched = { died: new Promise<string>(() => {}), stop: async () => {} };
          return { ...served, ...untouched };
        },
      );
      return embeddedParts(embedded, process.env.API_KEY_SECRET);
    } catch (error) {
      const detail = `the embedded parts do not start: ${error instanceof Error ? error.message : error}`;
      const remedy = "Set DATA_DIR to a folder that can be written to, and see its folder logs.";
      return misconfigured("database", detail, remedy, ["DATA_DIR"]);
    }
  },
};
