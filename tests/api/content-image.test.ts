import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { access, copyFile, mkdir, mkdtemp, rm, utimes } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createImageContract } from "../../lib/content/contract.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { digest, makeImage } from "../support/fixtures/encoded-media.ts";
import {
  download,
  imagesIn,
  ofStandIn,
  runOf,
  waitForOnlyRun,
} from "../support/fixtures/generations.ts";
import { storeMedia } from "../support/fixtures/media.ts";
import { makeArtist } from "../support/fixtures/people.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { runsIn } from "../support/fixtures/task-runs.ts";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { expectPublished } from "../support/harness/published.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { startServer } from "../support/harness/server.ts";
import { setting, sql, stack } from "../support/harness/stack.ts";

const post = (person: Person, body: unknown) => person.withKey.post("/api/content/image", body);

describe("POST /api/content/image 200", () => {
  test("makes an image of the size asked for, which its account finds as a task run", async () => {
    const person = await createPerson();
    const answer = await post(person, { prompt: "A red kite", aspect_ratio: "9:16" });
    expectPublished(answer, createImageContract);
    const { imageUrl, images } = imagesIn(answer);
    expect(images).toEqual([imageUrl]);
    expect(imageUrl.startsWith(`${stack.url}/api/media/${person.id}/`)).toBe(true);
    const { format, width, height } = await sharp(await download(imageUrl)).metadata();
    expect({ format, width, height }).toEqual({ format: "png", width: 720, height: 1280 });

    expect(await runOf(person.withKey, answer)).toMatchObject({
      status: "COMPLETED",
      taskIdentifier: "generate-image",
      tags: [`account:${person.id}`],
      payload: { prompt: "A red kite", aspect_ratio: "9:16", num_images: 1, resolution: "720p" },
      output: { imageUrl, images: [imageUrl] },
    });
  });

  test("makes a cover as stores take it, which says that no model has made it", async () => {
    const person = await createPerson();
    const order = { prompt: "A red kite", aspect_ratio: "1:1", resolution: "4k" };
    const answer = await post(person, order);
    expect(answer.body).toMatchObject(ofStandIn);
    const { width, height } = await sharp(await download(imagesIn(answer).imageUrl)).metadata();
    expect([width, height]).toEqual([3_000, 3_000]);
  });

  test("makes as many as are asked for, by a template and after the caller's own image", async () => {
    const person = await createPerson();
    const own = await storeMedia(person.id, await makeImage("webp"), "image/webp");
    const answer = await post(person, {
      template: "night-drive",
      num_images: 2,
      reference_image_url: own,
      images: [own],
    });
    const { imageUrl, images } = imagesIn(answer);
    expect(images).toHaveLength(2);
    expect(images[0]).toBe(imageUrl);
    const [one, other] = await Promise.all(images.map(download));
    expect(digest(one ?? Buffer.alloc(0))).not.toBe(digest(other ?? Buffer.alloc(0)));
    const { output } = await runOf(person.withKey, answer);
    const captionText = expect.any(String);
    expect(output).toEqual({
      ...{ imageUrl, images, template: "night-drive", captionText },
      ...ofStandIn,
    });
  });

  test("is for the artist that is named, or else for the one of the run that asks for it", async () => {
    const person = await createPerson();
    const artist = await makeArtist(person.withKey);
    const run = await createRunCredential(person.id, "key");
    await sql`update turns set artist_id = ${artist} where id = ${run.turnId}`;
    const asked = [
      await post(person, { prompt: "A red kite", artist_id: artist }),
      await client({ key: run.raw }).post("/api/content/image", { prompt: "A blue kite" }),
      await post(person, { prompt: "A green kite" }),
    ];
    const [named, ofRun, other] = await Promise.all(
      asked.map((answer) => runOf(person.withKey, answer)),
    );
    expect(named?.tags).toEqual([`account:${person.id}`, `artist:${artist}`]);
    expect(other?.tags).toEqual([`account:${person.id}`]);
    const listed = async (query: string) =>
      runsIn(await person.withKey.get(`/api/tasks/runs?artist_id=${query}`)).map(({ id }) => id);
    expect(await listed(artist)).toEqual([ofRun?.id, named?.id]);
    expect(await listed(`${artist}&limit=1`)).toEqual([ofRun?.id]);
    expect(await listed(randomUUID())).toEqual([]);
    const usage = await person.withKey.get("/api/usage?group_by=artist");
    expect(usage.body).toMatchObject({
      items: [
        { key: artist, images: 2 },
        { key: null, images: 1 },
      ],
    });
  });
});

describe("where loopback is allowed, on a separate disk", () => {
  const secret = `secret-${randomUUID()}`;
  let dataDir: string;
  let server: RunningNext;
  let person: Person;
  let origin: string;
  const media = createServer(async (request, response) => {
    const isSigned = request.url === `/image.png?signature=${secret}`;
    response.writeHead(isSigned ? 200 : 403, { "content-type": "text/html" });
    response.end(isSigned ? await makeImage() : "no");
  });
  const work = () => join(dataDir, "content-work");

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "agent-platform-images-"));
    await copyFile(join(setting("DATA_DIR"), "data-dir-id"), join(dataDir, "data-dir-id"));
    await mkdir(join(work(), "run-forsaken"), { recursive: true });
    const longAgo = new Date(Date.now() - 2 * 60 * 60 * 1000);
    await utimes(join(work(), "run-forsaken"), longAgo, longAgo);
    await mkdir(join(work(), "run-of-another-server"));
    media.listen(0, "127.0.0.1");
    await once(media, "listening");
    origin = `http://127.0.0.1:${(media.address() as AddressInfo).port}`;
    server = await startServer({ env: { LOOPBACK_URLS: "media,webhooks", DATA_DIR: dataDir } });
    person = await createPerson(server.url);
  });
  afterAll(async () => {
    await server?.stop();
    media.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("200: a reference is known by its content, and its signature stays secret", async () => {
    const url = `${origin}/image.png?signature=${secret}`;
    const answer = await post(person, { prompt: "A red kite", reference_image_url: url });
    const { imageUrl } = imagesIn(answer);
    expect(imageUrl.startsWith(server.url)).toBe(true);
    expect((await download(imageUrl)).byteLength).toBeGreaterThan(1000);
    const run = await runOf(person.withKey, answer);
    expect(run.payload).toMatchObject({ reference_image_url: `${origin}/image.png` });
    expect(JSON.stringify(run)).not.toContain(secret);
    expect(server.logs()).not.toContain(secret);
  });

  test("400: an input that cannot be fetched leaves a run with the reason, and no file", async () => {
    const other = await createPerson(server.url);
    const body = { prompt: "A red kite", images: [`${origin}/elsewhere.png`] };
    const answer = await post(other, body);
    expectError(answer, 400, "plain", "images.0 could not be fetched");
    expect(await waitForOnlyRun(other.withKey)).toMatchObject({
      status: "FAILED",
      error: { name: "invalid_request", message: "images.0 could not be fetched" },
    });
  });

  test("files of dead processes are gone, and those in use are not", async () => {
    await expect(access(join(work(), "run-forsaken"))).rejects.toThrow();
    await access(join(work(), "run-of-another-server"));
  });
});

describe("400", () => {
  const url = "https://example.com/a.png";
  const faults: [body: unknown, sentence: string][] = [
    [{}, "prompt is required unless a template has one"],
    [{ prompt: "  " }, "prompt is required unless a template has one"],
    [{ reference_image_url: url }, "prompt is required unless a template has one"],
    [{ prompt: 1 }, "prompt must be a string"],
    [{ prompt: "x".repeat(10_001) }, "prompt must be at most 10000 characters"],
    [{ prompt: "x", num_images: 0 }, "num_images must be at least 1"],
    [{ prompt: "x", num_images: 5 }, "num_images must be at most 4"],
    [{ prompt: "x", num_images: 1.5 }, "num_images must be an integer"],
    [
      { prompt: "x", aspect_ratio: "2:1" },
      "aspect_ratio must be one of auto, 16:9, 9:16, 1:1, 4:5",
    ],
    [{ prompt: "x", resolution: "480p" }, "resolution must be one of 720p, 1080p, 4k"],
    [{ prompt: "x", model: "../secret" }, "model has an invalid format"],
    [{ prompt: "x", template: "" }, "template must not be empty"],
    [{ prompt: "x", images: url }, "images must be an array"],
    [{ prompt: "x", images: Array(9).fill(url) }, "images must have at most 8 items"],
    [{ prompt: "x", images: [url, "b"] }, "images.1 must be a valid URL"],
    [{ prompt: "x", images: ["http://example.com/a"] }, "images.0 must be an https URL"],
    [
      { prompt: "x", reference_image_url: "https://10.1.1.1/" },
      "reference_image_url must have a public address",
    ],
    [
      { prompt: "x", reference_image_url: "file:///etc/passwd" },
      "reference_image_url must be an https URL",
    ],
    [[], "Request body must be a JSON object"],
  ];
  test.each(faults.map(([body, sentence]) => ({ body, sentence })))(
    "$sentence (%#)",
    async ({ body, sentence }) => {
      const person = await createPerson();
      const answer = await post(person, body);
      expectError(answer, 400, "plain", sentence);
      expect(runsIn(await person.withKey.get("/api/tasks/runs"))).toEqual([]);
    },
  );
});
