import { describe, expect, test } from "vitest";
import { listTracksContract } from "../../lib/research/contract.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { type Client, client, createPerson } from "../support/harness/clients.ts";
import { expectPublished } from "../support/harness/published.ts";
import { sql } from "../support/harness/stack.ts";

const published = listTracksContract.responses[200].schema;

async function tracks(query: Record<string, string>, caller: Client = client()) {
  const answer = await caller.get(`/api/research/tracks?${new URLSearchParams(query)}`);
  expect(answer.status, answer.text).toBe(200);
  expectPublished(answer, listTracksContract);
  return published.parse(answer.body).tracks;
}

describe("GET /api/research/tracks 200", () => {
  test("answers a key, a bearer and an anonymous caller alike", async () => {
    const person = await createPerson();
    const anonymous = await tracks({ artist: "Glass Orchard" });
    expect(await tracks({ artist: "Glass Orchard" }, person.withKey)).toEqual(anonymous);
    expect(await tracks({ artist: "Glass Orchard" }, person.withBearer)).toEqual(anonymous);
  });

  test("holds every track the artist is heard on, the most popular first", async () => {
    const found = await tracks({ artist: "Glass Orchard" });
    const rows = await sql`
      select t.name from catalog_tracks t
      join catalog_track_artists l on l.track_id = t.id
      join catalog_artists a on a.id = l.artist_id
      where a.name = 'Glass Orchard' order by t.popularity desc, t.folded, t.id`;
    expect(found.map(({ title }) => title)).toEqual(rows.map(({ name }) => name));
    expect(found.length).toBeGreaterThan(20);
    expect(found.some(({ artists }) => artists.length === 2)).toBe(true);
    for (const track of found) {
      expect(track.artists.map(({ name }) => name)).toContain("Glass Orchard");
      expect(track.isrcs).toEqual([expect.stringMatching(/^XXAGP26\d{5}$/)]);
      expect(track.avatar).toMatch(/^data:image/);
    }
    expect((await fetch(found[0]?.site_url ?? "")).status).toBe(200);
  });

  test.each(["glass orchard", "GLASS ORCHÄRD", "  Glass   Orchard "])(
    "finds %j",
    async (artist) => {
      expect(await tracks({ artist })).toEqual(await tracks({ artist: "Glass Orchard" }));
    },
  );

  test("part of a name finds the most popular artist who has it", async () => {
    expect(await tracks({ artist: "orchard" })).toEqual(await tracks({ artist: "Glass Orchard" }));
  });

  test("an id finds its artist and wins over a name", async () => {
    const [row] = await sql`select id from catalog_artists where name = 'Kilo Static'`;
    const byId = await tracks({ id: String(row?.id) });
    expect(byId).toEqual(await tracks({ artist: "Kilo Static" }));
    expect(await tracks({ id: String(row?.id), artist: "Glass Orchard" })).toEqual(byId);
    expect(await tracks({ id: String(row?.id), artist: "" })).toEqual(byId);
  });
});

describe("GET /api/research/tracks 404", () => {
  test.each(["artist=Nobody+At+All", "artist=!!!", "id=nobody", "id=not:in-here.at_all"])(
    "%s matches no artist",
    async (query) => {
      const answer = await client().get(`/api/research/tracks?${query}`);
      expectError(answer, 404, "error", "Artist not found");
    },
  );
});
