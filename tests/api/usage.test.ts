import { describe, expect, test } from "vitest";
import { createPerson } from "../support/harness/clients.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

describe("GET /api/usage 200", () => {
  test("an account that has used nothing has totals of 0", async () => {
    const person = await createPerson();
    const { body } = await person.withKey.get("/api/usage");
    const nothing = {
      runs: 0,
      steps: 0,
      input_tokens: 0,
      cached_input_tokens: 0,
      output_tokens: 0,
      cost_usd: 0,
      unpriced_calls: 0,
    };
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
    const day = new Date().toISOString().slice(0, 10);
    expect(await read("day&split_by=kind")).toMatchObject({
      totals: { runs: 1, steps: 2, images: 2 },
      items: [
        {
          key: day,
          runs: 1,
          images: 2,
          parts: expect.toSatisfy((parts: readonly { readonly key: string }[]) =>
            ["headless", "image"].every((kind) => parts.some(({ key }) => key === kind)),
          ),
        },
      ],
    });
    expect(await read("day")).not.toHaveProperty("items.0.parts");
  });

  test("an item has at most 20 parts, the costliest first", async () => {
    const person = await createPerson();
    await sql`insert into usage_entries (account_id, source, step, tool, call, kind, model_id,
        input_tokens, output_tokens, cost_usd)
      select ${person.id}, 'turn', n, 0, 0, 'chat', 'model-' || n, 10, 5, n
      from generate_series(1, 25) n`;
    const { body } = await person.withKey.get("/api/usage?group_by=kind&split_by=model");
    const items = Object(body).items;
    expect(items).toMatchObject([{ key: "chat", steps: 25, cost_usd: 325 }]);
    expect(items[0].parts).toHaveLength(20);
    expect(items[0].parts[0]).toEqual({
      ...{
        key: "model-25",
        runs: 1,
        steps: 1,
        input_tokens: 10,
        cached_input_tokens: 0,
        output_tokens: 5,
        cost_usd: 25,
      },
      ...{ unpriced_calls: 0, images: 0, videos: 0 },
    });
  });

  test("a cost is unknown without prices, and partial with some; absurd entries break nothing", async () => {
    const person = await createPerson();
    await sql`insert into usage_entries (account_id, source, step, tool, call, kind, model_id,
        input_tokens, output_tokens, cost_usd)
      values (${person.id}, 'turn', 0, 0, 0, 'chat', 'unknown', 10, 5, null),
        (${person.id}, 'turn', 1, 0, 0, 'chat', 'partly', 10, 5, null),
        (${person.id}, 'turn', 2, 0, 0, 'chat', 'partly', 10, 5, 2),
        (${person.id}, 'turn', 3, 0, 0, 'chat', 'absurd', -7, 9223372036854775807, 'NaN'),
        (${person.id}, 'turn', 4, 0, 0, 'chat', 'absurd', 1, 1, -3)`;
    const { status, body } = await person.withKey.get("/api/usage?group_by=model&split_by=day");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      totals: { steps: 5, cost_usd: 2, unpriced_calls: 4 },
      items: [
        { key: "absurd", input_tokens: 1, output_tokens: 100_000_001, cost_usd: null },
        { key: "partly", cost_usd: 2, unpriced_calls: 1, parts: [{ unpriced_calls: 1 }] },
        { key: "unknown", cost_usd: null, unpriced_calls: 1 },
      ],
    });
  });
});
