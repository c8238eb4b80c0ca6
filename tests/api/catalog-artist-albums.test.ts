import { beforeAll, describe, expect, test } from "vitest";
import { albumPage } from "../../lib/catalog/present.ts";
import type { paths } from "../generated/api.ts";
import { expectErrorShape } from "../support/fixtures/shapes.ts";
import { client, dataOf } from "../support/harness/clients.ts";
import { sql, stack } from "../support/harness/stack.ts";

const path = "/api/catalog/artist/albums";
let id = "";

beforeAll(async () => {
  const [row] = await sql`select id from catalog_artists where name = 'Velvet Harbor'`;
  id = String(row?.id);
});

type Query = paths[typeof path]["get"]["parameters"]["query"];

const albums = (query: Partial<Query> = {}) =>
  dataOf(client().api.GET(path, { params: { query: { id, ...query } } }));

describe("GET /api/catalog/artist/albums 200", () => {
  test("albums of all groups, by group and then the newest first", async () => {
    const { items, total } = await albums();
    const own = items.filter(({ album_group }) => album_group !== "appears_on");
    expect(own.map(({ name, album_group }) => [name, album_group])).toEqual([
      ["Salt in the Signal", "album"],
      ["Low Tide Letters", "album"],
      ["Fog Lamps", "single"],
      ["Moorings", "single"],
      ["Harbor Lights 2014-2024", "compilation"],
    ]);
    expect(total).toBe(items.length);
    expect(total).toBeGreaterThan(own.length);
  });

  test("an album has every field, with addresses of this service", async () => {
    const [album] = (await albums({ include_groups: "compilation" })).items;
    expect(album).toMatchObject({
      type: "album",
      album_type: "compilation",
      album_group: "compilation",
      name: "Harbor Lights 2014-2024",
      total_tracks: 9,
      release_date: "2024-11-08",
      release_date_precision: "day",
      uri: `catalog:album:${album?.id}`,
      external_urls: { catalog: album?.href },
      artists: [{ type: "artist", id, name: "Velvet Harbor", uri: `catalog:artist:${id}` }],
    });
    expect(album?.available_markets).toContain("DE");
    expect(album?.href.startsWith(`${stack.url}/api/catalog/search?q=Harbor`)).toBe(true);
    expect((await fetch(album?.href ?? "")).status).toBe(200);
  });

  test("release dates keep the precision that is known", async () => {
    const [row] = await sql`select id from catalog_artists where name = 'Marisol Quint'`;
    const { items } = await albums({ id: String(row?.id) });
    const precisions = Object.fromEntries(
      items.map((item) => [item.release_date, item.release_date_precision]),
    );
    expect(precisions).toMatchObject({ "2013": "year", "2023-04": "month", "2021-02-12": "day" });
  });

  test.each([
    ["album", 2],
    ["single", 2],
    ["compilation", 1],
    ["single,album", 4],
    ["album,album", 2],
  ])("include_groups=%s gives just those", async (groups, count) => {
    const { items, total } = await albums({ include_groups: groups });
    expect([items.length, total]).toEqual([count, count]);
    expect(items.every((item) => groups.split(",").includes(item.album_group ?? ""))).toBe(true);
  });

  test("appears_on has releases of others with this artist", async () => {
    const { items } = await albums({ include_groups: "appears_on" });
    expect(items.length).toBeGreaterThan(0);
    expect(items.flatMap(({ artists }) => artists.map((artist) => artist.id))).not.toContain(id);
  });

  test("a market omits unavailable releases", async () => {
    const { items } = await albums({ market: "US", include_groups: "album,single" });
    expect(items.map(({ name }) => name)).toEqual([
      "Salt in the Signal",
      "Low Tide Letters",
      "Moorings",
    ]);
  });

  test("pages follow each other by their own links and hold every album once", async () => {
    const whole = await albums({ limit: 50 });
    let page = await albums({ limit: 2, market: "DE" });
    const seen = page.items.map((item) => item.id);
    while (page.next) {
      page = albumPage.parse(await (await fetch(page.next)).json());
      seen.push(...page.items.map((item) => item.id));
    }
    const inGermany = whole.items.filter((item) => item.available_markets?.includes("DE"));
    expect(seen).toEqual(inGermany.map((item) => item.id));
    const back = albumPage.parse(await (await fetch(page.previous ?? "")).json());
    expect(back.next).toBe(page.href);
  });

  test("an offset beyond every album is an empty page, however large", async () => {
    for (const offset of [1000, 999_999_999_999_999]) {
      const { total } = await albums();
      expect(await albums({ offset })).toMatchObject({ items: [], next: null, total });
    }
  });
});

describe("GET /api/catalog/artist/albums 404", () => {
  test("an artist that the catalog does not have", async () => {
    const answer = await client().get(`${path}?id=nobody`);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ error: { status: 404, message: "Artist not found" } });
    expectErrorShape(answer, "catalog");
  });
});
