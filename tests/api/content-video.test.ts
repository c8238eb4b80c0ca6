/** Videos over HTTP, made by the embedded renderer. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createVideoContract } from "../../lib/content/contract.ts";
import { contentTemplate } from "../../lib/content/template.ts";
import {
  makeImage,
  makeSound,
  makeVideo,
  makeVideoWithSound,
} from "../support/fixtures/encoded-media.ts";
import { download, imagesIn, ofStandIn, runOf, videoIn } from "../support/fixtures/generations.ts";
import { storeMedia } from "../support/fixtures/media.ts";
import { expectError, sentenceOf } from "../support/fixtures/shapes.ts";
import { runsIn } from "../support/fixtures/task-runs.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { decodeVideo } from "../support/harness/decode.ts";
import { expectPublished } from "../support/harness/published.ts";

const post = (caller: Client, body: unknown, headers: Record<string, string> = {}) =>
  caller.post("/api/content/video", body, { headers });
const anImage = async ({ id }: { readonly id: string }) =>
  storeMedia(id, await makeImage(), "image/png");

describe("POST /api/content/video 200", () => {
  test("an image that the service made becomes a video that plays", async () => {
    const { id, withKey } = await createPerson();
    const image = await withKey.post("/api/content/image", { prompt: "A red kite" });
    const { imageUrl } = imagesIn(image);
    const answer = await post(withKey, { image_url: imageUrl, duration: "4s" });
    expectPublished(answer, createVideoContract);
    const { videoUrl, mode } = videoIn(answer);
    expect(mode).toBe("animate");

    // Requests the video as a browser does to start playback.
    const played = await fetch(videoUrl, { headers: { range: "bytes=0-" } });
    expect([played.status, played.headers.get("content-type")]).toEqual([206, "video/mp4"]);
    const folder = await mkdtemp(join(tmpdir(), "agent-platform-video-"));
    await writeFile(join(folder, "v.mp4"), Buffer.from(await played.arrayBuffer()));
    const decoded = await decodeVideo(join(folder, "v.mp4"));
    await rm(folder, { recursive: true });
    expect(decoded).toMatchObject({ codec: "h264", width: 1280, height: 720, audio: null });
    expect(decoded.seconds).toBeCloseTo(4, 1);

    expect(await runOf(withKey, answer)).toMatchObject({
      status: "COMPLETED",
      taskIdentifier: "generate-video",
      tags: [`account:${id}`],
      payload: { mode: "animate", image_url: imageUrl, duration: "4s", resolution: "720p" },
      metadata: { mode: "animate", step: "storing" },
      output: { videoSourceUrl: videoUrl, imageUrl, lipsync: false },
    });
  });

  test("a face moves to the sound of a clip, and the run tells which", async () => {
    const person = await createPerson();
    const sound = await makeVideoWithSound(1);
    const audio = await storeMedia(person.id, sound, "video/mp4");
    const image = await anImage(person);
    const answer = await post(person.withKey, { image_url: image, audio_url: audio });
    expect(videoIn(answer).mode).toBe("lipsync");
    expect((await runOf(person.withKey, answer)).output).toEqual({
      ...ofStandIn,
      videoSourceUrl: videoIn(answer).videoUrl,
      imageUrl: image,
      lipsync: true,
      audio: {
        songFilename: audio.split("/").at(-1),
        startSeconds: 0,
        durationSeconds: expect.closeTo(1, 0),
      },
    });
  });
});

describe("200 with a template", () => {
  async function generate(body: object) {
    const person = await createPerson();
    const image_url = await anImage(person);
    const asked = { image_url, template: "album-art-alive", duration: "4s", ...body };
    const answer = await post(person.withKey, asked);
    const folder = await mkdtemp(join(tmpdir(), "agent-platform-video-"));
    await writeFile(join(folder, "v.mp4"), await download(videoIn(answer).videoUrl));
    const video = await decodeVideo(join(folder, "v.mp4"));
    await rm(folder, { recursive: true });
    const { body: template } = await person.withKey.get(`/api/content/templates/${asked.template}`);
    const { caption } = contentTemplate.parse(template);
    return { video, output: (await runOf(person.withKey, answer)).output, caption };
  }

  test("the video has the template's edit, and the run one of its captions", async () => {
    const { video, output, caption } = await generate({});
    // The template's shape and size; the length is the caller's.
    expect(video).toMatchObject({ width: 1080, height: 1080, frames: 96 });
    const { captionText } = z.object({ captionText: z.string() }).parse(output);
    expect(caption?.examples).toContain(captionText);
  });

  test("the caller's shape wins over the template's", async () => {
    const { video } = await generate({ aspect_ratio: "9:16" });
    expect(video).toMatchObject({ width: 720, height: 1280, frames: 96 });
  });
});

describe("400", () => {
  const a = "https://example.com/a.png";
  const needsImage = "image_url is required: make one first with POST /api/content/image";
  const faults: [body: unknown, sentence: string][] = [
    [{}, needsImage],
    [{ prompt: "a kite" }, needsImage],
    [{ mode: "prompt", prompt: "a kite" }, needsImage],
    [{ end_image_url: a }, needsImage],
    [{ audio_url: a }, needsImage],
    [{ mode: "prompt", image_url: a }, "prompt is required for mode prompt"],
    [{ mode: "prompt", image_url: a, prompt: " " }, "prompt is required for mode prompt"],
    [{ mode: "animate" }, "image_url is required for mode animate"],
    [{ mode: "reference", video_url: a }, "image_url is required for mode reference"],
    [{ mode: "extend", image_url: a }, "video_url is required for mode extend"],
    [{ mode: "first-last", end_image_url: a }, "image_url is required for mode first-last"],
    [{ mode: "first-last", image_url: a }, "end_image_url is required for mode first-last"],
    [{ mode: "lipsync", audio_url: a }, "image_url is required for mode lipsync"],
    [{ mode: "lipsync", image_url: a }, "audio_url is required for mode lipsync"],
    [
      { mode: "dance" },
      "mode must be one of prompt, animate, reference, extend, first-last, lipsync",
    ],
    [{ image_url: a, duration: "5s" }, "duration must be one of 4s, 6s, 7s, 8s"],
    [{ image_url: a, duration: 4 }, "duration must be one of 4s, 6s, 7s, 8s"],
    [{ image_url: a, aspect_ratio: "4:3" }, "aspect_ratio must be one of auto, 16:9, 9:16"],
    [{ image_url: a, resolution: "8k" }, "resolution must be one of 720p, 1080p, 4k"],
    [{ image_url: a, generate_audio: "yes" }, "generate_audio must be a boolean"],
    [{ image_url: a, negative_prompt: [] }, "negative_prompt must be a string"],
    [{ image_url: a, model: "a/../b" }, "model has an invalid format"],
    [{ image_url: "cat.png" }, "image_url must be a valid URL"],
    [{ image_url: "" }, "image_url must be a valid URL"],
    [{ image_url: null }, needsImage],
    [{ image_url: `${a}?${"x".repeat(2048)}` }, "image_url must be at most 2048 characters"],
    [{ image_url: "https://169.254.169.254/" }, "image_url must have a public address"],
    [{ video_url: "https://[::1]/" }, "video_url must have a public address"],
    [{ image_url: a, audio_url: "ftp://example.com" }, "audio_url must be an https URL"],
    [
      { image_url: a, end_image_url: "https://10.0.0.1" },
      "end_image_url must have a public address",
    ],
  ];
  test.each(faults.map(([body, sentence]) => ({ body, sentence })))(
    "$sentence (%#)",
    async ({ body, sentence }) => {
      const { withKey } = await createPerson();
      const answer = await post(withKey, body);
      expectError(answer, 400, "plain", sentence);
      expect(runsIn(await withKey.get("/api/tasks/runs"))).toEqual([]);
    },
  );

  test("media of another account's are as those that are not there", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const theirs = await anImage(other);
    const missing = theirs.replace(/[0-9a-f]{32}/, "0".repeat(32));
    const [one, another] = await Promise.all(
      [theirs, missing].map((url) => post(person.withKey, { image_url: url })),
    );
    expect([one?.status, one?.body]).toEqual([400, { error: "image_url could not be fetched" }]);
    expect(one?.text).toBe(another?.text);
  });

  test("sound that is longer than a minute", async () => {
    const person = await createPerson();
    const sound = await storeMedia(person.id, await makeSound("m4a", 61), "video/mp4");
    const body = { image_url: await anImage(person), audio_url: sound };
    const answer = await post(person.withKey, body);
    expectError(answer, 400, "plain", "audio_url must be at most 60 seconds at 720p");
  });

  test("a video to extend that is longer than 8 seconds", async () => {
    const { id, withKey } = await createPerson();
    const long = await storeMedia(id, await makeVideo(8.5), "video/mp4");
    const answer = await post(withKey, { video_url: long });
    expect([answer.status, sentenceOf(answer)]).toEqual([
      400,
      "video_url must be at most 8 seconds",
    ]);
    expect((await runOf(withKey, answer)).status).toBe("FAILED");
  });

  test("inputs that are not what their place asks for, whatever they are called", async () => {
    const person = await createPerson();
    const { id } = person;
    const put = (bytes: Uint8Array) => storeMedia(id, bytes, "image/png");
    const [image, silent] = await Promise.all([anImage(person), put(await makeVideo(1))]);
    const torn = await put((await makeVideo(1)).subarray(0, 400));
    const cases = [
      [{ image_url: silent }, "image_url must be an image (PNG, JPEG, WebP or GIF)"],
      [
        { image_url: image, end_image_url: silent },
        "end_image_url must be an image (PNG, JPEG, WebP or GIF)",
      ],
      [{ video_url: image }, "video_url must be a video (MP4, QuickTime or WebM)"],
      [{ video_url: torn }, "video_url must be a video (MP4, QuickTime or WebM)"],
      ...[image, silent].map((url) => [
        { image_url: image, audio_url: url },
        "audio_url must be audio (MP3, M4A, WAV, OGG, FLAC, AAC or a video with sound)",
      ]),
    ];
    for (const [body, sentence] of cases) {
      expectError(await post(person.withKey, body), 400, "plain", sentence);
    }
  });
});

describe("404", () => {
  test("a template that does not exist", async () => {
    const person = await createPerson();
    const body = { image_url: await anImage(person), template: "no-such-template" };
    expectError(await post(person.withKey, body), 404, "plain", "Template not found");
  });
});
