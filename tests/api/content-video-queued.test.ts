/** Videos over HTTP, made by a provider that queues its requests. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { contentTemplate } from "../../lib/content/template.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { type FakeFal, startFakeFal } from "../support/fakes/fal.ts";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import {
  download,
  imagesIn,
  runOf,
  videoIn,
  waitForOnlyRun,
} from "../support/fixtures/generations.ts";
import { storeMedia } from "../support/fixtures/media.ts";
import { expectError, expectErrorShape } from "../support/fixtures/shapes.ts";
import { type Client, client, createPerson } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";
import { sql, stack } from "../support/harness/stack.ts";

const post = (caller: Client, body: unknown, headers: Record<string, string> = {}) =>
  caller.post("/api/content/video", body, { headers });
const anImage = async ({ id }: { readonly id: string }) =>
  storeMedia(id, await makeImage(), "image/png");

describe("with a provider that takes its time", () => {
  let fal: FakeFal;
  let server: RunningNext;
  let impatient: RunningNext;
  beforeAll(async () => {
    fal = await startFakeFal();
    // Media on this machine: the results of the fake are the input of one test.
    server = await startServer({ env: { ...fal.env, LOOPBACK_URLS: "media,webhooks" } });
    // Both use one origin, because the stored response contains URLs of it.
    const both = { ...fal.env, PUBLIC_URL: server.url };
    impatient = await startServer({
      env: { ...both, TEST_CONSTANTS: '{"CONTENT_TIMEOUT_MS":1}', CONTENT_AT_ONCE: "1" },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await impatient?.stop();
    await fal.close();
  });

  /** A new account for each test, and a request. */
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
    expect.poll(() => fal.submitted.length, { interval: 20 }).toBe(count);

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

  test("502: the provider fails; a retry with the same key succeeds with the same choices", async () => {
    const { caller, body } = await arrange();
    const key = { "idempotency-key": randomUUID() };
    const asked = { ...body, template: "rooftop-dusk" };
    fal.failNext("/fal-ai/veo", { status: 500 });
    const failed = await post(caller, asked, key);
    expectError(failed, 502, "plain", "Video generation failed");
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
    // The output has no video, so the template has nothing to edit: its operations are known before.
    fal.outputNext({ seed: 1 });
    const answer = await post(caller, { ...withTemplate, prompt: "she winks twice" });
    expect(answer.status).toBe(502);
    expect((await runOf(caller, answer)).metadata).not.toHaveProperty("movement");
    expect(fal.submitted.at(-1)?.input.prompt).toContain("she winks twice");
    const prompted = await post(caller, { ...withTemplate, mode: "prompt" });
    expect(videoIn(prompted).mode).toBe("prompt");
    expect((await runOf(caller, prompted)).metadata).toHaveProperty("movement");
  });

  test("504: the answer does not wait for ever, the work goes on, and a retry finds it", async () => {
    const { hurried: caller, body } = await arrange();
    const before = fal.submitted.length;
    const key = { "idempotency-key": randomUUID() };
    fal.hold(true);
    const late = await post(caller, body, key);
    expectError(late, 504, "plain", "Video generation timed out");
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

  test("images: a model that makes too few is asked for the missing ones", async () => {
    const { id, caller } = await arrange();
    fal.serve("once.png", await makeImage());
    fal.outputNext({ images: [{ url: `${fal.origin}/results/once.png` }] });
    const before = fal.submitted.length;
    const answer = await caller.post("/api/content/image", { prompt: "A kite", num_images: 3 });
    expect(imagesIn(answer).images).toHaveLength(3);
    expect(fal.submitted.slice(before).map(({ input }) => input.num_images)).toEqual([3, 2]);
    expect(await sql`select from media_files where account_id = ${id}`).toHaveLength(3);
  });
});
