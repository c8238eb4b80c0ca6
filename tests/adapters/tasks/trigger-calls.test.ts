/** The number of the SDK's calls, which cannot be cancelled, that one process lets hang. */
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createTriggerTaskRunner } from "../../../lib/task-runs/adapters/trigger/provider.ts";
import { startFakeTrigger } from "../../support/fakes/trigger.ts";
import { newRunId } from "../../support/fixtures/task-runs.ts";

test("at most 32 calls are outstanding, and the others wait for one to end", async () => {
  const fake = await startFakeTrigger();
  const { TRIGGER_SECRET_KEY: secretKey, TRIGGER_API_URL: apiUrl } = fake.env;
  const runner = createTriggerTaskRunner({ secretKey, apiUrl, startsTasks: true });
  const log = pino({ level: "silent" });
  fake.fail("silence");
  const calls = Array.from({ length: 40 }, () =>
    runner.start?.(
      { accountId: randomUUID(), taskIdentifier: "scheduled-prompt", taskRunId: newRunId() },
      log,
    ),
  );
  await expect.poll(() => fake.count("/trigger")).toBe(32);
  fake.recover();
  await fake.close();
  await fake.reopen();
  const answers = await Promise.all(calls);
  const started = answers.filter((answer) => typeof answer === "string");
  const failed = answers.filter((answer) => typeof answer !== "string");
  expect([started.length, failed.length]).toEqual([8, 32]);
  expect(failed).toEqual(
    failed.map(() => expect.objectContaining({ message: "Task runner unavailable" })),
  );
  expect(fake.count("/trigger")).toBe(40);
  await fake.close();
});
