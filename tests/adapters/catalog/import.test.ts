/** `npm run catalog:import` on a separate database. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { albumPage, searchResult } from "../../../lib/catalog/present.ts";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { client } from "../../support/harness/clients.ts";
import { copyTemplate } from "../../support/harness/database-template.ts";
import { startServer } from "../../support/harness/server.ts";
import { startOwnParts } from "../../support/harness/stack.ts";

let parts: Awaited<ReturnType<typeof startOwnParts>>;
let server: RunningNext;
let sql: Sql;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "catalog-import-"));
  parts = await startOwnParts();
  server = await startServer({ env: parts.env });
  sql = postgres(parts.env.DATABASE_URL ?? "", { max: 1 });
});
afterAll(async () => {
  await sql?.end();
  await server?.stop();
  await parts?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** Runs the command on the data of the running server. */
async function run(name: string, text: string | Uint8Array): Promise<Outcome> {
  const file = join(folder, name);
  await writeFile(file, text);
  return new Promise((resolve) => {
    const env = { ...process.env, DATA_DIR: parts.env.DATA_DIR, INIT_CWD: folder };
    const args = ["scripts/launch.mjs", "catalog:import", name];
    execFile(process.execPath, args, { env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr });
    });
  });
}

const names = async () =>
  (await sql`select name from catalog_artists order by name`).map((row) => row.name);
const caller = () => client(null, server.url);

const csv = `artist,artist_genres,featured,album,album_type,release_date,markets,title,track_number,duration_ms,explicit,isrc,popularity,album_image
Ångström Nine,"ambient; drone",,"Long, ""Quiet"" Waves",album,2025-03,DE;FR,First Light,1,181000,false,QZ-ABC-26-00001,40,https://example.com/waves.jpg
Ångström Nine,,Guest Person,"Long, ""Quiet"" Waves",,2025-03,,Second Light,2,200500,true,QZABC2600002,55,
Guest Person,,,Alone,single,2024,,Alone,,,,,,
`;

describe("npm run catalog:import", () => {
  test("refuses a file with faults, names each with its line, and changes nothing", async () => {
    const before = await names();
    expect(before).toHaveLength(12);
    const broken = csv
      .replace("2025-03,DE;FR", "2025-13,DE;XX")
      .replace("true,QZABC2600002", "yes,12")
      .replace("Alone,single,2024", "Alone,mixtape,2024");
    const { code, output } = await run("broken.csv", broken);
    expect(code).toBe(1);
    expect(output.trim().split("\n")).toEqual([
      "line 2: release_date must be a date such as 2024, 2024-05 or 2024-05-31",
      "line 2: markets must be ISO 3166-1 alpha-2 country codes",
      "line 3: explicit must be true or false",
      "line 3: isrc must be a code such as QZABC2600001",
      "line 4: album_type must be one of album, single, compilation",
      "Nothing was imported.",
    ]);
    expect(await names()).toEqual(before);
  });

  test.each<[string, string, string | Uint8Array, string]>([
    ["an unknown column", "a.csv", "artist,album,tittle\n", 'line 1: unknown column "tittle"'],
    [
      "a missing column",
      "b.csv",
      "artist,album,title\nA,B,C\n",
      "line 2: release_date is required",
    ],
    [
      "a quote left open",
      "c.csv",
      'artist\n"A\nB\n',
      "line 2: a quoted field is not closed properly",
    ],
    ["too few fields", "d.csv", "artist,album\n\nA\n", "line 3: 1 fields, but the header has 2"],
    ["no entries", "e.csv", "artist,album\n", "The file has no entries"],
    ["no JSON", "f.jsonl", '\n{"artist":\n', "line 2: not a JSON object"],
    [
      "an unknown key",
      "g.jsonl",
      '{"artist":"A","album":"B","title":"C","release_date":"2024","x":1}',
      "line 1: x must not be provided",
    ],
    ["bytes that are no UTF-8", "h.csv", Uint8Array.of(0xff, 0xfe, 0x41), "is not UTF-8 text"],
    ["another kind of file", "i.xlsx", "x", "Usage: npm run catalog:import FILE"],
    [
      "lines that contradict each other",
      "j.csv",
      "artist,album,release_date,title\nA,B,2024,C\nA,B,2025,D\n",
      'line 3: release_date is "2025", but "2024" in line 2',
    ],
    [
      "a track that stands there twice",
      "k.csv",
      "artist,album,release_date,title,track_number\nA,B,2024,C,1\nA,B,2024,C,1\n",
      "line 3: the same track as in line 2",
    ],
  ])("refuses %s", async (_, name, text, sentence) => {
    const before = await names();
    const { code, output } = await run(name, text);
    expect(code).toBeGreaterThan(0);
    expect(output).toContain(sentence);
    expect(await names()).toEqual(before);
  });

  test("replaces the whole catalog of a running server, which shows it at once", async () => {
    const { code, output } = await run("catalog.csv", csv);
    expect(output).toContain("The catalog now has 2 artists, 2 albums and 3 tracks.");
    expect(code).toBe(0);
    expect(await names()).toEqual(["Guest Person", "Ångström Nine"]);

    const search = async (query: string) =>
      searchResult.parse((await caller().get(`/api/catalog/search?${query}`)).body);
    expect((await search("q=velvet&type=artist,playlist")).artists?.total).toBe(0);
    const { artists, albums, tracks } = await search("q=angstrom&type=artist,album,track");
    expect(artists?.items[0]).toMatchObject({
      name: "Ångström Nine",
      genres: ["ambient", "drone"],
    });
    expect(albums?.items[0]).toMatchObject({
      name: 'Long, "Quiet" Waves',
      total_tracks: 2,
      release_date: "2025-03",
      release_date_precision: "month",
      available_markets: ["DE", "FR"],
      images: [{ url: "https://example.com/waves.jpg", height: null, width: null }],
    });
    expect(tracks?.items.map(({ name }) => name)).toEqual(["Second Light", "First Light"]);
    expect(tracks?.items[0]).toMatchObject({
      explicit: true,
      duration_ms: 200500,
      external_ids: { isrc: "QZABC2600002" },
      artists: [{ name: "Ångström Nine" }, { name: "Guest Person" }],
    });

    const guest = (await search("q=guest+person&type=artist")).artists?.items[0];
    const page = albumPage.parse(
      (await caller().get(`/api/catalog/artist/albums?id=${guest?.id}`)).body,
    );
    expect(page.items.map(({ name, album_group }) => [name, album_group])).toEqual([
      ["Alone", "single"],
      ['Long, "Quiet" Waves', "appears_on"],
    ]);
    expect(page.items[0]?.available_markets).toHaveLength(249);
    const research = await caller().get("/api/research/tracks?artist=guest+person");
    expect(research.body).toMatchObject({
      tracks: [{ title: "Second Light" }, { title: "Alone", isrcs: [], avatar: "" }],
    });
  });

  test("gives the same ids to the same file, as CSV or as JSON lines", async () => {
    const ids = () => sql`
      select id from catalog_artists union select id from catalog_albums
      union select id from catalog_tracks order by 1`;
    await run("catalog.csv", csv);
    const fromCsv = await ids();
    const album = { album: 'Long, "Quiet" Waves', release_date: "2025-03" };
    const lines = [
      { artist: "Ångström Nine", ...album, title: "First Light", artist_genres: ["ambient"] },
      {
        artist: "Ångström Nine",
        ...album,
        title: "Second Light",
        featured: ["Guest Person"],
        explicit: true,
      },
      {
        artist: "Guest Person",
        album: "Alone",
        release_date: "2024",
        title: "Alone",
        popularity: 3,
      },
    ];
    const { code, output } = await run(
      "catalog.jsonl",
      lines.map((line) => JSON.stringify(line)).join("\r\n"),
    );
    expect(code, output).toBe(0);
    expect(await ids()).toEqual(fromCsv);
  });

  test("takes ids and thousands of tracks", async () => {
    const count = 2_000;
    const lines = Array.from({ length: count }, (_, index) =>
      JSON.stringify({
        artist: `Artist ${index % 100}`,
        artist_id: `artist${index % 100}`,
        album: `Album ${index % 500}`,
        album_id: `album${index % 500}`,
        release_date: "2024-05-31",
        title: `Track ${index}`,
        track_id: `track${index}`,
      }),
    );
    const { code, output } = await run("large.ndjson", lines.join("\n"));
    expect(code, output).toBe(0);
    const [row] = await sql`select count(*)::int as count from catalog_tracks`;
    expect(row?.count).toBe(count);
    const page = albumPage.parse(
      (await caller().get("/api/catalog/artist/albums?id=artist7")).body,
    );
    expect(page.items.map(({ id }) => id).sort()).toEqual(
      ["album107", "album207", "album307", "album407", "album7"].sort(),
    );
    expect(page.items.every((item) => item.total_tracks === 4)).toBe(true);
  });

  test("works when no server runs, on data that is then there for the next", async () => {
    const own = await mkdtemp(join(tmpdir(), "catalog-import-data-"));
    copyTemplate(inject("stack").template, own);
    const file = join(folder, "catalog.csv");
    await writeFile(file, csv);
    const output = await new Promise<string>((resolve) => {
      const env = { ...process.env, DATA_DIR: own };
      const args = ["scripts/launch.mjs", "catalog:import", file];
      execFile(process.execPath, args, { env, timeout: 60_000 }, (_, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    await rm(own, { recursive: true, force: true });
    expect(output).toContain("The catalog now has 2 artists, 2 albums and 3 tracks.");
  });
});
