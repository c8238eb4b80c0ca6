/**
 * The mail worker, called directly on a separate database, with a real SMTP server: due times are
 * data in rows, so no test waits for a delay. Workers in this process stand for several servers.
 */

import { randomUUID } from "node:crypto";
import postgres, { type Sql } from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createMailer, createSandboxes } from "../../lib/app.ts";
import { MailWorker } from "../../lib/delivery/mail-worker.ts";
import { claimDeliveries } from "../../lib/delivery/store.ts";
import { config, parseConfig } from "../../lib/platform/config.ts";
import { currentDatabase } from "../../lib/platform/database/create-database.ts";
import { createQueues } from "../../lib/platform/queues.ts";
import { sweepOlder } from "../../lib/retention/store.ts";
import { WebhookWorker } from "../../lib/webhooks/webhook-worker.ts";
import { type FakeSmtp, startFakeSmtp } from "../support/fakes/smtp.ts";
import { startOwnParts } from "../support/harness/stack.ts";

let parts: Awaited<ReturnType<typeof startOwnParts>>;
let sql: Sql;
let smtp: FakeSmtp;
beforeAll(async () => {
  parts = await startOwnParts();
  const settings = { TEST_CONSTANTS: '{"DELIVERY_TIMEOUT_MS":5000}', LOG_LEVEL: "silent" };
  Object.assign(process.env, parts.env, settings);
  parseConfig(process.env);
  sql = postgres(parts.env.DATABASE_URL ?? "", { max: 3, onnotice: () => {} });
});
afterAll(async () => {
  await sql?.end();
  await parts?.stop();
});
beforeEach(async () => {
  await sql`delete from accounts where email like '%@delivery.example.com'`;
  smtp = await startFakeSmtp();
  return () => smtp.close();
});

const newAddress = () => `${randomUUID()}@delivery.example.com`;

async function createAccount(): Promise<{ id: string; email: string }> {
  const [id, email] = [randomUUID(), newAddress()];
  await sql`insert into accounts (id, email) values (${id}, ${email})`;
  return { id, email };
}

/** Ends a run with these recipients, as the end of a turn does, and returns its id. */
async function endRun(
  accountId: string,
  to: readonly string[],
  {
    status = "completed",
    answer = "The report",
    attach = [] as string[],
    effectId = randomUUID(),
  } = {},
): Promise<string> {
  const [session, chat, turn] = [randomUUID(), randomUUID(), randomUUID()];
  const runId = `wrun_${randomUUID()}`;
  const answered = [{ type: "step-start" }, { type: "text", text: answer }];
  const entries = [{ kind: "email", to, attach }];
  await sql`insert into sessions (id, account_id) values (${session}, ${accountId})`;
  await sql`insert into chats (id, session_id, account_id, title)
    values (${chat}, ${session}, ${accountId}, 'A chat')`;
  await sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, message_id,
      assistant_message_id, model_id, deliver, effect_id)
    values (${turn}, ${accountId}, ${session}, ${chat}, ${runId}, 'running', 'm1', 'a1', 'auto',
      ${sql.json({ entries })}, ${effectId})`;
  await sql`insert into messages (chat_id, id, role, parts)
    values (${chat}, 'a1', 'assistant', ${sql.json(answered)})`;
  await sql`update turns set status = ${status}, finished_at = now() where id = ${turn}`;
  return runId;
}

const rowsOf = async (runId: string) =>
  sql`select * from deliveries where run_id = ${runId} order by recipient`;
const runOf = async (accountId: string, runId: string) => {
  const [row] = await sql`select get_run(${accountId}, ${runId}) as run`;
  return row?.run;
};

const makeDue = (runId: string) =>
  sql`update deliveries set due_at = now() where run_id = ${runId} and due_at is not null`;

/** Lets workers send until nothing of the run is due, and none of them claims any more. */
async function deliver(runId: string, ...workers: readonly MailWorker[]): Promise<void> {
  const settings = { ...config(), SMTP_URL: smtp.url };
  const db = currentDatabase();
  const app = {
    ...{ db, webhookWorker: new WebhookWorker(db), mail: await createMailer(settings) },
    queues: createQueues(settings),
    sandboxes: await createSandboxes(db, settings),
  };
  for (const worker of workers) worker.wake(app);
  const open = async () =>
    (await rowsOf(runId)).filter(({ due_at, lease_id }) => lease_id || due_at <= new Date());
  await expect.poll(async () => (await open()).filter(({ due_at }) => due_at)).toEqual([]);
  await expect.poll(() => workers.every(({ isIdle }) => isIdle)).toBe(true);
}

describe("one mail per run and recipient", () => {
  test("whatever number of workers sends them, with one Message-ID for each row", async () => {
    const [account, member] = [await createAccount(), await createAccount()];
    const organization = randomUUID();
    await sql`insert into accounts (id, kind) values (${organization}, 'organization')`;
    await sql`insert into organization_accounts (organization_id, account_id)
      values (${organization}, ${account.id}), (${organization}, ${member.id})`;
    const run = await endRun(account.id, [account.email, member.email]);
    expect(await runOf(account.id, run)).toMatchObject({ delivery: "pending" });
    await deliver(run, new MailWorker(), new MailWorker(), new MailWorker());
    expect(smtp.mails.map(({ to }) => to).sort()).toEqual([[account.email], [member.email]].sort());
    for (const { id, recipient } of await rowsOf(run)) {
      expect(smtp.mailsTo(recipient)[0]?.raw).toContain(`Message-ID: <delivery-${id}@localhost>`);
    }
    expect(await runOf(account.id, run)).toMatchObject({ delivery: "sent", delivery_reason: null });
    const events =
      await sql`select event_type from webhook_deliveries where account_id = ${account.id}`;
    expect(events).toEqual([]);
  });

  test.each(["RCPT TO", "MAIL FROM"] as const)(
    "a failure at %s, which certainly delivers nothing, is attempted again",
    async (command) => {
      const { id, email } = await createAccount();
      const run = await endRun(id, [email]);
      smtp.answer(command, 451);
      await deliver(run, new MailWorker());
      expect(await rowsOf(run)).toMatchObject([
        {
          status: "pending",
          attempts: 1,
          sending_at: null,
          error: "unavailable",
        },
      ]);
      smtp.answer(command);
      await makeDue(run);
      await deliver(run, new MailWorker());
      expect(await rowsOf(run)).toMatchObject([{ status: "sent", attempts: 2, error: null }]);
      expect(smtp.mails).toHaveLength(1);
    },
  );

  test("a mail server that accepts a mail and never answers does not get it twice", async () => {
    const { id, email } = await createAccount();
    await sql`insert into webhooks (id, account_id, url, events, secret)
      values (${randomUUID()}, ${id}, 'http://127.0.0.1:1/', '{delivery.failed}', 'sealed')`;
    const run = await endRun(id, [email]);
    smtp.answer("DATA", "nothing after accepting");
    await deliver(run, new MailWorker());
    smtp.answer("DATA");
    await makeDue(run);
    await deliver(run, new MailWorker());
    expect(smtp.mails).toHaveLength(1);
    expect(await rowsOf(run)).toMatchObject([{ status: "failed", error: "unknown" }]);
    expect(await runOf(id, run)).toMatchObject({
      delivery: "failed",
      delivery_reason: "unknown",
    });
    const events =
      await sql`select event_type, data from webhook_deliveries where account_id = ${id}`;
    expect(events).toMatchObject([
      { event_type: "delivery.failed", data: { run_id: run, status: "failed" } },
    ]);
  });

  test("a worker that died before it sent leaves the mail to others, one that was sending does not", async () => {
    const { id, email } = await createAccount();
    const run = await endRun(id, [email]);
    expect(await claimDeliveries(currentDatabase(), 10, 60)).toMatchObject([{ runId: run }]);
    expect(await claimDeliveries(currentDatabase(), 10, 60)).toEqual([]);
    await makeDue(run);
    await deliver(run, new MailWorker());
    expect(smtp.mails).toHaveLength(1);

    const other = await endRun(id, [email]);
    await claimDeliveries(currentDatabase(), 10, 60);
    await sql`update deliveries set status = 'sending', due_at = now() where run_id = ${other}`;
    await deliver(other, new MailWorker());
    expect(smtp.mails).toHaveLength(1);
    expect(await rowsOf(other)).toMatchObject([{ status: "failed", error: "unknown" }]);
  });
});

describe("recipients at the time of the mail", () => {
  test("a member who has left gets nothing", async () => {
    const [account, member] = [await createAccount(), await createAccount()];
    const run = await endRun(account.id, [member.email]);
    await deliver(run, new MailWorker());
    expect(smtp.mails).toEqual([]);
    expect(await rowsOf(run)).toMatchObject([
      { status: "failed", attempts: 0, error: "not_confirmed" },
    ]);
  });

  test("one who unsubscribes while the mail is on its way to the mail server gets nothing", async () => {
    const { id, email } = await createAccount();
    const run = await endRun(id, [email]);
    smtp.answer("RCPT TO", 451);
    await deliver(run, new MailWorker());
    await sql`select unsubscribe_address(${id}, ${email})`;
    smtp.answer("RCPT TO");
    await makeDue(run);
    await deliver(run, new MailWorker());
    expect(smtp.mails).toEqual([]);
    expect(await rowsOf(run)).toMatchObject([{ status: "failed", error: "unsubscribed" }]);
  });

  test("a bounce stops further mail of this account to the address", async () => {
    const [{ id, email }, other] = [await createAccount(), await createAccount()];
    smtp.answer("RCPT TO", 550);
    const bounced = await endRun(id, [email]);
    await deliver(bounced, new MailWorker());
    expect(await rowsOf(bounced)).toMatchObject([{ status: "failed", error: "address_refused" }]);
    smtp.answer("RCPT TO");
    const next = await endRun(id, [email]);
    await deliver(next, new MailWorker());
    expect(smtp.mails).toEqual([]);
    expect(await rowsOf(next)).toMatchObject([{ error: "bounced" }]);
    const unrelated = await endRun(other.id, [other.email]);
    await deliver(unrelated, new MailWorker());
    expect(smtp.mailsTo(other.email)).toHaveLength(1);
  });

  test("after 100 mails a day, the next one fails", async () => {
    const { id, email } = await createAccount();
    await sql`insert into deliveries
        (account_id, run_id, kind, recipient, entry, status, due_at, sending_at, finished_at)
      select ${id}, 'wrun_x', 'email', 'a' || n, '{}', 'sent', null, now() - interval '23 hours', now()
      from generate_series(1, 99) n`;
    const [last, beyond] = [await endRun(id, [email]), await endRun(id, [email])];
    await deliver(last, new MailWorker());
    await deliver(beyond, new MailWorker());
    expect(smtp.mails).toHaveLength(1);
    const states = [...(await rowsOf(last)), ...(await rowsOf(beyond))].map(({ error }) => error);
    expect(states.toSorted()).toEqual(["day_limit", null]);
  });
});

describe("a result that is withheld", () => {
  const noticesTo = (email: string) =>
    smtp.mailsTo(email).filter(({ raw }) => raw.includes("Subject: Not delivered"));

  test("is not sent, the run says why, and the owner gets one notice a day", async () => {
    const { id, email } = await createAccount();
    const empty = await endRun(id, [email], { answer: " \n" });
    const failed = await endRun(id, [email], { status: "failed" });
    expect(await runOf(id, empty)).toMatchObject({
      delivery: "withheld",
      delivery_reason: "empty",
    });
    expect(await runOf(id, failed)).toMatchObject({ delivery_reason: "run_failed" });
    await deliver(empty, new MailWorker());
    expect(smtp.mails).toHaveLength(1);
    expect(noticesTo(email)).toHaveLength(1);

    await sql`update deliveries set created_at = now() - interval '25 hours' where account_id = ${id}`;
    const later = await endRun(id, [email], { answer: "" });
    await deliver(later, new MailWorker());
    expect(noticesTo(email)).toHaveLength(2);
    expect(noticesTo(email)[1]?.raw).toContain("1 more result was withheld");
  });

  test("by a stop of the account's own is no news to its owner", async () => {
    const { id, email } = await createAccount();
    const run = await endRun(id, [email], { status: "cancelled" });
    expect(await runOf(id, run)).toMatchObject({
      delivery: "withheld",
      delivery_reason: "run_cancelled",
    });
    expect(await rowsOf(run)).toEqual([]);
  });
});

test("files of a sandbox that is gone are named in the mail", async () => {
  const { id, email } = await createAccount();
  const run = await endRun(id, [email], { attach: ["reports/*.xlsx"] });
  await deliver(run, new MailWorker());
  expect(smtp.mailsTo(email)[0]?.raw.replaceAll("=\r\n", "")).toContain("reports/*.xlsx");
});

test("the log forgets what ended long ago, and the run keeps what became of it", async () => {
  const { id, email } = await createAccount();
  const [old, recent] = [await endRun(id, [email]), await endRun(id, [email])];
  await deliver(old, new MailWorker());
  await deliver(recent, new MailWorker());
  await sql`update deliveries set finished_at = now() - interval '31 days' where run_id = ${old}`;
  expect(await sweepOlder(currentDatabase(), "sweep_deliveries", 10, 30)).toBe(1);
  expect(await rowsOf(old)).toEqual([]);
  expect(await rowsOf(recent)).toHaveLength(1);
  expect(await runOf(id, old)).toMatchObject({ delivery: "sent" });
});
