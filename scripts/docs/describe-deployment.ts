import { join } from "node:path";
import { SCHEMA_VERSION } from "../../lib/platform/database/schema-version.ts";
import { listMigrations } from "../embedded/list-migrations.ts";
import { projectRoot } from "../project-root.ts";

/** Returns the guide to deployment with the migrations of this version in its examples of output. */
export function withMigrations(guide: string): string {
  const [first, ...later] = listMigrations(join(projectRoot, "supabase"));
  return guide
    .replaceAll(/current \(\d{14}\)/g, `current (${SCHEMA_VERSION})`)
    .replaceAll(
      /lacks the migration \w+\.sql(?: and (?:…|\d+) more)?/g,
      `lacks the migration ${first?.file}${later.length > 0 ? ` and ${later.length} more` : ""}`,
    )
    .replaceAll(/Applied migrations: \d+/g, `Applied migrations: ${1 + later.length}`);
}
