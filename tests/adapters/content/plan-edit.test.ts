/** The fields that a template adds to a result, and how a request overrides them. */
import type { VideoMode } from "@platform/media/port";
import { describe, expect, test } from "vitest";
import { createVideoContract } from "../../../lib/content/contract.ts";
import { aspectRatioOf, chooseCaption, planEdit } from "../../../lib/content/plan-edit.ts";
import type { ContentTemplate, EditOperation } from "../../../lib/content/template.ts";

const templateWith = (operations: EditOperation[]): ContentTemplate => ({
  id: "t",
  description: "A template",
  caption: { examples: ["one", "two", "three"] },
  edit: { operations },
});

function plan(operations: EditOperation[], body: object = {}, mode: VideoMode = "animate") {
  const request = createVideoContract.body?.parse({ template: "t", ...body });
  if (!request) throw new Error("A video has a body");
  const steps = planEdit(templateWith(operations), mode, request, "a caption");
  return { steps, aspectRatio: aspectRatioOf(request, steps) };
}

describe("a caption", () => {
  const template = templateWith([]);
  test("is one of the examples, the same for every attempt at a request", () => {
    const chosen = ["a", "b", "c", "d", "e", "f", "g", "h"].map((id) =>
      chooseCaption(template, id),
    );
    expect(new Set(chosen).size).toBeGreaterThan(1);
    for (const one of chosen) expect(template.caption?.examples).toContain(one);
    expect(chooseCaption(template, "a")).toBe(chosen[0]);
  });

  test("is none without examples, and without a template", () => {
    expect(
      chooseCaption({ ...template, caption: { guide: { tone: "dry" } } }, "a"),
    ).toBeUndefined();
    expect(chooseCaption(null, "a")).toBeUndefined();
  });
});

describe("an edit", () => {
  const cut = { start: 1, duration: 5, aspect: "9:16", width: 720, height: 1280 };
  const trim = { kind: "trim", start: 1, seconds: 5 };
  const frame = { kind: "frame", aspect: 9 / 16, width: 720, height: 1280 };

  test("trims, crops and scales, and asks for the video in that shape", () => {
    expect(plan([cut])).toEqual({ steps: [trim, frame], aspectRatio: "9:16" });
  });

  test.each<[string, object, VideoMode, object]>([
    ["a length", { duration: "8s" }, "animate", { steps: [frame], aspectRatio: "9:16" }],
    ["a shape", { aspect_ratio: "16:9" }, "animate", { steps: [trim], aspectRatio: "16:9" }],
    [
      "a resolution",
      { resolution: "1080p" },
      "animate",
      { steps: [trim, { kind: "frame", aspect: 9 / 16 }], aspectRatio: "9:16" },
    ],
    ["a video to extend", {}, "extend", { steps: [frame], aspectRatio: "9:16" }],
    ["audio to speak", {}, "lipsync", { steps: [frame], aspectRatio: "9:16" }],
  ])("gives way where the request names %s", (_, body, mode, expected) => {
    expect(plan([cut], body, mode)).toEqual(expected);
  });

  test("puts the caption where the text says", () => {
    const text = {
      start: 2,
      duration: 3,
      content: "“{caption}”",
      font: "Courier Prime",
      color: "#ffd28a",
    };
    expect(plan([{ ...text, stroke_color: "#05070f", max_font_size: 40 }]).steps).toEqual([
      {
        ...{ kind: "text", content: "“a caption”", font: "Courier Prime", color: "#ffd28a" },
        ...{ strokeColor: "#05070f", maxFontSize: 40, start: 2, seconds: 3 },
      },
    ]);
  });

  test("plays audio, but not over audio that the request names or asks for", () => {
    const audio = { audio_url: "https://example.com/a.mp3", start: 12, duration: 4, replace: true };
    const step = { kind: "audio", url: audio.audio_url, start: 12, seconds: 4, replace: true };
    expect(plan([audio]).steps).toEqual([step]);
    expect(plan([audio], { generate_audio: true }).steps).toEqual([]);
    expect(plan([audio], {}, "lipsync").steps).toEqual([]);
  });

  test("takes nothing that cannot be: bounds hold for every number and text", () => {
    const { steps } = plan([
      { width: 1e9, height: -5, aspect: "1:0" },
      { start: -4, duration: -1 },
      { content: "  " },
      {
        content: "x".repeat(5000),
        font: "Inter, 900",
        color: "red' onload='",
        max_font_size: 1e9,
        start: 1e9,
      },
      { audio_url: "not a url" },
    ]);
    expect(steps).toEqual([
      { kind: "frame", width: 3840, height: 16 },
      { kind: "text", content: "x".repeat(300), maxFontSize: 400, start: 600 },
    ]);
    expect(plan(Array.from({ length: 100 }, () => ({ content: "x" }))).steps).toHaveLength(20);
  });
});
