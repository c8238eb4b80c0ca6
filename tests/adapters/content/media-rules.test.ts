import { randomUUID } from "node:crypto";
import { SNIFFED_BYTES, sniffType } from "@platform/media/sniff-type";
import { describe, expect, test } from "vitest";
import { createVideoContract } from "../../../lib/content/contract.ts";
import { showRequest } from "../../../lib/content/generation-order.ts";
import { chooseMotion, seedOf } from "../../../lib/content/plan-edit.ts";
import { modeOf } from "../../../lib/content/video-mode.ts";
import { makeImage, makeSound, makeVideo } from "../../support/fixtures/encoded-media.ts";

describe("the mode of a video, when the request names none", () => {
  const url = "https://example.com/x";
  test.each([
    [["audio_url", "image_url"], "lipsync"],
    [["audio_url", "image_url", "video_url", "end_image_url"], "lipsync"],
    [["video_url"], "extend"],
    [["video_url", "image_url"], "extend"],
    [["image_url", "end_image_url"], "first-last"],
    [["image_url"], "animate"],
    [["end_image_url"], "prompt"],
    [["audio_url"], "prompt"],
    [[], "prompt"],
  ])("%j: %s", (fields, mode) => {
    const body = Object.fromEntries(fields.map((field) => [field, url]));
    const request = createVideoContract.body.parse(body);
    expect(modeOf(request)).toBe(mode);
    expect(modeOf({ ...request, mode: "reference" })).toBe("reference");
  });

  test("the rest of a request is as decided", () => {
    expect(createVideoContract.body.parse({})).toEqual({
      aspect_ratio: "auto",
      resolution: "720p",
      generate_audio: false,
    });
  });
});

describe("what a file is, by its first bytes", () => {
  test.each(["png", "jpeg", "webp", "gif"] as const)(
    "an image that is made as %s",
    async (format) => {
      const bytes = await makeImage(format);
      expect(sniffType(bytes.subarray(0, SNIFFED_BYTES))).toBe(`image/${format}`);
    },
  );

  test.each([
    ["mp3", "audio/mpeg"],
    ["wav", "audio/wav"],
    ["ogg", "audio/ogg"],
    ["flac", "audio/flac"],
    ["m4a", "audio/mp4"],
    ["aac", "audio/aac"],
  ] as const)("sound that is made as %s", async (format, type) => {
    const bytes = await makeSound(format);
    expect(sniffType(bytes.subarray(0, SNIFFED_BYTES))).toBe(type);
  });

  test("a video", async () => {
    const bytes = await makeVideo(1);
    expect(sniffType(bytes.subarray(0, SNIFFED_BYTES))).toBe("video/mp4");
  });

  test.each([
    "",
    "\xff",
    "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "<!doctype html><title>x</title>",
    "%PDF-1.7",
    "RIFF\x00\x00\x00\x00AVI LIST",
    "PK\x03\x04",
    "\x00\x00\x00\x1cftypavif\x00\x00",
    "\x00\x00\x00\x1cftypheic\x00\x00",
    "#EXTM3U\n#EXT-X-VERSION:3",
    "\xff\xe8\x00\x00",
    "BM\x00\x00",
  ])("nothing that the service takes: %j", (text) => {
    expect(sniffType(Buffer.from(text, "latin1"))).toBeNull();
  });
});

describe("chance", () => {
  const template = {
    id: "t",
    description: "d",
    video: { moods: ["a", "b", "c"], movements: ["1", "2", "3", "4"] },
  };

  test("is the same for every attempt at a request, and different for each purpose", () => {
    const id = randomUUID();
    expect(chooseMotion(template, id)).toEqual(chooseMotion(template, id));
    expect(seedOf(id, "video")).toBe(seedOf(id, "video"));
    expect(seedOf(id, "video")).not.toBe(seedOf(id, "image"));
  });

  test("comes to every movement and every mood", () => {
    const chosen = Array.from({ length: 300 }, () => chooseMotion(template, randomUUID()));
    expect(new Set(chosen.map(({ mood }) => mood)).size).toBe(3);
    expect(new Set(chosen.map(({ movement }) => movement)).size).toBe(4);
    expect(new Set(chosen.map(({ mood, movement }) => `${mood}${movement}`)).size).toBe(12);
    for (const { seed } of chosen.map(() => ({ seed: seedOf(randomUUID(), "video") }))) {
      expect(seed).toBeGreaterThanOrEqual(0);
      expect(seed).toBeLessThan(2 ** 31);
    }
  });

  test("finds nothing in a template that says nothing", () => {
    expect(chooseMotion({ id: "t", description: "d" }, randomUUID())).toEqual({});
    const empty = { id: "t", description: "d", video: { moods: [], movements: [] } };
    expect(chooseMotion(empty, randomUUID())).toEqual({});
  });
});

test("a run shows the request without signatures of its URLs", () => {
  const body = {
    prompt: "a kite?b=c",
    image_url: "https://example.com/a.png?signature=secret#x",
    images: ["https://example.com/b.png?token=secret"],
    num_images: 2,
  };
  expect(showRequest(body)).toEqual({
    prompt: "a kite?b=c",
    image_url: "https://example.com/a.png",
    images: ["https://example.com/b.png"],
    num_images: 2,
  });
});
