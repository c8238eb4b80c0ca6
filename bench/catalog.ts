/** The cost of a search in the embedded catalog: the endpoint against the call under it. */
import postgres from "postgres";
import { bareCall, compareRoutes, endpoint } from "./compare-routes.ts";
import type { Bench, BenchContext } from "./context.ts";

const ARTISTS = 2_000;
const ALBUMS_EACH = 5;
const TRACKS_EACH = 10;

export const benchCatalog: Bench = async (context) => {
  const sql = postgres(context.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await compare(context, "seeded catalog", "artist", "velvet harbor");
    await compare(context, "seeded catalog", "track", "low tide letters");
    await fill(sql);
    const large = `catalog of ${(ARTISTS * ALBUMS_EACH * TRACKS_EACH) / 1_000}k tracks`;
    await compare(context, large, "artist", "velvet harbor");
    await compare(context, large, "track", "low tide letters");
    // Each word is the beginning of one: this finds them all.
    await compare(context, large, "track", "b");
  } finally {
    await sql.end();
  }
};

async function compare(context: BenchContext, what: string, type: string, q: string) {
  const args = { kinds: [type], text: q, fields: {}, market: null };
  await compareRoutes(
    `${what}, ${type} "${q}"`,
    endpoint(context, `/api/catalog/search?${new URLSearchParams({ q, type })}`),
    bareCall(context, "catalog_search", { ...args, limit: 20, offset: 0 }),
  );
}

/** Beside the seed, whose artists are searched for. */
async function fill(sql: postgres.Sql): Promise<void> {
  await sql`
    insert into catalog_artists (id, name, popularity)
    select 'benchartist' || n, 'Bench Artist ' || n, n % 100 from generate_series(1, ${ARTISTS}::int) n`;
  await sql`
    insert into catalog_albums (id, name, album_type, release_date, markets)
    select 'benchalbum' || n || 'x' || m, 'Bench Album ' || m || ' of ' || n, 'album', '2024', '{DE,US}'
    from generate_series(1, ${ARTISTS}::int) n, generate_series(1, ${ALBUMS_EACH}::int) m`;
  await sql`
    insert into catalog_album_artists (album_id, artist_id, is_main, place)
    select 'benchalbum' || n || 'x' || m, 'benchartist' || n, true, 1
    from generate_series(1, ${ARTISTS}::int) n, generate_series(1, ${ALBUMS_EACH}::int) m`;
  await sql`
    insert into catalog_tracks (id, album_id, name, track_number, popularity)
    select 'benchtrack' || n || 'x' || m || 'x' || t, 'benchalbum' || n || 'x' || m,
      'Bench Track ' || t || ' of ' || n, t, (n + t) % 100
    from generate_series(1, ${ARTISTS}::int) n, generate_series(1, ${ALBUMS_EACH}::int) m,
      generate_series(1, ${TRACKS_EACH}::int) t`;
  await sql`
    insert into catalog_track_artists (track_id, artist_id, place)
    select 'benchtrack' || n || 'x' || m || 'x' || t, 'benchartist' || n, 1
    from generate_series(1, ${ARTISTS}::int) n, generate_series(1, ${ALBUMS_EACH}::int) m,
      generate_series(1, ${TRACKS_EACH}::int) t`;
  await sql`analyze catalog_artists, catalog_albums, catalog_tracks, catalog_album_artists,
    catalog_track_artists`;
  await sql`select catalog_index()`;
}
