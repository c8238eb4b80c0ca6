/** The sandboxes of one account share a quota, even when they write at the same time. */

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalProvider } from "@platform/sandbox/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentDatabase } from "../../lib/platform/database/create-database.ts";
import { accountSpace } from "../../lib/sandbox/store.ts";
import { measureFolder } from "../../packages/sandbox/src/adapters/local/measure-folder.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import { expectErrorShape, sentenceOf } from "../support/fixtures/shapes.ts";
import { createPerson } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";
import { sql, stack } from "../support/harness/stack.ts";

const LIMIT = 1_000_000;

async function insertSession(accountId: string): Promise<string> {
  const [row] = await sql`insert into sessions (account_id) values (${accountId}) returning id`;
  return String(row?.id);
}
const storedBytes = async (sessionId: string) => {
  const [row] = await sql`select sandbox_bytes::int as bytes, sandbox_reserved_at as reserved
    from sessions where id = ${sessionId}`;
  return row?.reserved === null ? row.bytes : "reserved";
};

describe("commands of several sessions", () => {
  let rootDir: string;
  beforeAll(async () => {
    Object.assign(process.env, stack.env);
    rootDir = await mkdtemp(join(tmpdir(), "sandbox-quota-"));
  });
  afterAll(() => rm(rootDir, { recursive: true, force: true }));

  test("that race never fill more than the account may, and get what is left afterwards", async () => {
    const person = await createPerson();
    const sessions = await Promise.all([1, 2, 3].map(() => insertSession(person.id)));
    const provider = createLocalProvider({
      rootDir,
      diskQuota: 64 * 1024 * 1024,
      allowedHosts: [],
      space: accountSpace(currentDatabase(), LIMIT),
    });
    const boxes = await Promise.all(
      sessions.map(async (id) => provider.open(await provider.provision(id, person.id), person.id)),
    );
    const write = (box: (typeof boxes)[number] | undefined, bytes: number, name: string) =>
      box?.run(`printf %0${bytes}d 0 > ${name}`, { timeoutMs: 60_000, maxOutputChars: 500 });
    /** A command that is killed at its deadline takes its jail with it, whose space is then settled. */
    const endJails = async () => {
      const wait = { timeoutMs: 1, maxOutputChars: 500 };
      await Promise.all(boxes.map((box) => box.run("sleep 100", wait)));
      for (const id of sessions) await expect.poll(() => storedBytes(id)).not.toBe("reserved");
    };
    await Promise.all(boxes.map((box) => write(box, 400_000, "first")));
    // A sandbox refused because of another's reservation tries again when that is settled.
    await endJails();
    await Promise.all(boxes.map((box) => write(box, 400_000, "second")));
    await endJails();

    const sizes = await Promise.all(
      sessions.map(async (id) => (await measureFolder(join(rootDir, id))).bytes),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThanOrEqual(LIMIT);
    expect(await Promise.all(sessions.map(storedBytes))).toEqual(sizes);
    // The remaining space can be used by any of them.
    const small = await write(boxes[2], LIMIT - total, "last");
    expect(small?.exitCode, small?.stderr).toBe(0);
    await endJails();
    const none = await write(boxes[0], 1, "none");
    expect(none?.stderr).toContain("No space left on device");
  });

  test("of one account take nothing from another's", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const [full, free] = [await insertSession(person.id), await insertSession(other.id)];
    await sql`update sessions set sandbox_bytes = ${LIMIT} where id = ${full}`;
    const space = accountSpace(currentDatabase(), LIMIT);
    expect((await space.reserve(free, LIMIT)).grantedBytes).toBe(LIMIT);
    expect((await space.reserve(await insertSession(person.id), 1)).grantedBytes).toBe(0);
    expect((await space.reserve(randomUUID(), 1)).grantedBytes).toBe(0);
  });

  test("a reservation is settled by its own jail only", async () => {
    const id = await insertSession((await createPerson()).id);
    const space = accountSpace(currentDatabase(), LIMIT);
    const first = await space.reserve(id, 500);
    const second = await space.reserve(id, 600);
    await first.settle(1);
    expect(await storedBytes(id)).toBe("reserved");
    await second.settle(2);
    expect(await storedBytes(id)).toBe(2);
  });
});

describe("an account whose sandboxes are full", () => {
  let server: RunningNext;
  beforeAll(async () => {
    server = await startServer({
      env: {
        ACCOUNT_SANDBOX_BYTES: String(LIMIT),
        TEST_CONSTANTS: '{"SANDBOXES_START_AHEAD":1}',
      },
    });
  });
  afterAll(() => server?.stop());

  test("gets no further sandbox, keeps those it has, and gets one when it gave one up", async () => {
    const person = await createPerson(server.url);
    const [first, second] = await Promise.all([
      createSession(person.withKey),
      createSession(person.withKey),
    ]);
    const provision = (sessionId: string) => person.withKey.post("/api/sandbox", { sessionId });
    expect((await provision(first.session.id)).status).toBe(200);
    // The sandbox reserves space when it is warmed up, which would replace the value set here.
    const reserved = () => sql`select from sessions
      where id = ${first.session.id} and sandbox_reserved_at is not null`;
    await expect.poll(reserved).toHaveLength(1);
    await sql`update sessions set sandbox_bytes = ${LIMIT}, sandbox_reserved_at = null
      where id = ${first.session.id}`;

    const refused = await provision(second.session.id);
    expect(refused.status).toBe(403);
    expectErrorShape(refused, "error");
    expect(refused.headers.get("x-error-code")).toBe("sandboxes_full");
    const run = await person.withKey.post("/api/chat/runs", { prompt: "hello" });
    expect(run.status).toBe(403);
    expectErrorShape(run, "message");
    expect(sentenceOf(run)).toBe(sentenceOf(refused));
    const sessions = await sql`select id from sessions where account_id = ${person.id}`;
    expect(sessions).toHaveLength(2);

    expect((await provision(first.session.id)).status).toBe(200);
    await person.withKey.delete(`/api/sandbox?sessionId=${first.session.id}`);
    expect((await provision(second.session.id)).status).toBe(200);
  });
});
