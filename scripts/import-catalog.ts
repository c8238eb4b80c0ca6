import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { buildRows, type CatalogRows } from "../lib/catalog/import/build-rows.ts";
import { columns, readEntries } from "../lib/catalog/import/read-entries.ts";
import { replaceCatalog } from "../lib/catalog/import/replace-catalog.ts";
import type { Command } from "./command.ts";
import type { ReachedDatabase } from "./reach-database.ts";

const MAX_PRINTED_FAULTS = 20;

/**
 * `FILE`: replaces the embedded catalog by the tracks of a file. Changes
 * nothing when the file has any error. The server may be running.
 *
 * @returns the exit code
 */
export async function importCatalog([file]: readonly string[], command: Command): Promise<number> {
  const format = file && /\.csv$/i.test(file) ? "csv" : "jsonl";
  if (!file || (format === "jsonl" && !/\.(jsonl|ndjson)$/i.test(file))) {
    console.error(
      `Usage: ${command.name} FILE, with a .csv, .jsonl or .ndjson file: one track per line, ` +
        "with at least artist, album, release_date and title.\n" +
        `Columns or keys: ${columns.join(", ")}. Lists in CSV are separated by ";".`,
    );
    return 2;
  }
  const built = readRows(resolve(process.env.INIT_CWD ?? ".", file), format);
  if ("faults" in built) {
    console.error(built.faults.slice(0, MAX_PRINTED_FAULTS).join("\n"));
    const more = built.faults.length - MAX_PRINTED_FAULTS;
    if (more > 0) console.error(`and ${more} more`);
    console.error("Nothing was imported.");
    return 1;
  }
  const database = await reachDatabase(command);
  try {
    await replaceCatalog(database.url, built.rows);
  } finally {
    await database.stop();
  }
  const { artists, albums, tracks } = built.rows;
  console.log(
    `The catalog now has ${artists.length} artists, ${albums.length} albums and ${tracks.length} tracks.`,
  );
  return 0;
}

function readRows(
  path: string,
  format: "csv" | "jsonl",
): { rows: CatalogRows } | { faults: readonly string[] } {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const isText = error instanceof TypeError;
    return { faults: [isText ? `${path} is not UTF-8 text` : `${path} cannot be read`] };
  }
  const read = readEntries(text, format);
  return "faults" in read ? read : buildRows(read.entries);
}

/** Returns the configured database or the one beside the server. */
async function reachDatabase(command: Command): Promise<ReachedDatabase> {
  const { SUPABASE_URL, DATABASE_URL } = process.env;
  if (SUPABASE_URL) {
    if (DATABASE_URL) return { url: DATABASE_URL, stop: async () => {} };
    throw new Error(
      "DATABASE_URL must be set, because the import connects directly to PostgreSQL.",
    );
  }
  return command.reachDatabase();
}
