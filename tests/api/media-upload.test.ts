import { beforeAll, describe, expect, test } from "vitest";
import { MAX_UPLOAD_BYTES, uploadMediaContract } from "../../lib/content/contract.ts";
import { makeImage, makeSound } from "../support/fixtures/encoded-media.ts";
import { imagesIn } from "../support/fixtures/generations.ts";
import { mediaBytesOf } from "../support/fixtures/media.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { type Answer, createPerson, type Person } from "../support/harness/clients.ts";
import { expectPublished } from "../support/harness/published.ts";
import { sql, stack } from "../support/harness/stack.ts";

const NOT_MEDIA =
  "The body must be an image (PNG, JPEG, WebP or GIF), a video (MP4, QuickTime or WebM) or audio (MP3, M4A, WAV, OGG, FLAC or AAC)";

let person: Person;
beforeAll(async () => {
  person = await createPerson();
});

/** Sends bytes as a browser sends a stream, without their number. */
async function upload(pieces: Iterable<Uint8Array>): Promise<Answer> {
  const source = pieces[Symbol.iterator]();
  const body = new ReadableStream({
    pull(controller) {
      const { done, value } = source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  const headers = { ...person.withBearer.headers, "content-type": "text/html" };
  const init = { method: "POST", headers, body, duplex: "half" };
  const response = await fetch(`${stack.url}/api/media`, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
}

async function uploaded(pieces: Iterable<Uint8Array>) {
  const answer = await upload(pieces);
  expectPublished(answer, uploadMediaContract);
  return uploadMediaContract.responses[201].schema.parse(answer.body);
}

describe("POST /api/media", () => {
  test("a file of the account's computer is input of generations, and the picture of an artist", async () => {
    const picture = await makeImage();
    const before = await mediaBytesOf(person.id);
    const { url, bytes } = await uploaded([picture.subarray(0, 100), picture.subarray(100)]);
    expect(bytes).toBe(picture.byteLength);
    expect(await mediaBytesOf(person.id)).toBe(before + bytes);
    const read = await fetch(url);
    expect(read.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await read.arrayBuffer()).equals(picture)).toBe(true);

    const order = { prompt: "At night", reference_image_url: url };
    imagesIn(await person.withKey.post("/api/content/image", order));
    const artist = { name: "Odessa Brightwater", image: url };
    expect((await person.withKey.post("/api/artists", artist)).status).toBe(201);

    expect((await person.withKey.delete(new URL(url).pathname)).status).toBe(200);
    expect((await fetch(url)).status).toBe(404);
    const left = await sql`select from media_files where name = ${url.split("/").at(-1) ?? ""}`;
    expect(left).toEqual([]);
  });

  test("the first bytes decide the type, whatever the client says", async () => {
    const file = await uploaded([await makeSound("mp3")]);
    expect(file).toMatchObject({ content_type: "audio/mpeg" });
    expect(file.url).toMatch(/\.mp3$/);
    for (const bytes of ["<!doctype html><script>alert(1)</script>", "%PDF-1.7", ""]) {
      expectError(await upload([Buffer.from(bytes)]), 400, "plain", NOT_MEDIA);
    }
  });

  test("a body above the limit is refused, and leaves nothing behind", async () => {
    const before = await mediaBytesOf(person.id);
    const piece = Buffer.concat([await makeImage(), Buffer.alloc(1024 * 1024)]);
    const pieces = function* () {
      for (let sent = 0; sent <= MAX_UPLOAD_BYTES; sent += piece.byteLength) yield piece;
    };
    expectError(await upload(pieces()), 413, "plain", "Request body too large");
    expect(await mediaBytesOf(person.id)).toBe(before);
  });

  test("a client that leaves in the middle of its file leaves nothing behind", async () => {
    const before = await mediaBytesOf(person.id);
    const leaving = new AbortController();
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1000));
        leaving.abort();
      },
    });
    const { headers } = person.withKey;
    const init = { method: "POST", headers, body, duplex: "half", signal: leaving.signal };
    const request = fetch(`${stack.url}/api/media`, init);
    await expect(request).rejects.toThrow();
    expect(await mediaBytesOf(person.id)).toBe(before);
  });
});
