/** A template's own files are fetched with the same distrust as a caller's, and never blamed on them. */

import { appError } from "@platform/endpoint/contract/app-error";
import { beforeAll, describe, expect, test } from "vitest";
import { createMediaStorage } from "../../lib/app.ts";
import { checkInputs } from "../../lib/content/fetch-inputs.ts";
import { asMediaFailure, audioInputs } from "../../lib/content/plan-edit.ts";
import type { MediaStorage } from "../../lib/content/storage/port.ts";
import { config } from "../../lib/platform/config.ts";
import { stack } from "../support/harness/stack.ts";

let media: MediaStorage;
beforeAll(async () => {
  Object.assign(process.env, stack.env);
  media = await createMediaStorage(config());
});

describe("the audio of a template's edit", () => {
  test.each([
    "http://example.com/a.mp3",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/a.mp3",
    "https://[::1]/a.mp3",
    "https://user:password@example.com/a.mp3",
    "file:///etc/passwd",
  ])("is not fetched from %s, and that is a failure of ours", (url) => {
    const refused = checkInputs(
      media,
      audioInputs([{ kind: "audio", url, start: 0, replace: true }]),
    );
    expect(refused).not.toBeNull();
    if (!refused) return;
    expect(asMediaFailure(refused, "video")).toEqual(
      appError("upstream_error", "Video generation failed"),
    );
  });

  test("leaves errors about the caller's own files as they are", () => {
    const own = appError("invalid_request", "audio_url must be audio", { fields: ["audio_url"] });
    expect(asMediaFailure(own, "video")).toBe(own);
  });
});
