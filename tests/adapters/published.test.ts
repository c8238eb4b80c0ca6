/** Fakes are compared with the documents of their vendors (tests/vendors/openapi). */
import { HttpResponse, http } from "msw";
import { afterEach, expect, it } from "vitest";
import { takeDifferences } from "../support/fakes/check-openapi.ts";
import { servePublished } from "../support/fakes/vendor-server.ts";

const paging = { href: "x", limit: 1, next: null, offset: 0, previous: null, total: 1 };
const artist = { id: "a", name: "Ada", uri: "spotify:artist:a" };

let close = async () => {};
afterEach(() => close());

async function ask(path: string, answer: object, status = 200): Promise<string[]> {
  const server = await servePublished({ document: "spotify", base: "/v1", covers: "/v1/" }, [
    http.get("*", () => HttpResponse.json(answer, { status })),
  ]);
  close = server.close;
  await fetch(server.origin + path).then((response) => response.text());
  return takeDifferences();
}

const search = (query: string, answer: object, status?: number) =>
  ask(`/v1/search?${query}`, answer, status);

it("accepts what the document names, without the fields that it deprecates", async () => {
  const answer = { artists: { ...paging, items: [artist] } };
  expect(await search("q=a&type=artist,track&limit=10", answer)).toEqual([]);
  expect(await search("q=a&type=artist", { message: "odd" }, 500)).toEqual([]);
});

it.each([
  ["q=a", { artists: paging }, "the query must have required property 'type'"],
  ["q=a&type=song", {}, "the query/type/0 must be equal to one of the allowed values"],
  ["q=a&type=track&limit=11", {}, "the query/limit must be <= 10"],
  ["q=a&type=track&sort=name", {}, "the query must NOT have additional properties"],
  ["q=a&type=track", { artists: { ...paging, total: "1" } }, "/artists/total must be integer"],
  ["q=a&type=track", { artists: { href: "x" } }, "/artists must have required property 'limit'"],
  [
    "q=a&type=artist",
    { artists: { ...paging, items: [{ ...artist, fame: 1 }] } },
    '/artists/items/0 must NOT have unevaluated properties {"unevaluatedProperty":"fame"}',
  ],
])("finds the difference in ?%s and %j", async (query, answer, complaint) => {
  const [difference] = await search(query, answer);
  expect(difference).toContain("spotify.json, GET /v1/search: ");
  expect(difference).toContain(complaint);
});

it("finds a success that the document does not name", async () => {
  const differences = await search("q=a&type=track", {}, 201);
  expect(differences).toEqual([expect.stringContaining("a status that is not published")]);
});

it("finds a path that the document does not name, but no other service of the fake", async () => {
  expect(await ask("/v1/charts", {})).toEqual([
    "spotify.json, GET /v1/charts: the path is not published",
  ]);
  await close();
  expect(await ask("/api/token", {})).toEqual([]);
});
