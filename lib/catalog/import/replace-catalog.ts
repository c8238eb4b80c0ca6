/**
 * Replaces all rows of the catalog in one transaction, during which readers still see the old ones.
 */
import postgres from "postgres";
import type { CatalogRows } from "./build-rows.ts";

/** PostgreSQL accepts at most 65,535 parameters per statement. */
const BATCH_ROWS = 1_000;

export async function replaceCatalog(databaseUrl: string, rows: CatalogRows): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.begin(async (sql) => {
      // A concurrent import waits, and then replaces this one.
      await sql`lock table public.catalog_artists in share row exclusive mode`;
      await sql`delete from public.catalog_others`;
      await sql`delete from public.catalog_albums`;
      await sql`delete from public.catalog_artists`;
      const withImages = <T extends { images: readonly object[] }>(row: T) => ({
        ...row,
        images: sql.json(row.images.map((image) => ({ ...image }))),
      });
      for (const batch of batches(rows.artists.map(withImages))) {
        await sql`insert into public.catalog_artists ${sql(batch)}`;
      }
      for (const batch of batches(rows.albums.map(withImages))) {
        await sql`insert into public.catalog_albums ${sql(batch)}`;
      }
      for (const batch of batches(rows.albumArtists)) {
        await sql`insert into public.catalog_album_artists ${sql(batch)}`;
      }
      for (const batch of batches(rows.tracks)) {
        await sql`insert into public.catalog_tracks ${sql(batch)}`;
      }
      for (const batch of batches(rows.trackArtists)) {
        await sql`insert into public.catalog_track_artists ${sql(batch)}`;
      }
      // Without fresh statistics, the planner assumes empty tables and queries take ten times as long.
      await sql`analyze public.catalog_artists, public.catalog_albums, public.catalog_tracks,
        public.catalog_album_artists, public.catalog_track_artists`;
      await sql`select public.catalog_index()`;
    });
  } finally {
    await sql.end();
  }
}

function* batches<T>(rows: readonly T[]): Generator<T[]> {
  for (let start = 0; start < rows.length; start += BATCH_ROWS)
    yield rows.slice(start, start + BATCH_ROWS);
}
