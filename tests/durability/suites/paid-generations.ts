/** A generation that a vendor has accepted, and servers that die before it ends. */
import { beforeAll, expect, test, vi } from "vitest";
import type { FakeFal } from "../../support/fakes/fal.ts";
import { runOf, waitForOnlyRun } from "../../support/fixtures/generations.ts";
import { makeImage } from "../../support/fixtures/media.ts";
import { client } from "../../support/harness/clients.ts";
import { clientAt, crash, type Workspace } from "../../support/harness/workspace.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

const SUBMIT = "/fal-ai/veo3.1/image-to-video";
/** As of `expect.poll`, which no hook may call. */
const WAITING = { timeout: 60_000, interval: 50 };

/** @param fal the vendor of the servers, for whose answers nobody waits */
export function paidGenerationsSuite(provide: ProvideWorkspace, fal: () => FakeFal): void {
  let workspace: Workspace;
  const ask = async () => {
    const caller = client({ key: await workspace.createKey() }, workspace.server.url);
    const body = { image_url: `${fal().origin}/results/scene.png`, duration: "4s" };
    const answer = await caller.post("/api/content/video", body);
    expect(answer.status, answer.text).toBe(504);
    return { caller, answer };
  };
  type Asked = Awaited<ReturnType<typeof ask>>;

  let submitted: Asked & { readonly id: string };
  let unanswered: Asked;
  let accepted: number;
  let received: number;
  let url: string;
  // One server dies with both.
  beforeAll(async () => {
    workspace = await provide();
    fal().serve("scene.png", await makeImage());
    accepted = fal().submitted.length;
    received = fal().count(SUBMIT);
    fal().hold(true);
    const held = await ask();
    // From here on the submission is committed.
    await vi.waitFor(async () => {
      expect((await runOf(held.caller, held.answer)).metadata).toMatchObject({
        step: "generating",
      });
    }, WAITING);
    submitted = { ...held, id: (await runOf(held.caller, held.answer)).id };
    fal().failNext(SUBMIT, "silence");
    unanswered = await ask();
    await vi.waitFor(() => expect(fal().count(SUBMIT)).toBe(received + 2), WAITING);
    await crash(workspace.server);
    ({ url } = await workspace.startServer());
    fal().hold(false);
  });

  test("what is submitted is collected by the next server, and paid for once", async () => {
    const { caller, id } = submitted;
    const run = await waitForOnlyRun(clientAt(url, caller));
    expect(run).toMatchObject({
      ...{ id, status: "COMPLETED" },
      output: { videoSourceUrl: expect.stringContaining(".mp4") },
    });
    expect(fal().submitted.length).toBe(accepted + 1);
    const files = await workspace.sql`select from media_files where run_id = ${id}`;
    expect(files).toHaveLength(1);
  });

  test("what may have been submitted is not submitted again", async () => {
    const run = await waitForOnlyRun(clientAt(url, unanswered.caller));
    expect(run).toMatchObject({ status: "FAILED", error: { message: "Video generation failed" } });
    expect(fal().count(SUBMIT)).toBe(received + 2);
  });
}
