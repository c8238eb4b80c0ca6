import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { connectPostgres } from "../embedded/connect-postgres.ts";
import type { ReachedDatabase } from "../reach-database.ts";
import { buildRows, type CatalogRows } from "./build-rows.ts";
import { columns, readEntries } from "./read-entries.ts";

const MAX_PRINTED_FAULTS = 20;
/** PostgreSQL accepts at most 65,535 parameters per statement. */
const BATCH_ROWS = 1_000;

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
  const { SUPABASE_URL, DATABASE_URL, DIRECT_DATABASE_URL } = process.env;
  if (SUPABASE_URL) {
    const url = DIRECT_DATABASE_URL || DATABASE_URL;
    if (url) return { url, stop: async () => {} };
    throw new Error(
      "DATABASE_URL must be set, because the import connects directly to PostgreSQL.",
    );
  }
  return command.reachDatabase();
}

/** Replaces all rows of the catalog in one transaction, during which readers still see the old ones. */
async function replaceCatalog(databaseUrl: string, rows: CatalogRows): Promise<void> {
  const sql = connectPostgres(databaseUrl, { max: 1 });
  const withImages = <T extends { images: readonly object[] }>(row: T) => ({
    ...row,
    images: sql.json(row.images.map((image) => ({ ...image }))),
  });
  const tables = {
    catalog_artists: rows.artists.map(withImages),
    catalog_albums: rows.albums.map(withImages),
    catalog_album_artists: rows.albumArtists,
    catalog_tracks: rows.tracks,
    catalog_track_artists: rows.trackArtists,
  };
  try {
    await sql.begin(async (sql) => {
      // A concurrent import waits, and then replaces this one.
      await sql`lock table public.catalog_artists in share row exclusive mode`;
      await sql`delete from public.catalog_others`;
      await sql`delete from public.catalog_albums`;
      await sql`delete from public.catalog_artists`;
      for (const [table, all] of Object.entries(tables)) {
        for (let start = 0; start < all.length; start += BATCH_ROWS) {
          const batch = all.slice(start, start + BATCH_ROWS);
          await sql`insert into ${sql(`public.${table}`)} ${sql(batch)}`;
        }
        // Without fresh statistics, the planner assumes empty tables and queries take ten times as long.
        await sql`analyze ${sql(`public.${table}`)}`;
      }
      await sql`select public.catalog_index()`;
    });
  } finally {
    await sql.end();
  }
}
