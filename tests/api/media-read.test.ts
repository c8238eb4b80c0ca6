import { randomBytes, randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import { storeMedia } from "../support/fixtures/media.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { client } from "../support/harness/clients.ts";
import { setting } from "../support/harness/stack.ts";

const accountId = randomUUID();
/** More than one piece of a stream. */
const bytes = randomBytes(700_001);
const size = bytes.byteLength;
let url: string;
beforeAll(async () => {
  url = await storeMedia(accountId, bytes, "video/mp4");
});

async function read(headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(url, { method, headers });
  return { response, body: Buffer.from(await response.arrayBuffer()) };
}

describe("GET /api/media/{accountId}/{name}?width=", () => {
  test("gives a small image, which is cached by a validator of its own", async () => {
    const image = await storeMedia(accountId, await makeImage(), "image/png");
    const response = await fetch(`${image}?width=160`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/webp",
      "x-content-type-options": "nosniff",
      etag: `"${image.split("/").at(-1)}-160"`,
    });
    const { width, height, format } = await sharp(await response.arrayBuffer()).metadata();
    expect({ width, height, format }).toEqual({ width: 160, height: 90, format: "webp" });
    const headers = { "if-none-match": response.headers.get("etag") ?? "" };
    expect((await fetch(`${image}?width=160`, { headers })).status).toBe(304);
    expect((await fetch(image, { headers })).status).toBe(200);
  });

  test("never enlarges, gives videos as they are, and refuses other widths", async () => {
    const image = await storeMedia(accountId, await makeImage("webp"), "image/webp");
    const large = await fetch(`${image}?width=640`);
    expect((await sharp(await large.arrayBuffer()).metadata()).width).toBe(320);
    const video = await fetch(`${url}?width=160`);
    expect(video.headers.get("content-type")).toBe("video/mp4");
    expect((await video.arrayBuffer()).byteLength).toBe(size);
    expect((await fetch(`${image}?width=161`)).status).toBe(400);
  });

  test("404 for bytes that are not a raster image, whatever their name", async () => {
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
    for (const content of [drawing, "not an image"]) {
      const file = await storeMedia(accountId, Buffer.from(content), "image/png");
      expect((await fetch(`${file}?width=160`)).status).toBe(404);
    }
  });
});

describe("GET /api/media/{accountId}/{name} 200", () => {
  test("gives the whole file to whoever knows its URL, as long as it is there", async () => {
    const { response, body } = await read();
    expect(response.status).toBe(200);
    expect(body.equals(bytes)).toBe(true);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "video/mp4",
      "accept-ranges": "bytes",
      "cache-control": "public, no-cache",
      etag: `"${url.split("/").at(-1)}"`,
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringMatching(/^sandbox; default-src 'none';/),
      "access-control-allow-origin": "*",
      "cross-origin-resource-policy": "cross-origin",
    });
  });

  test("has the content type that its name says, of those that nobody runs", async () => {
    const page = Buffer.from("<script>alert(1)</script>");
    for (const type of ["image/png", "image/jpeg", "image/webp"] as const) {
      const response = await fetch(await storeMedia(accountId, page, type));
      expect(response.headers.get("content-type")).toBe(type);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(await response.text()).toBe(page.toString());
    }
  });

  test("HEAD has the same headers and sends nothing", async () => {
    const { response, body } = await read({}, "HEAD");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("video/mp4");
    expect(response.headers.get("accept-ranges")).toBe("bytes");
    expect(body.byteLength).toBe(0);
  });

  test.each(["bytes=0-1,5-9", "bytes=9-2", "bytes=-", "bytes=a-b", "items=0-1", "bytes 0-1"])(
    "a range that is none, or more than one, is passed over: %s",
    async (range) => {
      const { response, body } = await read({ range });
      expect(response.status).toBe(200);
      expect(body.byteLength).toBe(size);
    },
  );

  test("a range of another version is passed over", async () => {
    const { response } = await read({ range: "bytes=0-9", "if-range": '"another"' });
    expect(response.status).toBe(200);
  });

  test("URLs of an account reveal nothing of each other", async () => {
    const names = await Promise.all(
      Array.from({ length: 20 }, () => storeMedia(accountId, Buffer.from("x"), "image/png")),
    );
    expect(new Set(names).size).toBe(20);
    for (const name of names) expect(name).toMatch(/\/[0-9a-f]{32}\.png$/);
  });
});

describe("206", () => {
  test.each([
    ["bytes=0-0", 0, 0],
    ["bytes=0-499", 0, 499],
    ["bytes=500-", 500, size - 1],
    ["bytes=-500", size - 500, size - 1],
    ["bytes=262140-262150", 262_140, 262_150],
    ["bytes=5-9999999999", 5, size - 1],
    ["bytes=-9999999999", 0, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
    ["Bytes=1-2", 1, 2],
  ])("%s", async (range, first, last) => {
    const { response, body } = await read({ range });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${first}-${last}/${size}`);
    expect(response.headers.get("content-type")).toBe("video/mp4");
    expect(body.equals(bytes.subarray(first, last + 1))).toBe(true);
  });

  test("of the version that the caller has, and to HEAD without the bytes", async () => {
    const etag = (await read({}, "HEAD")).response.headers.get("etag") ?? "";
    const { response, body } = await read({ range: "bytes=2-4", "if-range": etag });
    expect([response.status, body.byteLength]).toEqual([206, 3]);
    const head = await read({ range: "bytes=2-4" }, "HEAD");
    expect([head.response.status, head.body.byteLength]).toEqual([206, 0]);
    expect(head.response.headers.get("content-range")).toBe(`bytes 2-4/${size}`);
  });
});

describe("304", () => {
  test.each(["", "W/", '"other", '])("the caller has it already (%s)", async (before) => {
    const etag = (await read({}, "HEAD")).response.headers.get("etag") ?? "";
    const { response, body } = await read({ "if-none-match": before + etag, range: "bytes=0-1" });
    expect([response.status, body.byteLength]).toEqual([304, 0]);
    expect(response.headers.get("etag")).toBe(etag);
    expect(response.headers.get("cache-control")).toBe("public, no-cache");
  });
});

describe("404", () => {
  const missing = `${"0".repeat(32)}.mp4`;
  test("a file that is not there, or is another account's", async () => {
    for (const path of [`${accountId}/${missing}`, `${randomUUID()}/${url.split("/").at(-1)}`]) {
      expectError(await client().get(`/api/media/${path}`), 404, "plain", "Media not found");
    }
  });

  test.each([
    "..%2f..%2fapi-key-secret/x",
    `${accountId}/..%2f${accountId}%2f${missing}`,
    `${accountId}/%2e%2e`,
    `${accountId}/${"a".repeat(32)}.html`,
    `${accountId}/${"a".repeat(32)}.mp4%00.png`,
    `${accountId}/${"A".repeat(32)}.mp4`,
    `%2e%2e/${missing}`,
    `${accountId.toUpperCase()}x/${missing}`,
  ])("nothing but a name reaches the disk: %s", async (path) => {
    const answer = await client().get(`/api/media/${path}`);
    // The last name holds a character that no answer to a caller can hold either.
    expect(path.includes("%00") ? [400, 404] : [404]).toContain(answer.status);
    expect(answer.text).not.toContain("ENOENT");
  });

  test("nothing of a folder is listed", async () => {
    for (const path of ["/", `/${accountId}`, `/${accountId}/`]) {
      expect((await client().get(`/api/media${path}`)).status, path).toBe(404);
    }
    expect((await readdir(join(setting("DATA_DIR"), "media", accountId))).length).toBeGreaterThan(
      0,
    );
  });
});

describe("416", () => {
  test.each([`bytes=${size}-`, "bytes=9999999999-", "bytes=-0"])("%s", async (range) => {
    const answer = await client().get(new URL(url).pathname, { headers: { range } });
    expectError(answer, 416, "plain", "The range lies outside the file", "range_not_satisfiable");
    expect(answer.headers.get("content-range")).toBe(`bytes */${size}`);
  });
});
