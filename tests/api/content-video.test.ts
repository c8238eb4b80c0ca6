/**
 * Videos over HTTP. This file is long because the endpoint has six modes, and the inputs that each of
 * them requires or refuses are one table.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createVideoContract } from "../../lib/content/contract.ts";
import { contentTemplate } from "../../lib/content/template.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { type FakeFal, startFakeFal } from "../support/fakes/fal.ts";
import {
  download,
  imagesIn,
  runOf,
  videoIn,
  waitForOnlyRun,
} from "../support/fixtures/generations.ts";
import {
  makeImage,
  makeSound,
  makeVideo,
  makeVideoWithSound,
  storeMedia,
} from "../support/fixtures/media.ts";
import { expectErrorShape, sentenceOf } from "../support/fixtures/shapes.ts";
import { runsIn } from "../support/fixtures/task-runs.ts";
import { type Client, client, createPerson } from "../support/harness/clients.ts";
import { decodeVideo } from "../support/harness/decode.ts";
import { expectPublished } from "../support/harness/published.ts";
import { startServer } from "../support/harness/server.ts";
import { sql, stack } from "../support/harness/stack.ts";

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

    // As a browser begins to play it.
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
    [{ image_url: "http://example.com/a.png" }, "image_url must be an https URL"],
    [{ image_url: "http://127.0.0.1:1/a.png" }, "image_url must be an https URL"],
    [{ image_url: "data:image/png;base64,AAAA" }, "image_url must be an https URL"],
    [{ image_url: "https://u:p@example.com/" }, "image_url must not contain credentials"],
    [{ image_url: "https://169.254.169.254/" }, "image_url must have a public address"],
    [{ image_url: "https://2130706433/" }, "image_url must have a public address"],
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
      expect(answer.status).toBe(400);
      expectErrorShape(answer, "plain");
      expect(answer.body).toEqual({ error: sentence });
      expect(runsIn(await withKey.get("/api/tasks/runs"))).toEqual([]);
    },
  );

  test("a name that leads to this machine", async () => {
    const { withKey } = await createPerson();
    const answer = await post(withKey, { image_url: "https://localhost:1/a.png" });
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: "image_url could not be fetched" },
    ]);
  });

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
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: "audio_url must be at most 60 seconds" },
    ]);
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
      const answer = await post(person.withKey, body);
      expect([answer.status, answer.body]).toEqual([400, { error: sentence }]);
    }
  });
});

describe("404", () => {
  test("a template that does not exist", async () => {
    const person = await createPerson();
    const body = { image_url: await anImage(person), template: "no-such-template" };
    const answer = await post(person.withKey, body);
    expect([answer.status, answer.body]).toEqual([404, { error: "Template not found" }]);
  });
});

describe("with a provider that takes its time", () => {
  let fal: FakeFal;
  let server: RunningNext;
  let impatient: RunningNext;
  beforeAll(async () => {
    fal = await startFakeFal();
    server = await startServer({ env: fal.env });
    // Of one origin, so that the same body is good at both.
    const both = { ...fal.env, PUBLIC_URL: server.url };
    impatient = await startServer({
      env: { ...both, CONTENT_TIMEOUT_MS: "1", CONTENT_AT_ONCE: "1" },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await impatient?.stop();
    await fal.close();
  });

  /** An account of its own for each test, and a request. */
  async function arrange() {
    const { id, key } = await createPerson();
    const image = (await anImage({ id })).replace(stack.url, server.url);
    return {
      id,
      key,
      body: { image_url: image, duration: "4s" },
      caller: client({ key }, server.url),
      hurried: client({ key }, impatient.url),
    };
  }
  const awaitSubmitted = (count: number) =>
    expect.poll(() => fal.submitted.length, { timeout: 50_000, interval: 20 }).toBe(count);

  test("200: a client that goes away finds its run completed, with the video", async () => {
    const { key, caller, body } = await arrange();
    const before = fal.submitted.length;
    fal.hold(true);
    const leaving = new AbortController();
    const asked = fetch(`${server.url}/api/content/video`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    await awaitSubmitted(before + 1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    fal.hold(false);
    const run = await waitForOnlyRun(caller);
    expect(run).toMatchObject({ status: "COMPLETED", output: { lipsync: false } });
    const { videoSourceUrl } = z.object({ videoSourceUrl: z.url() }).parse(run.output);
    expect((await download(videoSourceUrl)).byteLength).toBeGreaterThan(10_000);
  });

  test("200: ten posts with one key are one generation", async () => {
    const { caller, body } = await arrange();
    const before = fal.submitted.length;
    const key = { "idempotency-key": randomUUID() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(caller, body, key)));
    for (const answer of answers) {
      expect([200, 409]).toContain(answer.status);
      if (answer.status === 200) continue;
      expectErrorShape(answer, "plain");
      expect(sentenceOf(answer)).toBe("A request with this Idempotency-Key is still running");
    }
    const last = await post(caller, body, key);
    const urls = [...answers, last].filter(({ status }) => status === 200).map(videoIn);
    expect(new Set(urls.map(({ videoUrl }) => videoUrl)).size).toBe(1);
    expect(last.headers.get("idempotency-replayed")).toBe("true");
    expect(fal.submitted.length).toBe(before + 1);
    expect(runsIn(await caller.get("/api/tasks/runs"))).toHaveLength(1);
  });

  test("422: the same key for another video", async () => {
    const { caller, body } = await arrange();
    const key = { "idempotency-key": randomUUID() };
    videoIn(await post(caller, body, key));
    const answer = await post(caller, { ...body, duration: "6s" }, key);
    expect(answer.status).toBe(422);
    expectErrorShape(answer, "plain");
  });

  test("502: the provider fails; a retry with the same key succeeds with the same choices", async () => {
    const { caller, body } = await arrange();
    const key = { "idempotency-key": randomUUID() };
    const asked = { ...body, template: "rooftop-dusk" };
    fal.failNext("/fal-ai/veo", { status: 500 });
    const failed = await post(caller, asked, key);
    expect([failed.status, failed.body]).toEqual([502, { error: "Video generation failed" }]);
    expectErrorShape(failed, "plain");
    expect(failed.headers.get("x-error-code")).toBe("upstream_error");
    const done = await post(caller, asked, key);
    videoIn(done);

    const [first, second] = await Promise.all([runOf(caller, failed), runOf(caller, done)]);
    expect([first.status, second.status]).toEqual(["FAILED", "COMPLETED"]);
    const motion = z.object({ movement: z.string(), mood: z.string() });
    expect(motion.parse(first.metadata)).toEqual(motion.parse(second.metadata));
    const template = await caller.get("/api/content/templates/rooftop-dusk");
    const { video } = contentTemplate.parse(template.body);
    const { movement, mood } = motion.parse(second.metadata);
    expect(video?.movements).toContain(movement);
    expect(video?.moods).toContain(mood);
    const prompt = String(fal.submitted.at(-1)?.input.prompt);
    expect(prompt).toContain(movement);
    expect(prompt).toContain(mood);
    expect(second.output).toMatchObject({ template: "rooftop-dusk" });
  });

  test("200: the caller's prompt wins over the template's, which does for mode prompt", async () => {
    const { caller, body } = await arrange();
    const withTemplate = { ...body, template: "paper-collage" };
    const answer = await post(caller, { ...withTemplate, prompt: "she winks twice" });
    expect((await runOf(caller, answer)).metadata).not.toHaveProperty("movement");
    expect(fal.submitted.at(-1)?.input.prompt).toContain("she winks twice");
    const prompted = await post(caller, { ...withTemplate, mode: "prompt" });
    expect(videoIn(prompted).mode).toBe("prompt");
    expect((await runOf(caller, prompted)).metadata).toHaveProperty("movement");
  });

  test("429: an account that has as many in the making as it may have", async () => {
    const { hurried: caller, body } = await arrange();
    fal.hold(true);
    expect((await post(caller, body)).status).toBe(504);
    const answer = await post(caller, body);
    expect([answer.status, answer.body]).toEqual([429, { error: "Too many requests" }]);
    expectErrorShape(answer, "plain");
    expect(answer.headers.get("retry-after")).toBe("5");
    fal.hold(false);
    await waitForOnlyRun(caller);
  });

  test("504: the answer does not wait for ever, the work goes on, and a retry finds it", async () => {
    const { hurried: caller, body } = await arrange();
    const before = fal.submitted.length;
    const key = { "idempotency-key": randomUUID() };
    fal.hold(true);
    const late = await post(caller, body, key);
    expect([late.status, late.body]).toEqual([504, { error: "Video generation timed out" }]);
    expectErrorShape(late, "plain");
    expect(late.headers.get("x-error-code")).toBe("upstream_timeout");
    expect((await runOf(caller, late)).status).toBe("EXECUTING");

    const again = await post(caller, body, key);
    expect([again.status, again.headers.get("retry-after")]).toEqual([409, "5"]);
    fal.hold(false);
    const run = await waitForOnlyRun(caller);
    expect(run.idempotencyKey).toBe(key["idempotency-key"]);
    const done = await post(caller, body, key);
    expect(run.output).toMatchObject({ videoSourceUrl: videoIn(done).videoUrl });
    expect((await runOf(caller, done)).id).toBe(run.id);
    expect(fal.submitted.length).toBe(before + 1);
  });

  test("when the process dies the run has crashed, and a retry makes the video", async () => {
    const { id, caller, hurried, body } = await arrange();
    const before = fal.submitted.length;
    const key = { "idempotency-key": randomUUID() };
    fal.hold(true);
    const late = await post(hurried, body, key);
    expect(late.status, late.text).toBe(504);
    await awaitSubmitted(before + 1);
    impatient.kill("SIGKILL");
    await impatient.died;
    fal.hold(false);
    // Or twenty seconds later.
    await sql`update task_runs set lease_until = now() - interval '1 second'
      where account_id = ${id}`;
    const done = await post(caller, body, key);
    videoIn(done);
    const runs = runsIn(await caller.get("/api/tasks/runs"));
    expect(runs.map(({ status }) => status)).toEqual(["COMPLETED", "CRASHED"]);
  });
});
