/** An account cannot fill the media storage: not by racing itself, and not by dying on the way. */
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { RunningNext } from "../../scripts/run-next.ts";
import { type FakeFal, startFakeFal } from "../support/fakes/fal.ts";
import { imagesIn, waitForOnlyRun } from "../support/fixtures/generations.ts";
import { mediaBytesOf } from "../support/fixtures/media.ts";
import { expectErrorShape, sentenceOf } from "../support/fixtures/shapes.ts";
import { insertRun, plainRun, runsIn } from "../support/fixtures/task-runs.ts";
import { type Answer, createPerson, type Person } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";
import { sql, stack } from "../support/harness/stack.ts";

const LIMIT = 1024 * 1024;
let fal: FakeFal;
let server: RunningNext;
beforeAll(async () => {
  fal = await startFakeFal();
  server = await startServer({ env: { ...fal.env, ACCOUNT_MEDIA_BYTES: String(LIMIT) } });
});
afterAll(async () => {
  await server?.stop();
  await fal?.close();
});

const post = (person: Person, headers: Record<string, string> = {}) =>
  person.withKey.post("/api/content/image", { prompt: "A red kite" }, { headers });

/** A file in the ledger, which leaves so many bytes of the quota. */
async function leaveRoom({ id }: Person, bytes: number): Promise<void> {
  const run = plainRun(id, { status: "COMPLETED" });
  await insertRun(id, run);
  const name = `${randomUUID().replaceAll("-", "")}.png`;
  await sql`insert into media_files (account_id, name, run_id, bytes)
    values (${id}, ${name}, ${run.id}, ${LIMIT - (await mediaBytesOf(id)) - bytes})`;
}

function expectFull(answer: Answer): void {
  expect(answer.status, answer.text).toBe(403);
  expectErrorShape(answer, "plain");
  expect(answer.headers.get("x-error-code")).toBe("media_full");
  expect(sentenceOf(answer)).toBe("The account's media storage is full: delete media to make room");
}

describe("a full account", () => {
  test("starts no generation and calls no provider; another account does not notice", async () => {
    const [person, other] = await Promise.all([createPerson(server.url), createPerson(server.url)]);
    await leaveRoom(person, 0);
    const before = fal.submitted.length;
    expectFull(await post(person));
    expect(fal.submitted.length).toBe(before);
    expect(runsIn(await person.withKey.get("/api/tasks/runs"))).toHaveLength(1);
    imagesIn(await post(other));
  });

  test("can repeat the same request once it has deleted something", async () => {
    const person = await createPerson(server.url);
    const { imageUrl } = imagesIn(await post(person));
    await leaveRoom(person, 1);
    const key = { "idempotency-key": randomUUID() };
    expectFull(await post(person, key));
    await person.withKey.delete(new URL(imageUrl).pathname);
    imagesIn(await post(person, key));
  });

  test("still gets the answer to a request that was carried out before it was full", async () => {
    const person = await createPerson(server.url);
    const key = { "idempotency-key": randomUUID() };
    const first = imagesIn(await post(person, key));
    await leaveRoom(person, 0);
    // As after a crash between the run's end and the answer.
    await sql`update idempotency_keys set response = null where account_id = ${person.id}`;
    expect(imagesIn(await post(person, key))).toEqual(first);
  });
});

describe("generations that race for the last room", () => {
  test("fill it and no more: what does not fit is not kept, and its run says why", async () => {
    const person = await createPerson(server.url);
    imagesIn(await post(person));
    const size = await mediaBytesOf(person.id);
    await leaveRoom(person, Math.floor(size * 1.5));
    const before = fal.submitted.length;
    fal.hold(true);
    const answers = Promise.all([1, 2, 3, 4].map(() => post(person)));
    // All have started: none was refused because the account was already full.
    await expect.poll(() => fal.submitted.length).toBe(before + 4);
    fal.hold(false);
    const refused = (await answers).filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(3);
    for (const answer of refused) expectFull(answer);
    const used = await mediaBytesOf(person.id);
    expect(used).toBeLessThanOrEqual(LIMIT);
    const [ledger] = await sql`select sum(bytes)::bigint as bytes from media_files
      where account_id = ${person.id}`;
    expect(Number(ledger?.bytes)).toBe(used);
    const failed = runsIn(await person.withKey.get("/api/tasks/runs")).filter(
      ({ status }) => status === "FAILED",
    );
    expect(failed).toHaveLength(3);
  });
});

describe("a process that dies between its reservation and the run's end", () => {
  test("takes no room for ever: the reservation goes with the run", async () => {
    const person = await createPerson();
    const child = fork(
      join(import.meta.dirname, "../support/harness/task-run-process.ts"),
      [person.id],
      {
        env: { ...process.env, ...stack.env, LOG_LEVEL: "silent" },
        execArgv: [],
      },
    );
    const [message] = await once(child, "message");
    const { runId } = z.object({ runId: z.string() }).parse(message);
    const name = `${randomUUID().replaceAll("-", "")}.png`;
    const reserve = () => sql`select reserve_media(${person.id}, ${runId},
      ${sql.json([{ name, bytes: 5000 }])}, ${LIMIT}) as outcome`;
    expect(await reserve()).toMatchObject([{ outcome: "reserved" }]);
    expect(await mediaBytesOf(person.id)).toBe(5000);
    child.kill("SIGKILL");
    await once(child, "exit");
    await sql`update task_runs set lease_until = now() - interval '1 second' where id = ${runId}`;
    expect((await waitForOnlyRun(person.withKey)).status).toBe("CRASHED");
    expect(await mediaBytesOf(person.id)).toBe(0);
    expect(await sql`select removed_at from removals where owner_id = ${person.id}`).toEqual([
      { removed_at: null },
    ]);
    // One that comes back late gets no room for a run that has ended.
    expect(await reserve()).toMatchObject([{ outcome: "ended" }]);
  });
});

describe("an account that is deleted", () => {
  test("leaves a removal for every file, and no bytes", async () => {
    const person = await createPerson(server.url);
    const { imageUrl } = imagesIn(await post(person));
    await sql`delete from accounts where id = ${person.id}`;
    expect(await sql`select name from removals where owner_id = ${person.id}`).toEqual([
      { name: imageUrl.split("/").at(-1) },
    ]);
    expect(await sql`select from media_files where account_id = ${person.id}`).toHaveLength(0);
  });
});
