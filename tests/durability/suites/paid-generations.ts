/** A generation that a vendor has accepted, and servers that die before it ends. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeFal, startFakeFal } from "../../support/fakes/fal.ts";
import { runOf, waitForOnlyRun } from "../../support/fixtures/generations.ts";
import { makeImage } from "../../support/fixtures/media.ts";
import { client } from "../../support/harness/clients.ts";
import {
  clientAt,
  crash,
  startWorkspace,
  type Workspace,
} from "../../support/harness/workspace.ts";
import type { World } from "../../support/harness/worlds.ts";

const SUBMIT = "/fal-ai/veo3.1/image-to-video";

/** @param world the World that runs the generations; without one, our own engine. */
export function paidGenerationsSuite(world?: World): void {
  let fal: FakeFal;
  let workspace: Workspace;
  beforeAll(async () => {
    fal = await startFakeFal();
    fal.serve("scene.png", await makeImage());
    // Nobody waits for the answers of these servers.
    const env = {
      ...fal.env,
      LOOPBACK_URLS: "media,webhooks",
      TEST_CONSTANTS: '{"CONTENT_TIMEOUT_MS":1}',
    };
    workspace = await startWorkspace(env, world);
  });
  afterAll(async () => {
    await workspace?.stop();
    await fal?.close();
  });

  const ask = async () => {
    const caller = client({ key: await workspace.createKey() }, workspace.server.url);
    const body = { image_url: `${fal.origin}/results/scene.png`, duration: "4s" };
    const answer = await caller.post("/api/content/video", body);
    expect(answer.status, answer.text).toBe(504);
    return { caller, answer };
  };

  test("what is submitted is collected by the next server, and paid for once", async () => {
    const before = fal.submitted.length;
    fal.hold(true);
    const { caller, answer } = await ask();
    // From here on the submission is committed.
    await expect
      .poll(async () => (await runOf(caller, answer)).metadata)
      .toMatchObject({ step: "generating" });
    const { id } = await runOf(caller, answer);
    await crash(workspace.server);
    const { url } = await workspace.startServer();
    fal.hold(false);
    const run = await waitForOnlyRun(clientAt(url, caller));
    expect(run).toMatchObject({
      ...{ id, status: "COMPLETED" },
      output: { videoSourceUrl: expect.stringContaining(".mp4") },
    });
    expect(fal.submitted.length).toBe(before + 1);
    const files = await workspace.sql`select from media_files where run_id = ${id}`;
    expect(files).toHaveLength(1);
  });

  test("what may have been submitted is not submitted again", async () => {
    const before = fal.count(SUBMIT);
    fal.failNext(SUBMIT, "silence");
    const { caller } = await ask();
    await expect.poll(() => fal.count(SUBMIT)).toBe(before + 1);
    await crash(workspace.server);
    const { url } = await workspace.startServer();
    const run = await waitForOnlyRun(clientAt(url, caller));
    expect(run).toMatchObject({ status: "FAILED", error: { message: "Video generation failed" } });
    expect(fal.count(SUBMIT)).toBe(before + 1);
  });
}
