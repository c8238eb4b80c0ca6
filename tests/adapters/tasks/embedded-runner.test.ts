import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { runsIn } from "../../support/fixtures/task-runs.ts";
import { createPerson, type Person } from "../../support/harness/clients.ts";
import { sql, stack } from "../../support/harness/stack.ts";

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});

/** Forks the program that tries to start a run of the account in a separate process. */
function forkRun(...args: readonly string[]) {
  const child = fork(join(import.meta.dirname, "../../support/harness/task-run-process.ts"), args, {
    env: { ...process.env, ...stack.env, LOG_LEVEL: "silent" },
    execArgv: [],
  });
  children.add(child);
  return { child, answer: async () => (await once(child, "message"))[0] as unknown };
}

/** A run that has started. */
async function startRun(accountId: string, effectId: string = randomUUID()) {
  const { child, answer } = forkRun(accountId, effectId);
  const { runId } = z.object({ runId: z.string() }).parse(await answer());
  return {
    runId,
    async order(message: Readonly<Record<string, unknown>>): Promise<unknown> {
      const answered = answer();
      child.send(message);
      return answered;
    },
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

const lookUp = async (person: Person, runId: string) => {
  const [run] = runsIn(await person.withKey.get(`/api/tasks/runs?runId=${runId}`));
  return run;
};
const statusOf = async (person: Person, runId: string) => (await lookUp(person, runId))?.status;

describe("a task run of this service", () => {
  test("is its account's from its first moment, and shows how far it is", async () => {
    const person = await createPerson();
    const { runId, order } = await startRun(person.id);
    const begun = await lookUp(person, runId);
    expect(begun).toEqual({
      id: runId,
      status: "EXECUTING",
      taskIdentifier: "test-task",
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      startedAt: expect.any(String),
      version: "1",
      isTest: false,
      tags: [`account:${person.id}`],
      metadata: { step: "begun" },
      durationMs: 0,
      env: { id: "embedded", name: "embedded", user: "embedded" },
      depth: 0,
      triggerFunction: "trigger",
      payload: { asked: [null, "for"] },
      attempts: [
        {
          id: runId.replace("run_", "attempt_"),
          status: "EXECUTING",
          createdAt: begun?.createdAt,
          updatedAt: begun?.createdAt,
          startedAt: begun?.createdAt,
        },
      ],
      relatedRuns: {},
    });
    await order({ progress: { step: "half", done: 3 } });
    await order({ progress: { step: "more" } });
    expect((await lookUp(person, runId))?.metadata).toEqual({ step: "more", done: 3 });
  });

  test("shows the Idempotency-Key of its request as the caller wrote it, and no cost", async () => {
    const person = await createPerson();
    const key = `${"ü".repeat(254)}"`;
    const child = forkRun(person.id, randomUUID(), "0", key);
    const { runId } = z.object({ runId: z.string() }).parse(await child.answer());
    const listed = runsIn(await person.withKey.get("/api/tasks/runs"));
    for (const run of [await lookUp(person, runId), ...listed]) {
      expect(run?.idempotencyKey).toBe(key);
      expect(run).not.toHaveProperty("costInCents");
      expect(run).not.toHaveProperty("baseCostInCents");
    }
  });

  test("that gives something is COMPLETED with it before the giver is told", async () => {
    const person = await createPerson();
    const { runId, order } = await startRun(person.id);
    const output = { videoSourceUrl: "https://example.com/v.mp4", none: null };
    expect(await order({ finish: output })).toEqual({ output });
    const run = await lookUp(person, runId);
    expect(run).toMatchObject({ status: "COMPLETED", output, finishedAt: run?.updatedAt });
    expect(run).not.toHaveProperty("error");
    expect(run?.durationMs).toBe(
      Date.parse(run?.finishedAt ?? "") - Date.parse(run?.startedAt ?? ""),
    );
    expect(run?.attempts).toMatchObject([{ status: "COMPLETED", completedAt: run?.finishedAt }]);
  });

  test("that gives an error is FAILED with its text", async () => {
    const person = await createPerson();
    const { runId, order } = await startRun(person.id);
    const failed = "Video generation failed";
    expect(await order({ fail: failed })).toEqual({ failed });
    const error = { name: "upstream_error", message: failed, stackTrace: "" };
    const run = await lookUp(person, runId);
    expect(run).toMatchObject({ status: "FAILED", error, attempts: [{ status: "FAILED", error }] });
    expect(run).not.toHaveProperty("output");
  });

  test("is CRASHED when its lease has expired; one with a lease is not", async () => {
    const person = await createPerson();
    const [dead, alive] = await Promise.all([startRun(person.id), startRun(person.id)]);
    await dead.kill();
    await sql`update task_runs set lease_until = now() - interval '1 second'
      where id = ${dead.runId}`;
    expect(await statusOf(person, dead.runId)).toBe("CRASHED");
    const crashed = await lookUp(person, dead.runId);
    expect(crashed).toMatchObject({
      error: { message: "The process that ran this task ended" },
      attempts: [{ status: "FAILED" }],
      finishedAt: expect.any(String),
    });
    expect(await statusOf(person, alive.runId)).toBe("EXECUTING");
    await alive.order({ finish: { done: true } });
    expect(await statusOf(person, alive.runId)).toBe("COMPLETED");
  });

  test("that was found crashed stays so, when its process comes back too late", async () => {
    const person = await createPerson();
    const { runId, order } = await startRun(person.id);
    await sql.begin(async (transaction) => {
      await transaction`update task_runs set lease_until = now() - interval '1 second'
        where id = ${runId}`;
      await transaction`select get_task_run(${person.id}, ${runId})`;
    });
    const crashed = await lookUp(person, runId);
    expect(crashed?.status).toBe("CRASHED");
    await order({ progress: { step: "late" } });
    await order({ finish: { late: true } });
    expect(await lookUp(person, runId)).toEqual(crashed);
  });

  test("is found crashed once, however many look at the same time", async () => {
    const person = await createPerson();
    const runs = await Promise.all([startRun(person.id), startRun(person.id)]);
    await Promise.all(runs.map((run) => run.kill()));
    await sql`update task_runs set lease_until = now() - interval '1 second'
      where account_id = ${person.id}`;
    const lists = await Promise.all(
      Array.from({ length: 20 }, () => person.withKey.get("/api/tasks/runs")),
    );
    const last = runsIn(await person.withKey.get("/api/tasks/runs"));
    expect(last.map(({ status }) => status)).toEqual(["CRASHED", "CRASHED"]);
    const ends = lists.flatMap((answer) => runsIn(answer)).filter(({ finishedAt }) => finishedAt);
    for (const end of ends) expect(last).toContainEqual(end);
  });
});

describe("an effect that several runs would bring about", () => {
  test("is one run's while that is under way and when it is completed", async () => {
    const person = await createPerson();
    const effectId = randomUUID();
    const first = await startRun(person.id, effectId);
    const earlier = async () => forkRun(person.id, effectId).answer();
    expect(await earlier()).toEqual({ earlier: { runId: first.runId, output: null } });
    await first.order({ finish: { done: true } });
    expect(await earlier()).toEqual({ earlier: { runId: first.runId, output: { done: true } } });
  });

  test("is begun once by many at the same time", async () => {
    const person = await createPerson();
    const effectId = randomUUID();
    const tries = Array.from({ length: 4 }, async () => forkRun(person.id, effectId).answer());
    const answers = z
      .array(
        z.union([
          z.object({ runId: z.string() }),
          z.object({ earlier: z.object({ runId: z.string() }) }),
        ]),
      )
      .parse(await Promise.all(tries));
    expect(answers.filter((answer) => "runId" in answer)).toHaveLength(1);
    const ids = answers.map((answer) => ("runId" in answer ? answer : answer.earlier).runId);
    expect(new Set(ids).size).toBe(1);
  });

  test.each(["failed", "crashed"])("is the next one's when the first has %s", async (end) => {
    const person = await createPerson();
    const effectId = randomUUID();
    const first = await startRun(person.id, effectId);
    if (end === "failed") await first.order({ fail: "Video generation failed" });
    else {
      await first.kill();
      await sql`update task_runs set lease_until = now() - interval '1 second'
        where id = ${first.runId}`;
    }
    const second = await startRun(person.id, effectId);
    expect(second.runId).not.toBe(first.runId);
    expect(await statusOf(person, first.runId)).toBe(end.toUpperCase());
    await second.order({ finish: { done: true } });
    expect(await statusOf(person, second.runId)).toBe("COMPLETED");
  });
});

describe("an account that has as many runs under way as it may have", () => {
  test("begins no other, until one of them ends; other accounts do not notice", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const begin = (accountId: string) => forkRun(accountId, randomUUID(), "2").answer();
    const [first] = await Promise.all([startRun(person.id), startRun(person.id)]);
    expect(await begin(person.id)).toEqual({ refused: "Too many requests" });
    expect(await begin(other.id)).toEqual({ runId: expect.any(String) });
    await first.order({ finish: { done: true } });
    const answers = await Promise.all([1, 2, 3].map(() => begin(person.id)));
    expect(answers).toContainEqual({ runId: expect.any(String) });
    expect(answers.filter((answer) => JSON.stringify(answer).includes("refused"))).toHaveLength(2);
  });
});
