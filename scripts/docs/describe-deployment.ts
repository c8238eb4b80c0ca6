import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SCHEMA_VERSION } from "../../lib/platform/database/schema-version.ts";
import { projectRoot } from "../project-root.ts";

/** Returns the guide to deployment with the migrations of this version in its examples of output. */
export function withMigrations(guide: string): string {
  const files = readdirSync(join(projectRoot, "supabase", "migrations")).sort();
  return guide
    .replaceAll(/current \(\d{14}\)/g, `current (${SCHEMA_VERSION})`)
    .replaceAll(
      /lacks the migration \w+\.sql and (?:…|\d+) more/g,
      `lacks the migration ${files[0]} and ${files.length - 1} more`,
    )
    .replaceAll(/Applied (?:…|\d+) migrations/g, `Applied ${files.length} migrations`);
}
