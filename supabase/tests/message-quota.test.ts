/** The bytes of messages are counted with every change of them, and given back with every deletion. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { claimTurn, endTurn } from "./open-chat.ts";
import { createChat } from "./rows.ts";
import { rolledBack, type Transaction } from "./transaction.ts";

const KB = 1_024;
const textOf = (bytes: number) => [{ type: "text", text: "x".repeat(bytes) }];

class Account {
  readonly session = randomUUID();
  readonly chat = randomUUID();
  readonly id: string;
  readonly #transaction: Transaction;

  static async open(transaction: Transaction): Promise<Account> {
    const account = new Account(await transaction.account(), transaction);
    await createChat(transaction, account.id, account);
    return account;
  }

  private constructor(id: string, transaction: Transaction) {
    this.id = id;
    this.#transaction = transaction;
  }

  claim(kilobytes: number, { account = 0, chat = 0, onBusy = "reject", turn = randomUUID() } = {}) {
    const claim = {
      replaces_answer: null,
      ...{ account_id: this.id, session_id: this.session, chat_id: this.chat },
      ...{ turn_id: turn, message_id: turn, parts: textOf(kilobytes * KB), parts_before: null },
      ...{ assistant_message_id: randomUUID(), title: "", default_model_id: "auto" },
      ...{ context_limit: null, history: null, parent_id: null, caller_key_id: null },
      ...{ key_hash: null, key_prefix: null, key_name: null, key_expires_at: null },
      credential: "key",
    };
    return claimTurn(this.#transaction, claim, {
      ...{ on_busy: onBusy, max_account_bytes: account * KB, max_chat_bytes: chat * KB },
    });
  }

  async end(turn_id: string, kilobytes: number): Promise<void> {
    await this.#transaction.call("load_turn", { turn_id, run_id: `run-${turn_id}` });
    await endTurn(this.#transaction, turn_id, { parts: textOf(kilobytes * KB) });
  }

  /** Whole kilobytes, which leaves out the rest of a message around its text. */
  async kilobytes(): Promise<number> {
    const { sql } = this.#transaction;
    const [usage] = await sql`select bytes from message_usage where account_id = ${this.id}`;
    const [sums] = await sql`
      select coalesce(sum(message_bytes), 0) as bytes from chats where account_id = ${this.id}`;
    expect(Number(usage?.bytes ?? 0)).toBe(Number(sums?.bytes));
    return Math.floor(Number(usage?.bytes ?? 0) / KB);
  }
}

const withAccount = (work: (account: Account, t: Transaction) => Promise<void>) =>
  rolledBack(async (transaction) => work(await Account.open(transaction), transaction));

describe("what is counted", () => {
  test("messages, answers and messages that wait, until they are deleted", () =>
    withAccount(async (account, { sql }) => {
      const turn = randomUUID();
      expect(await account.claim(100, { turn })).toMatchObject({ outcome: "claimed" });
      expect(await account.claim(50, { onBusy: "enqueue" })).toMatchObject({ outcome: "queued" });
      expect(await account.kilobytes()).toBe(150);
      await account.end(turn, 30);
      expect(await account.kilobytes()).toBe(180);
      await sql`update messages set parts = '[]' where id = ${turn}`;
      expect(await account.kilobytes()).toBe(80);
      await sql`delete from queued_turns where chat_id = ${account.chat}`;
      expect(await account.kilobytes()).toBe(30);
      await sql`delete from sessions where id = ${account.session}`;
      expect(await account.kilobytes()).toBe(0);
      await sql`delete from accounts where id = ${account.id}`;
    }));

  test("a message that was stored before sizes were kept takes nothing with it", () =>
    withAccount(async (account, { sql }) => {
      const turn = randomUUID();
      await account.claim(100, { turn });
      await account.end(turn, 30);
      await sql`update messages set bytes = 0 where id = ${turn}`;
      await sql`delete from messages where id = ${turn}`;
      expect(await account.kilobytes()).toBe(30);
    }));
});

describe("a message beyond the limit", () => {
  test.each([
    ["messages_full", { account: 100 }],
    ["chat_full", { chat: 100 }],
  ])("%s: nothing is stored", (outcome, limit) =>
    withAccount(async (account) => {
      const turn = randomUUID();
      expect(await account.claim(60, { ...limit, turn })).toMatchObject({ outcome: "claimed" });
      expect(await account.claim(60, { ...limit, onBusy: "enqueue" })).toEqual({ outcome });
      await account.end(turn, 0);
      expect(await account.claim(60, limit)).toEqual({ outcome });
      expect(await account.kilobytes()).toBe(60);
      expect(await account.claim(20, limit)).toMatchObject({ outcome: "claimed" });
    }),
  );

  test("leaves a turn that is active to a repeated request, and other accounts alone", () =>
    withAccount(async (account, transaction) => {
      const turn = randomUUID();
      await account.claim(60, { turn });
      expect(await account.claim(60, { turn, account: 1 })).toMatchObject({ outcome: "active" });
      const other = await Account.open(transaction);
      expect(await other.claim(60, { account: 100 })).toMatchObject({ outcome: "claimed" });
    }));
});
