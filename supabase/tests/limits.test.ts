/** The limits of a turn: which of its model calls may be made, and the notes to its model. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openChat } from "./open-chat.ts";
import { type Argument, rolledBack, type Transaction } from "./transaction.ts";

const withTurn = (limits: Readonly<Record<string, number>>, work: (turn: Turn) => Promise<void>) =>
  rolledBack(async (transaction) => {
    const { account, session, chat } = await openChat(transaction);
    const id = randomUUID();
    await transaction.sql`
      insert into turns (id, account_id, session_id, chat_id, message_id, assistant_message_id,
        model_id, options, run_id, status)
      values (${id}, ${account}, ${session}, ${chat}, 'm', 'a', 'm',
        ${transaction.sql.json({ limits })}, 'run', 'running')`;
    await transaction.sql`update chats set active_stream_id = 'run' where id = ${chat}`;
    await work(new Turn(transaction, account, id));
  });

class Turn {
  load = 0;
  readonly transaction: Transaction;
  readonly account: string;
  readonly id: string;

  constructor(transaction: Transaction, account: string, id: string) {
    this.transaction = transaction;
    this.account = account;
    this.id = id;
  }

  #call(name: string, more: Readonly<Record<string, Argument>>): Promise<unknown> {
    return this.transaction.call(name, { account_id: this.account, turn_id: this.id, ...more });
  }

  reserve(
    estimate_usd: number | null,
    { spent_usd = 0, released_usd = null as number | null, in_flight = 0 } = {},
  ) {
    const amounts = { estimate_usd, spent_usd, released_usd, in_flight };
    const key = { account_id: this.account, id: this.id, load: this.load };
    return this.transaction.call("reserve_call", { ...key, ...amounts });
  }

  record(step: number, tool: number, cost_usd: number, reserved_usd = 0) {
    const calls = [{ step, tool, call: step, model_id: "m", cost_usd, reserved_usd }];
    return this.#call("record_turn_usage", { calls });
  }

  complete(index: number, cost_usd: number) {
    const usage = [{ step: index, tool: 0, call: 0, model_id: "m", cost_usd }];
    const step = { load: this.load, index, result: {}, call_ids: [], usage };
    return this.#call("complete_model_call", step);
  }

  note = async (step: number) =>
    Object(await this.#call("note_limit", { load: this.load, step })).note;

  /** Another process continues with the turn. */
  async crash() {
    const loaded = await this.transaction.call("load_turn", { turn_id: this.id, run_id: "run" });
    this.load = Object(loaded).load;
  }
}

test("one call may exceed the cost, and one beside it waits until it fits in", () =>
  withTurn({ max_cost_usd: 1 }, async (turn) => {
    expect(await turn.reserve(5)).toBe("reserved");
    expect(await turn.reserve(0.1, { released_usd: 0, in_flight: 1 })).toBe("wait");
    await turn.record(0, 1, 0.2, 5);
    expect(await turn.reserve(0.4)).toBe("reserved");
    expect(await turn.reserve(0.4, { released_usd: 0, in_flight: 1 })).toBe("reserved");
    expect(await turn.reserve(0.1, { released_usd: 0, in_flight: 2 })).toBe("wait");
    await turn.record(0, 2, 0.8);
    expect(await turn.reserve(0)).toBe("max_cost_usd");
  }));

test("a call beside others is expected to cost as much as the costliest of the turn", () =>
  withTurn({ max_cost_usd: 1 }, async (turn) => {
    await turn.record(0, 0, 0.3);
    expect(await turn.reserve(0.01)).toBe("reserved");
    expect(await turn.reserve(0.01, { released_usd: 0, in_flight: 1 })).toBe("reserved");
    expect(await turn.reserve(0.01, { released_usd: 0, in_flight: 2 })).toBe("wait");
  }));

test("what earlier attempts have spent counts, and what was cut with its process", () =>
  withTurn({ max_cost_usd: 1 }, async (turn) => {
    expect(await turn.reserve(0.1, { spent_usd: 1 })).toBe("max_cost_usd");
    expect(await turn.reserve(0.6)).toBe("reserved");
    await turn.crash();
    expect(await turn.reserve(0.6)).toBe("reserved");
    await turn.crash();
    expect(await turn.reserve(0.6)).toBe("max_cost_usd");
  }));

test("a step that was recorded leaves nothing to lose", () =>
  withTurn({ max_cost_usd: 1 }, async (turn) => {
    expect(await turn.reserve(5)).toBe("reserved");
    await turn.complete(0, 0.2);
    await turn.crash();
    expect(await turn.reserve(5)).toBe("reserved");
  }));

test("a cost that is not known needs the account's consent", () =>
  withTurn({ max_cost_usd: 1 }, async (turn) => {
    expect(await turn.reserve(null)).toBe("unpriced_model");
    await turn.transaction.sql`
      update accounts set allow_unpriced_models = true where id = ${turn.account}`;
    expect(await turn.reserve(null)).toBe("reserved");
  }));

test("steps count with those of subagents, and calls beside others wait for the last one", () =>
  withTurn({ max_steps: 3 }, async (turn) => {
    const { sql } = turn.transaction;
    expect(await turn.reserve(null)).toBe("reserved");
    await turn.complete(0, 0);
    await sql`insert into subagent_steps (turn_id, tool_call_id, index, result)
      values (${turn.id}, '1 call', 0, '{}')`;
    expect(await turn.reserve(null)).toBe("reserved");
    expect(await turn.reserve(null, { released_usd: 0, in_flight: 1 })).toBe("wait");
    await turn.complete(1, 0);
    expect(await turn.reserve(null)).toBe("max_steps");
  }));

test("the duration counts from the start of the turn", () =>
  withTurn({ max_duration_s: 60 }, async (turn) => {
    expect(await turn.reserve(null)).toBe("reserved");
    await turn.transaction.sql`
      update turns set created_at = created_at - interval '61 s' where id = ${turn.id}`;
    expect(await turn.reserve(null, { in_flight: 3 })).toBe("max_duration_s");
  }));

test("three quarters of a limit are noted once, for the step that comes first", () =>
  withTurn({ max_cost_usd: 1, max_steps: 4 }, async (turn) => {
    await turn.complete(0, 0.5);
    expect(await turn.note(1)).toBeNull();
    await turn.complete(1, 0.3);
    const noted = { step: 2, limit: "max_cost_usd" };
    expect(await turn.note(2)).toEqual(noted);
    await turn.complete(2, 0);
    expect(await turn.note(3)).toEqual(noted);
    await turn.crash();
    expect(await turn.note(3)).toEqual(noted);
  }));

test("the narrowest limits apply, also those of another account's template", () =>
  rolledBack(async (transaction) => {
    const { account, chat } = await openChat(transaction);
    const other = await transaction.account();
    const optionsWith = async (author: string, options: Argument) => {
      const id = randomUUID();
      await transaction.call("create_agent_template", {
        ...{ account_id: author, id, title: "t", description: "d", prompt: "p", tags: [] },
        ...{ is_private: false, share_emails: [], options },
      });
      await transaction.sql`
        update chats set template_id = ${id}, options = '{"limits": {"max_steps": 5, "max_cost_usd": 1}}'
        where id = ${chat}`;
      return transaction.call("chat_options", { account_id: account, chat_id: chat });
    };
    const limits = { max_steps: 9, max_cost_usd: 0.5, max_duration_s: 60 };
    const narrowest = { max_steps: 5, max_cost_usd: 0.5, max_duration_s: 60 };
    const options = { effort: "high", limits };
    expect(await optionsWith(account, options)).toEqual({ effort: "high", limits: narrowest });
    expect(await optionsWith(other, options)).toEqual({ limits: narrowest });
    expect(await optionsWith(other, { effort: "low" })).toEqual({
      limits: { max_steps: 5, max_cost_usd: 1 },
    });
  }));
