import { describe, expect, test } from "vitest";
import { expectErrorShape } from "../support/fixtures/shapes.ts";
import { createPerson } from "../support/harness/clients.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";

describe("GET /api/usage 200", () => {
  test("an account that has used nothing has totals of 0", async () => {
    const person = await createPerson();
    const { body } = await person.withKey.get("/api/usage");
    const nothing = { runs: 0, steps: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0 };
    expect(body).toEqual({
      status: "success",
      totals: { ...nothing, images: 0, videos: 0 },
      items: [],
    });
  });

  test("runs and images by kind, and what belongs to no API key", async () => {
    const person = await createPerson();
    await waitForRun(person.withKey, await startRun(person.withKey, { prompt: "run: echo hi" }));
    await person.withBearer.post("/api/content/image", { prompt: "A red kite", num_images: 2 });
    const read = async (group: string) =>
      (await person.withKey.get(`/api/usage?group_by=${group}`)).body;
    expect(await read("kind")).toMatchObject({
      totals: { runs: 1, steps: 2, images: 2 },
      items: [
        { key: "headless", runs: 1, steps: 2, images: 0 },
        { key: "image", runs: 0, steps: 0, images: 2 },
      ],
    });
    expect(await read("api_key")).toMatchObject({
      items: [
        { key: expect.any(String), steps: 2, images: 0 },
        { key: null, steps: 0, images: 2 },
      ],
    });
  });
});

describe("GET /api/usage 400", () => {
  test.each(["from=yesterday", "to=2026-02-30T00:00:00Z", "group_by=hour"])("%s", async (query) => {
    const person = await createPerson();
    const answer = await person.withKey.get(`/api/usage?${query}`);
    expect(answer.status).toBe(400);
    expectErrorShape(answer, "error");
  });
});
