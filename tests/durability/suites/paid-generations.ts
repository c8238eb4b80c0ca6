/** A generation that a vendor has accepted, and servers that die before it ends. */
import { beforeAll, expect, test, vi } from "vitest";
import type { FakeFal } from "../../support/fakes/fal.ts";
import { makeImage } from "../../support/fixtures/encoded-media.ts";
import { runOf, waitForOnlyRun } from "../../support/fixtures/generations.ts";
import { type Client, client } from "../../support/harness/clients.ts";
import { type Started, startRun, waitForRun } from "../../support/harness/runs.ts";
import { clientAt, crash, type Workspace } from "../../support/harness/workspace.ts";
import type { ProvideWorkspace } from "./provide-workspace.ts";

const SUBMIT = "/fal-ai/veo3.1/image-to-video";
/** The defaults of `expect.poll`, which hooks may not call. */
const WAITING = { timeout: 60_000, interval: 50 };

/** @param fal the vendor of the servers, whose answers arrive without a wait */
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
  let agents: Started & { readonly caller: Client };
  let accepted: number;
  let received: number;
  let url: string;
  // One server dies with all of them.
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
    workspace.model.script("paid-image", ({ step }) => {
      const input = { kind: "image", prompt: "Once" };
      return step === 0 ? [{ tool: "make_media", id: "paid", input }] : [{ text: "Done" }];
    });
    const caller = await workspace.createCaller();
    const asked = { prompt: "[script:paid-image]", media_tools: true };
    agents = { caller, ...(await startRun(clientAt(workspace.server.url, caller), asked)) };
    await vi.waitFor(() => expect(fal().submitted.length).toBe(accepted + 2), WAITING);
    await vi.waitFor(async () => {
      const [run] = await workspace.sql`
        select metadata ->> 'step' as step from task_runs where payload ->> 'prompt' = 'Once'`;
      expect(run).toEqual({ step: "generating" });
    }, WAITING);
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
    expect(fal().submitted.length).toBe(accepted + 2);
    const files = await workspace.sql`select from media_files where run_id = ${id}`;
    expect(files).toHaveLength(1);
  });

  test("what an agent has ordered is written into its sandbox, and not ordered again", async () => {
    const ended = await waitForRun(clientAt(url, agents.caller), agents);
    expect(ended).toMatchObject({ status: "completed", error: null });
    const [result = ""] = workspace.model.callsOf("paid-image").at(-1)?.toolResults ?? [];
    const { path, bytes, ...more } = JSON.parse(result);
    expect(more).not.toHaveProperty("placeholder");
    const text = await workspace.readSandboxFile(agents.sessionId, path);
    expect(text).toContain("PNG");
    expect(bytes).toBeGreaterThan(0);
    expect(fal().submitted.length).toBe(accepted + 2);
  });

  test("what may have been submitted is not submitted again", async () => {
    const run = await waitForOnlyRun(clientAt(url, unanswered.caller));
    expect(run).toMatchObject({ status: "FAILED", error: { message: "Video generation failed" } });
    expect(fal().count(SUBMIT)).toBe(received + 2);
  });
}
