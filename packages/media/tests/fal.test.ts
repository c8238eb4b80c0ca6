/**
 * fal behind the port: what each model is sent, how files reach it, and how its faults are reported.
 * This file is long because every model and every fault of the queue is a row of its tables.
 */

import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import sharp from "sharp";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FakeFal, startFakeFal } from "../../../tests/support/fakes/fal.ts";
import { type Fault, PROVIDER_TEXT } from "../../../tests/support/fakes/vendor-server.ts";
import {
  createMediaFolder,
  imageOrder,
  isEmpty,
  type MediaFolder,
  probes,
  videoOrder,
  waitingFor,
} from "../../../tests/support/fixtures/content.ts";
import { makeImage, makeSound, makeVideo } from "../../../tests/support/fixtures/encoded-media.ts";
import { FalMedia } from "../src/adapters/fal/provider.ts";
import type { MediaFile, MediaProvider, VideoOrder } from "../src/port.ts";

let mediaFolder: MediaFolder;
let fal: FakeFal;
let provider: MediaProvider;
let image: MediaFile;
let upright: MediaFile;
let video: MediaFile;
let audio: MediaFile;
const reports: string[] = [];
const never = new AbortController().signal;

const create = (more: Partial<ConstructorParameters<typeof FalMedia>[0]> = {}) =>
  new FalMedia({
    ...{ key: fal.key, baseUrl: fal.origin, storageUrl: fal.origin, pollMs: 10, probes },
    report: (cause) => reports.push(cause),
    ...more,
  });

beforeAll(async () => {
  mediaFolder = await createMediaFolder();
  fal = await startFakeFal();
  provider = create();
  image = await mediaFolder.put("a.png", "image/png", await makeImage());
  upright = await mediaFolder.put("b.png", "image/png", await makeUpright());
  video = await mediaFolder.put("c.mp4", "video/mp4", await makeVideo(1));
  audio = await mediaFolder.put("d.mp3", "audio/mpeg", await makeSound("mp3"));
});
afterAll(async () => {
  await fal?.close();
  await mediaFolder?.clear();
});
beforeEach(() => {
  reports.length = 0;
});

const makeUpright = async () =>
  sharp({ create: { width: 180, height: 320, channels: 3, background: "#884422" } })
    .png()
    .toBuffer();

/** The folder of a new order, and what came of it. */
async function order(
  details: Partial<VideoOrder>,
  by: MediaProvider = provider,
  signal: AbortSignal = never,
) {
  const folder = await mediaFolder.folder();
  return { folder, outcome: await waitingFor(by).video(videoOrder(details), folder, signal) };
}

/** The error of an order that left nothing behind and says nothing of who makes videos. */
async function fail(
  details: Partial<VideoOrder>,
  by: MediaProvider = provider,
  signal: AbortSignal = never,
): Promise<AppError> {
  const { folder, outcome } = await order(details, by, signal);
  if (!isAppError(outcome)) throw new Error("It was made");
  expect(await isEmpty(folder)).toBe(true);
  expect(JSON.stringify(outcome)).not.toMatch(/\bfal\b|fal[.-]ai|veo|omnihuman/i);
  expect(JSON.stringify([outcome, reports])).not.toContain(PROVIDER_TEXT);
  expect(JSON.stringify([outcome, reports])).not.toContain(fal.key);
  return outcome;
}

const SUBMIT = "/fal-ai/veo3.1/image-to-video";
const REQUESTS = "/fal-ai/veo3.1/requests";
const failed = { code: "upstream_error", message: "Video generation failed" } as const;
const late = { code: "upstream_timeout", message: "Video generation failed" } as const;

describe("each mode asks a model that takes its inputs", () => {
  const modes: readonly [VideoOrder["mode"], () => Partial<VideoOrder>, string, object][] = [
    ["prompt", () => ({ image, seconds: 6 }), "fal-ai/veo3.1/image-to-video", { duration: "6s" }],
    ["animate", () => ({ image, seconds: 7 }), "fal-ai/veo3.1/image-to-video", { duration: "8s" }],
    [
      "reference",
      () => ({ image: upright, aspectRatio: "auto", negativePrompt: "text" }),
      "fal-ai/veo3.1/reference-to-video",
      { aspect_ratio: "9:16", prompt: expect.stringContaining("Avoid: text") },
    ],
    ["extend", () => ({ video, seconds: 7 }), "fal-ai/veo3.1/extend-video", { duration: "7s" }],
    [
      "first-last",
      () => ({ image, endImage: upright }),
      "fal-ai/veo3.1/first-last-frame-to-video",
      { duration: "4s" },
    ],
    [
      "lipsync",
      () => ({ image, audio }),
      "fal-ai/bytedance/omnihuman/v1.5",
      { resolution: "720p" },
    ],
  ];
  test.each(modes)("%s", async (mode, inputs, model, expected) => {
    const { outcome } = await order({ mode, ...inputs() });
    expect(outcome).toMatchObject({ contentType: "video/mp4" });
    expect(fal.submitted.at(-1)).toMatchObject({ model, input: expected });
  });

  test("with all that was said of the look, and every resolution", async () => {
    const words = {
      prompt: "A singer",
      movement: "slow pan",
      mood: "warm",
      styleRules: { grain: 1 },
    };
    await order({ image, ...words, resolution: "4k", negativePrompt: "rain" });
    const { input } = fal.submitted.at(-1) ?? {};
    expect(input?.prompt).toMatch(/A singer[\s\S]*slow pan[\s\S]*warm[\s\S]*grain/);
    expect(input).toMatchObject({ resolution: "4k", negative_prompt: "rain", seed: 7 });
  });

  test("images: with references another model than without", async () => {
    for (const [references, model] of [
      [[], "fal-ai/nano-banana-2"],
      [[image, upright], "fal-ai/nano-banana-2/edit"],
    ] as const) {
      const made = await waitingFor(provider).images(
        imageOrder({ references }),
        await mediaFolder.folder(),
        never,
      );
      expect(made).toHaveLength(1);
      expect(fal.submitted.at(-1)?.model).toBe(model);
    }
  });

  test("images: no more than were ordered, and fewer when it made too few", async () => {
    fal.serve("once.png", await makeImage());
    const made = { url: `${fal.origin}/results/once.png` };
    for (const [images, count] of [
      [[made], 1],
      [[made, made, made], 2],
    ] as const) {
      fal.outputNext({ images });
      const order = imageOrder({ count: 2 });
      const found = await waitingFor(provider).images(order, await mediaFolder.folder(), never);
      expect(found).toHaveLength(count);
    }
  });
});

describe("a file", () => {
  test("that only this machine has goes through the storage; a public one by its own URL", async () => {
    await order({ image });
    const uploaded = String(fal.submitted.at(-1)?.input.image_url);
    expect(fal.uploads.get(uploaded)).toEqual(await makeImage());
    const before = fal.uploads.size;
    await order({ image: { ...image, url: "https://example.com/a.png" } });
    expect(fal.submitted.at(-1)?.input.image_url).toBe("https://example.com/a.png");
    expect(fal.uploads.size).toBe(before);
  });

  test("that cannot be stored fails the order", async () => {
    for (const fault of [{ status: 500 }, "html", "cut", "reset"] as const) {
      fal.failNext("/storage", fault);
      expect(await fail({ image })).toMatchObject(failed);
    }
    fal.failNext("/files", { status: 403 });
    expect(await fail({ image })).toMatchObject(failed);
  });
});

describe("the caller's model", () => {
  test("is used", async () => {
    await order({ mode: "prompt", image, model: "fal-ai/veo3.1/image-to-video" });
    expect(fal.submitted.at(-1)?.model).toBe("fal-ai/veo3.1/image-to-video");
  });

  test.each([
    ["that nobody knows", "fal-ai/no-such-model"],
    ["that is a way out", "fal-ai/../../admin"],
    ["that is a URL", "https://example.com/x"],
    ["with a query", "fal-ai/veo3.1?x=1"],
    ["that is one word", "veo"],
  ])("%s is 400", async (_, model) => {
    expect(await fail({ image, model })).toMatchObject({
      ...{ code: "invalid_request", message: "model is not known", fields: ["model"] },
    });
  });

  test("that takes other inputs is 400", async () => {
    const model = "fal-ai/veo3.1/extend-video";
    expect(await fail({ image, model })).toMatchObject({
      code: "invalid_request",
      fields: ["model"],
    });
  });
});

const faults: readonly [string, Fault, Partial<AppError>][] = [
  ["401", { status: 401 }, failed],
  ["403", { status: 403 }, failed],
  ["404", { status: 404 }, failed],
  ["500", { status: 500 }, failed],
  ["a redirect", { status: 302, headers: { location: "http://127.0.0.1:9/" } }, failed],
  ["HTML", "html", failed],
  ["JSON of another shape", { status: 200, body: "[]" }, failed],
  ["a body cut short", "cut", failed],
  ["a connection reset", "reset", failed],
  ["silence", "silence", late],
  ["silence after the headers", "stalled body", late],
  [
    "429",
    { status: 429, headers: { "retry-after": "7" } },
    { code: "rate_limited", message: "Too many requests", headers: { "retry-after": "7" } },
  ],
];

describe("a job is submitted only once, even when the answer is", () => {
  test.each(faults)("%s", async (_, fault, expected) => {
    const before = fal.count(SUBMIT);
    fal.failNext(SUBMIT, fault);
    const hurried = create({
      requestTimeoutMs: fault === "silence" || fault === "stalled body" ? 300 : 30_000,
    });
    expect(await fail({ image }, hurried)).toMatchObject(expected);
    expect(fal.count(SUBMIT)).toBe(before + 1);
  });

  test("no connection at all", async () => {
    await fal.close();
    const outcome = await fail({ image: { ...image, url: "https://example.com/a.png" } });
    await fal.reopen();
    expect(outcome).toMatchObject(failed);
  });

  test("a wrong key", async () => {
    const stranger = create({ key: "wrong" });
    expect(
      await fail({ image: { ...image, url: "https://example.com/a.png" } }, stranger),
    ).toMatchObject(failed);
  });

  test("addresses of another origin, to which the key would go", async () => {
    const elsewhere = "http://127.0.0.1:9/requests/1";
    const body = JSON.stringify({
      ...{ request_id: "1", status_url: elsewhere, response_url: elsewhere, cancel_url: elsewhere },
    });
    fal.failNext(SUBMIT, { status: 200, body });
    expect(await fail({ image })).toMatchObject(failed);
  });
});

test("a model of the settings replaces a default, and one of the order replaces both", async () => {
  const own = create({ models: { animate: "fal-ai/other", "image-edit": "fal-ai/edit" } });
  expect(own.videoModel({ mode: "animate" })).toBe("fal-ai/other");
  expect(own.videoModel({ mode: "prompt" })).toBe("fal-ai/veo3.1/image-to-video");
  expect(own.videoModel({ mode: "animate", model: "fal-ai/third" })).toBe("fal-ai/third");
  expect([own.imageModel({}, 1), own.imageModel({}, 0)]).toEqual([
    "fal-ai/edit",
    "fal-ai/nano-banana-2",
  ]);
  // The fake knows no such model.
  expect(await fail({ mode: "animate", image }, own)).toMatchObject(failed);
  expect(fal.count("/fal-ai/other")).toBe(1);
});

describe("once it is submitted", () => {
  test("faults that pass are waited out", async () => {
    fal.failNext(REQUESTS, { status: 502 }, { status: 429 }, "reset", "cut", "none", {
      status: 503,
    });
    const { outcome } = await order({ image });
    expect(outcome).toMatchObject({ contentType: "video/mp4" });
  });

  test("it is pending while the queue does not answer: it is paid for", async () => {
    const submission = await provider.submitVideo(videoOrder({ image }), never);
    if (isAppError(submission)) throw new Error(submission.message);
    const folder = await mediaFolder.folder();
    for (const fault of [{ status: 500 }, "html", "reset"] as const) {
      fal.fail(fault, REQUESTS);
      const found = await provider.collect(submission, folder, never);
      fal.recover();
      expect(found).toBeNull();
    }
    const made = await provider.collect(submission, folder, never);
    expect(made).toMatchObject([{ contentType: "video/mp4" }]);
  });

  test("a failure that is stored fails the order at once", async () => {
    for (const status of [503, 504]) {
      const body = JSON.stringify({ detail: PROVIDER_TEXT, error_type: "runner_connection_error" });
      fal.failNext(REQUESTS, "none", { status, body });
      expect(await fail({ image })).toMatchObject(failed);
    }
  });

  test("a fault that does not pass fails the order", async () => {
    fal.fail({ status: 401 }, REQUESTS);
    const outcome = await fail({ image });
    fal.recover();
    expect(outcome).toMatchObject(failed);
  });

  const refusal = (type: string) => ({
    status: 422,
    body: JSON.stringify({ detail: [{ loc: ["body"], msg: PROVIDER_TEXT, type }] }),
  });

  test("a model that fails is a failed generation", async () => {
    fal.failNext(REQUESTS, "none", { status: 500 });
    expect(await fail({ image })).toMatchObject(failed);
  });

  test("content that is refused is 400", async () => {
    fal.failNext(REQUESTS, "none", refusal("content_policy_violation"));
    const sentence = "The prompt or an input was refused as unsuitable";
    expect(await fail({ image })).toMatchObject({ code: "invalid_request", message: sentence });
    fal.outputNext({ images: [{ url: `${fal.origin}/x` }], has_nsfw_concepts: [true] });
    const outcome = await waitingFor(provider).images(
      imageOrder({}),
      await mediaFolder.folder(),
      never,
    );
    expect(outcome).toMatchObject({ code: "invalid_request", message: sentence });
  });

  test("an input that the model cannot use is 400", async () => {
    fal.failNext(REQUESTS, "none", refusal("image_too_small"));
    expect(await fail({ image })).toMatchObject({ code: "invalid_request" });
  });

  test("it is pending until it is made, however often it is asked for", async () => {
    fal.hold(true);
    const hurried = create({ patienceMs: 1 });
    const submission = await hurried.submitVideo(videoOrder({ image }), never);
    if (isAppError(submission)) throw new Error(submission.message);
    const folder = await mediaFolder.folder();
    expect(await hurried.collect(submission, folder, never)).toBeNull();
    expect(await create().collect(submission, folder, AbortSignal.abort())).toBeNull();
    fal.hold(false);
    // As another process would, from the stored data alone.
    const stored = JSON.parse(JSON.stringify(submission));
    for (const each of [1, 2]) {
      const made = await create().collect(stored, await mediaFolder.folder(), never);
      expect(made, `time ${each}`).toMatchObject([{ contentType: "video/mp4" }]);
    }
  });

  test("it is cancelled", async () => {
    fal.hold(true);
    const cancelled = fal.cancelled.size;
    const submission = await provider.submitVideo(videoOrder({ image }), never);
    if (isAppError(submission)) throw new Error(submission.message);
    await provider.cancel(submission);
    fal.hold(false);
    expect(fal.cancelled.size).toBe(cancelled + 1);
  });
});

describe("what a model says that it made", () => {
  test.each([
    ["at a private address", "http://169.254.169.254/latest/meta-data"],
    ["by plain http", "http://example.com/video.mp4"],
    ["on disk", "file:///etc/passwd"],
  ])("%s is not fetched", async (_, url) => {
    fal.outputNext({ video: { url } });
    expect(await fail({ image })).toMatchObject(failed);
  });

  test.each<[string, Fault]>([
    ["another type", { status: 200, body: "<html>" }],
    ["nothing", { status: 404 }],
    ["cut short", "cut"],
  ])("and is %s fails, and leaves nothing behind", async (_, fault) => {
    fal.failNext("/results", fault);
    expect(await fail({ image })).toMatchObject(failed);
  });

  test("in another shape fails", async () => {
    fal.outputNext({ movie: "x" });
    expect(await fail({ image })).toMatchObject(failed);
  });
});
