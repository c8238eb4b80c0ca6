import { beforeAll, describe, expect, test } from "vitest";
import { expectErrorShape } from "../support/fixtures/shapes.ts";
import { type Answer, createPerson, type Person } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

let person: Person;
beforeAll(async () => {
  person = await createPerson();
});

async function setBudget(usd: number | null, spent: number, month = "usage_month()") {
  await sql`update accounts set monthly_budget_usd = ${usd} where id = ${person.id}`;
  await sql`delete from usage_months where account_id = ${person.id}`;
  await sql`insert into usage_months (account_id, month, cost_usd)
    values (${person.id}, ${sql.unsafe(month)}, ${spent})`;
}

describe("over the monthly budget, 402", () => {
  const refused: Record<string, () => Promise<{ answer: Answer; family: "message" | "plain" }>> = {
    "a headless run": async () => ({
      answer: await person.withKey.post("/api/chat/runs", { prompt: "hello" }),
      family: "message",
    }),
    "an image": async () => ({
      answer: await person.withKey.post("/api/content/image", { prompt: "A red kite" }),
      family: "plain",
    }),
    "a video": async () => ({
      answer: await person.withKey.post("/api/content/video", {
        prompt: "A red kite",
        image_url: "https://example.com/kite.png",
      }),
      family: "plain",
    }),
  };
  test.each(Object.entries(refused))("%s is refused, and nothing of it is left", async (_, ask) => {
    await setBudget(5, 5);
    const { answer, family } = await ask();
    expect(answer.status, answer.text).toBe(402);
    expect(answer.headers.get("x-error-code")).toBe("budget_reached");
    expectErrorShape(answer, family);
    expect(answer.text).toContain("Monthly budget reached");
    const left = await sql`
      select id::text from sessions where account_id = ${person.id}
      union all select id from task_runs where account_id = ${person.id}`;
    expect(left).toHaveLength(0);
  });

  test("a message of a chat is refused and not stored; a running turn continues", async () => {
    await setBudget(5, 4.99);
    const conversation = await openConversation(person.withKey);
    const message = [{ id: "m1", content: "run: sleep 100" }];
    const stream = await conversation.send(message);
    // Its first model call has ended, so the budget cannot end this turn before its command does.
    await stream.until(({ type }) => type === "tool-input-available");
    await setBudget(5, 5.01);
    const again = await conversation.send(message);
    expect(again.runId).toBe(stream.runId);
    await conversation.stop();
    // On a busy machine it may end after the answer to the stop.
    await expect.poll(async () => (await conversation.read()).isStreaming).toBe(false);
    const refused = await conversation.send("hello");
    expect(refused.status).toBe(402);
    const { messages, isStreaming } = await conversation.read();
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
    expect(isStreaming).toBe(false);
  });
});

describe("a message that waits when the budget is spent", () => {
  test("is stored, and its turn ends with the reason", async () => {
    await setBudget(5, 4.99);
    const conversation = await openConversation(person.withKey);
    const running = await conversation.send("run: sleep 100");
    await running.until(({ type }) => type === "tool-input-available");
    await setBudget(5, 5.01);
    const message = { id: "waits", content: "hello" };
    const stream = await conversation.send([message], { onBusy: "interrupt" });
    expect(stream.status).toBe(200);
    await stream.ended;
    const errorText = "budget_reached: Monthly budget reached";
    expect(stream.frames.map(({ chunk }) => chunk)).toContainEqual({ type: "error", errorText });
    const { messages } = await conversation.read();
    expect(messages.map(({ id }) => id)).toContain("waits");
  });
});

describe("within the monthly budget, 202", () => {
  test.each([
    ["no budget", null, 1_000, "usage_month()"],
    ["a budget with something left", 5, 4.99, "usage_month()"],
    ["another month's spending", 5, 1_000, "(usage_month() - interval '1 month')::date"],
  ])("%s", async (_, usd, spent, month) => {
    await setBudget(usd, spent, month);
    const run = await startRun(person.withKey, { prompt: "hello" });
    expect((await waitForRun(person.withKey, run)).status).toBe("completed");
  });
});
