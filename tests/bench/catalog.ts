/** What a search of the embedded catalog costs: the endpoint against the query under it. */
import postgres from "postgres";
import { type Bench, type BenchContext, quantile, report, timed } from "./context.ts";

const ARTISTS = 2_000;
const ALBUMS_EACH = 5;
const TRACKS_EACH = 10;
const ROUNDS = 300;
const WARM_UP = 50;
/** Requests under way at once, and for how many milliseconds. */
const AT_ONCE = 16;
const DURATION = 4_000;

export const benchCatalog: Bench = async (context) => {
  const sql = postgres(context.databaseUrl, { max: AT_ONCE, onnotice: () => {} });
  try {
    await compare(context, sql, "seeded catalog");
    await fill(sql);
    const tracks = ARTISTS * ALBUMS_EACH * TRACKS_EACH;
    await compare(context, sql, `catalog of ${tracks / 1_000}k tracks`);
  } finally {
    await sql.end();
  }
};

async function compare(context: BenchContext, sql: postgres.Sql, what: string): Promise<void> {
  for (const [kind, q] of [
    ["artist", "velvet harbor"],
    ["track", "low tide letters"],
  ] as const) {
    const query = () =>
      sql`select catalog_search(array[${kind}], ${q}, '{}'::jsonb, null, 20, 0) as found`;
    const request = () => search(context, kind, q);
    const [ours, bare]: [number[], number[]] = [[], []];
    // In turns, so that what else the machine does falls on both alike.
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const times = [await timed(request), await timed(query)] as const;
      if (round < 0) continue;
      ours.push(times[0]);
      bare.push(times[1]);
    }
    const name = `${what}, ${kind}: search against the query`;
    report(`${name}, p50`, "ms", quantile(ours, 0.5), quantile(bare, 0.5));
    report(`${name}, p99`, "ms", quantile(ours, 0.99), quantile(bare, 0.99));
    report(`${name}, ${AT_ONCE} at once`, "/s", await perSecond(request), await perSecond(query));
  }
  const nothing = () => fetch(`${context.bareUrl}/api/nothing`).then((answer) => answer.text());
  const request = () => search(context, "artist", "velvet harbor");
  report(
    `${what}, artist: search against a bare route, ${AT_ONCE} at once`,
    "/s",
    await perSecond(request),
    await perSecond(nothing),
  );
}

async function search({ url, key }: BenchContext, type: string, q: string): Promise<string> {
  const query = new URLSearchParams({ q, type });
  const response = await fetch(`${url}/api/catalog/search?${query}`, {
    headers: { "x-api-key": key },
  });
  const text = await response.text();
  if (!response.ok || !text.includes('"total":')) throw new Error(`${response.status} ${text}`);
  return text;
}

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let done = 0;
  const one = async () => {
    while (performance.now() - started < DURATION) {
      await work();
      done++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return (done / (performance.now() - started)) * 1_000;
}

/** Beside the seed, whose artists are what is searched for. */
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
