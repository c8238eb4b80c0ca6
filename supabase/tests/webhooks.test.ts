/** An event is queued by the statement that makes it true, or not at all. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { endTurn } from "./open-chat.ts";
import { createRows } from "./rows.ts";
import { rolledBack, type Transaction } from "./transaction.ts";

const createWebhook = (
  { sql }: Transaction,
  account: string,
  events: readonly string[],
  url = "https://hooks.example.com/",
) =>
  sql`insert into webhooks (id, account_id, url, events, secret)
    values (${randomUUID()}, ${account}, ${url}, ${[...events]}, 'sealed')`;

const queued = ({ sql }: Transaction, account: string) =>
  sql`select event_type, url, data, webhook_id is null as is_single from webhook_deliveries
    where account_id = ${account} order by url`;

const finish = (transaction: Transaction, turn: string, status: string) =>
  endTurn(transaction, turn, { status });

test.each(["completed", "failed", "cancelled"])("a turn that ends as %s is told once", (status) =>
  rolledBack(async (transaction) => {
    const account = await transaction.account();
    const { turn, run, chat, session } = await createRows(transaction, account);
    await transaction.sql`delete from webhooks where account_id = ${account}`;
    await createWebhook(transaction, account, [`run.${status}`, "generation.failed"]);
    expect(await finish(transaction, turn, status)).toMatchObject({
      finished: true,
      webhooks_due: true,
    });
    expect(await finish(transaction, turn, "failed")).toMatchObject({ finished: false });
    expect(await queued(transaction, account)).toMatchObject([
      {
        event_type: `run.${status}`,
        data: { run_id: run, chat_id: chat, session_id: session, kind: "chat", status },
      },
    ]);
  }),
);

test("nobody is told who does not want it, and no worker is woken", () =>
  rolledBack(async (transaction) => {
    const account = await transaction.account();
    const stranger = await transaction.account();
    const { turn } = await createRows(transaction, account);
    await transaction.sql`delete from webhooks where account_id = ${account}`;
    await createWebhook(transaction, account, ["run.failed"]);
    await createWebhook(transaction, account, ["run.completed"], "https://disabled.example.com/");
    await transaction.sql`update webhooks set enabled = false where url like '%disabled%'`;
    await createWebhook(transaction, stranger, ["run.completed"]);
    expect(await finish(transaction, turn, "completed")).toMatchObject({
      finished: true,
      webhooks_due: false,
    });
    expect(await queued(transaction, account)).toEqual([]);
    expect(await queued(transaction, stranger)).toEqual([]);
  }));

test("the webhook_url of a run is told once, through the webhook that has it", () =>
  rolledBack(async (transaction) => {
    const account = await transaction.account();
    const { turn } = await createRows(transaction, account);
    await transaction.sql`delete from webhooks where account_id = ${account}`;
    const url = "https://once.example.com/";
    await transaction.sql`update turns set webhook_url = ${url} where id = ${turn}`;
    await createWebhook(transaction, account, ["run.completed"], url);
    await finish(transaction, turn, "completed");
    expect(await queued(transaction, account)).toMatchObject([{ url, is_single: false }]);
  }));

test.each([
  ["COMPLETED", "completed"],
  ["FAILED", "failed"],
])("a generation that ends as %s is told as %s", (given, status) =>
  rolledBack(async (transaction) => {
    const account = await transaction.account();
    const { taskRun } = await createRows(transaction, account);
    await transaction.sql`delete from webhooks where account_id = ${account}`;
    await createWebhook(transaction, account, [`generation.${status}`]);
    await transaction.sql`update task_runs set task_identifier = 'generate-video',
      started_at = now(), attempts = '[{"id": "attempt_1"}]' where id = ${taskRun}`;
    const end = { id: taskRun, status: given, output: null, error: null };
    expect(await transaction.call("end_task_run", end)).toBe(true);
    expect(await queued(transaction, account)).toMatchObject([
      { event_type: `generation.${status}`, data: { run_id: taskRun, kind: "video", status } },
    ]);
  }),
);

test("a turn that never had a run is not told", () =>
  rolledBack(async (transaction) => {
    const account = await transaction.account();
    const { turn } = await createRows(transaction, account);
    await transaction.sql`delete from webhooks where account_id = ${account}`;
    await createWebhook(transaction, account, ["run.failed"]);
    await transaction.sql`update turns set run_id = null where id = ${turn}`;
    await transaction.call("close_turn", { turn_id: turn, status: "failed", error: "never" });
    expect(await queued(transaction, account)).toEqual([]);
  }));
