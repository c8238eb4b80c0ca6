/** With a Supabase project, generated files are stored in and served by its Storage. */
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeFal, startFakeFal } from "../../support/fakes/fal.ts";
import { download, imagesIn, waitForOnlyRun } from "../../support/fixtures/generations.ts";
import { createPerson } from "../../support/harness/clients.ts";
import { type HostedProject, startHostedProject } from "../../support/harness/hosted-project.ts";
import { startServer } from "../../support/harness/server.ts";

let fal: FakeFal;
let project: HostedProject;
let server: RunningNext;

beforeAll(async () => {
  fal = await startFakeFal();
  project = await startHostedProject();
  server = await startServer({ env: { ...fal.env, ...project.env } });
});
afterAll(async () => {
  await server?.stop();
  await project?.close();
  await fal?.close();
});

describe("a server beside a Supabase project", () => {
  test("keeps an image in its bucket, and takes it from there as an input of its account", async () => {
    const [person, other] = await Promise.all([createPerson(server.url), createPerson(server.url)]);
    const made = await person.withKey.post("/api/content/image", { prompt: "A red kite" });
    const { imageUrl } = imagesIn(made);
    const bucket = `${project.origin}/storage/v1/object/public/media`;
    expect(imageUrl).toMatch(new RegExp(`^${bucket}/${person.id}/[0-9a-f]{32}\\.png$`));
    expect((await sharp(await download(imageUrl)).metadata()).format).toBe("png");

    const body = { prompt: "The same kite at dusk", reference_image_url: imageUrl };
    imagesIn(await person.withKey.post("/api/content/image", body));
    expect(fal.uploads.size).toBe(1);
    const foreign = await other.withKey.post("/api/content/image", body);
    const sentence = "reference_image_url could not be fetched";
    expect([foreign.status, foreign.body]).toEqual([400, { error: sentence }]);

    const path = new URL(imageUrl).pathname.replace("/storage/v1/object/public", "/api");
    expect((await person.withKey.get(path)).status).toBe(404);
  });

  test("stores what was paid for once the project's Storage is back", async () => {
    const person = await createPerson(server.url);
    const uploads = "/storage/v1/object/media/";
    const before = project.count(uploads);
    project.fail({ status: 503, body: "<h1>trouble</h1>" }, "/storage/");
    const asked = person.withKey.post("/api/content/image", { prompt: "A red kite" });
    await expect.poll(() => project.count(uploads)).toBeGreaterThan(before);
    project.recover();
    const { imageUrl } = imagesIn(await asked);
    expect((await sharp(await download(imageUrl)).metadata()).format).toBe("png");
    expect(await waitForOnlyRun(person.withKey)).toMatchObject({ status: "COMPLETED" });
  });
});
