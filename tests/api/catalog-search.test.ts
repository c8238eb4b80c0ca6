import { describe, expect, test } from "vitest";
import { searchResult } from "../../lib/catalog/present.ts";
import type { paths } from "../generated/api.ts";
import { type Client, client, createPerson, dataOf } from "../support/harness/clients.ts";
import { stack } from "../support/harness/stack.ts";

type Query = paths["/api/catalog/search"]["get"]["parameters"]["query"];

const search = (query: Query, caller: Client = client()) =>
  dataOf(caller.api.GET("/api/catalog/search", { params: { query } }));

const artistNames = async (q: string) =>
  (await search({ q, type: "artist" })).artists?.items.map(({ name }) => name);

describe("GET /api/catalog/search 200", () => {
  test("answers a key, a bearer and an anonymous caller alike", async () => {
    const person = await createPerson();
    const query = { q: "velvet harbor", type: "artist,album" };
    const anonymous = await search(query);
    expect(anonymous.artists?.total).toBe(1);
    expect(await search(query, person.withKey)).toEqual(anonymous);
    expect(await search(query, person.withBearer)).toEqual(anonymous);
  });

  test("an artist has every field, with addresses of this service that work", async () => {
    const { artists } = await search({ q: "Velvet Harbor", type: "artist" });
    const [artist] = artists?.items ?? [];
    expect(artist).toMatchObject({
      type: "artist",
      name: "Velvet Harbor",
      genres: ["dream pop", "indie"],
      popularity: 71,
      followers: { href: "", total: 482310 },
      images: [{ height: 640, width: 640, url: expect.stringMatching(/^data:image\/svg/) }],
      uri: `catalog:artist:${artist?.id}`,
      href: `${stack.url}/api/catalog/artist/albums?id=${artist?.id}`,
      external_urls: { catalog: artist?.href },
    });
    expect((await fetch(artist?.href ?? "")).status).toBe(200);
  });

  test("holds one page for each type asked for, and no other", async () => {
    const all = "album,artist,playlist,track,show,episode,audiobook";
    const plurals = all.split(",").map((type) => `${type}s`);
    const keysOf = async (type: string) => Object.keys(await search({ q: "quiet", type })).sort();
    // The embedded catalog names itself.
    expect(await keysOf(all)).toEqual([...plurals, "source"].sort());
    for (const type of all.split(",")) {
      expect(await keysOf(type)).toEqual([`${type}s`, "source"].sort());
    }
    expect(await keysOf("track,track")).toEqual(["source", "tracks"]);
  });

  test.each([
    ["another case", "VELVET harbor", "Velvet Harbor"],
    ["no accents", "rio ambar", "Río Ámbar"],
    ["accents that are not there", "vélvet hàrbor", "Velvet Harbor"],
    ["a stroke for an o", "norra", "Nørra Lind"],
    ["other punctuation", "sable, (finch)", "Sable & Finch"],
    ["the beginning of a word", "odes", "Odessa Brightwater"],
    ["words in another order", "almanac tin", "The Tin Almanac"],
  ])("a name is found with %s", async (_, q, name) => {
    expect(await artistNames(q)).toContain(name);
  });

  test("every word must match, and a text without a word finds nothing", async () => {
    expect(await artistNames("velvet orchard")).toEqual([]);
    expect(await artistNames("!!! '' \\")).toEqual([]);
    expect(await artistNames("' | velvet & !harbor:*")).toEqual(["Velvet Harbor"]);
  });

  test("the very name comes first, whatever is more popular", async () => {
    const { tracks } = await search({ q: "Bright Water", type: "track", limit: 50 });
    expect(tracks?.items[0]?.name).toBe("Bright Water");
    expect(tracks?.total).toBeGreaterThan(5);
  });

  test("field filters narrow: artist, album, track, year, genre, isrc", async () => {
    const of = async (q: string) => (await search({ q, type: "track", limit: 50 })).tracks;
    const byArtist = await of('artist:"glass orchard"');
    expect(byArtist?.total).toBeGreaterThan(20);
    expect(
      byArtist?.items.every(({ artists }) => artists.some(({ name }) => name === "Glass Orchard")),
    ).toBe(true);
    const narrow = await of('artist:"glass orchard" year:2017-2018');
    expect(new Set(narrow?.items.map(({ album }) => album.name))).toEqual(
      new Set(["Cider Weather"]),
    );
    expect((await of('album:"cider weather"'))?.total).toBe(9);
    expect((await of("genre:techno year:2016"))?.total).toBe(8);
    expect((await of("track:windfall artist:glass"))?.items.map(({ name }) => name)).toEqual([
      "Windfall",
    ]);
    const isrc = byArtist?.items[0]?.external_ids?.isrc ?? "";
    expect((await of(`isrc:${isrc}`))?.items.map(({ id }) => id)).toEqual([byArtist?.items[0]?.id]);
  });

  test("a market shows only playable tracks", async () => {
    const albums = async (market?: "US" | "from_token") =>
      (await search({ q: "kilo static", type: "album", ...(market ? { market } : {}) })).albums;
    const inUs = await albums("US");
    expect(inUs?.total).toBeLessThan((await albums())?.total ?? 0);
    expect(inUs?.items.every(({ available_markets }) => available_markets?.includes("US"))).toBe(
      true,
    );
    expect((await albums("from_token"))?.total).toBe((await albums())?.total);
  });

  test("pages follow each other by their own links and hold every hit once", async () => {
    const first = await search({ q: "lantern", type: "track", limit: 3 });
    const seen: string[] = [];
    let page = first.tracks;
    for (;;) {
      seen.push(...(page?.items.map(({ id }) => id) ?? []));
      if (!page?.next) break;
      expect(page.next.startsWith(`${stack.url}/api/catalog/search?`)).toBe(true);
      page = searchResult.parse(await (await fetch(page.next)).json()).tracks;
    }
    expect(first.tracks?.previous).toBeNull();
    expect(page?.previous).not.toBeNull();
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(first.tracks?.total);
    expect(seen.length).toBeGreaterThan(3);
  });

  test("twenty is the page when no limit is given, and past the end there is nothing", async () => {
    const page = (await search({ q: "a", type: "track" })).tracks;
    expect(page).toMatchObject({ limit: 20, offset: 0 });
    expect(page?.items).toHaveLength(20);
    const past = (await search({ q: "a", type: "track", offset: 10000 })).tracks;
    expect(past).toMatchObject({ items: [], next: null, total: page?.total });
  });
});
