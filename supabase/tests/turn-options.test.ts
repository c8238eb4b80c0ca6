/**
 * The options that a message names for its turn only: stored with the turn, and with a message that waits.
 * This file is long because it has every way in which a message gets a turn.
 */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { claimOf, claimTurn, endTurn, openChat, TEXT } from "./open-chat.ts";
import { type Argument, rolledBack, type Transaction } from "./transaction.ts";

type Options = Readonly<Record<string, unknown>>;

/** A chat, with the turns that messages with options start in it. */
async function openTurns(transaction: Transaction) {
  const { sql } = transaction;
  const chat = await openChat(transaction);
  const claim = (options: Options, given: Readonly<Record<string, unknown>> = {}, more = {}) => {
    const claimed = { ...claimOf(chat), ...given, options } as unknown as Argument;
    return claimTurn(transaction, claimed, more);
  };
  /** Turns of one transaction have the same time. */
  const turnOf = async (message_id: string) => {
    const [turn] = await sql`
      select id, model_id, options from turns
      where chat_id = ${chat.chat} and message_id = ${message_id}
      order by finished_at is not null limit 1`;
    return { id: String(turn?.id), model: turn?.model_id, options: turn?.options ?? {} };
  };
  return {
    ...{ chat, sql, claim, turnOf },
    /** Starts a turn, and returns the options that its run gets. */
    start: async (options: Options) => {
      const message_id = randomUUID();
      const assistant_message_id = randomUUID();
      const outcome = await claim(options, { message_id, assistant_message_id });
      expect(outcome).toEqual({ outcome: "claimed" });
      const { id } = await turnOf(message_id);
      await transaction.call("load_turn", { turn_id: id, run_id: id });
      const turn = await turnOf(message_id);
      await endTurn(transaction, id);
      return turn;
    },
    setChat: (options: object) =>
      sql`update chats set options = ${sql.json(options as never)} where id = ${chat.chat}`,
  };
}
type Turns = Awaited<ReturnType<typeof openTurns>>;

const withTurns = (work: (turns: Turns, transaction: Transaction) => Promise<void>) =>
  rolledBack(async (transaction) => work(await openTurns(transaction), transaction));

describe("approvals of a message", () => {
  const ORDER = ["auto", "ask_when_untrusted", "ask", "deny"];
  test("only make each policy of the chat stricter", () =>
    withTurns(async ({ start, setChat }) => {
      for (const [weaker, policy] of ORDER.entries()) {
        for (const [place, given] of ORDER.entries()) {
          await setChat({ approvals: { bash: policy } });
          const { options } = await start({ approvals: { bash: given } });
          expect(options.approvals, `${policy} and ${given}`).toEqual({
            bash: ORDER[Math.max(weaker, place)],
          });
        }
      }
    }));

  test("do not lift a policy that is the default, the account's or a template's", () =>
    withTurns(async ({ chat, sql, start, setChat }, transaction) => {
      const all = { connectors: "auto", mcp: "auto", fetch: "auto", bash: "auto", write: "auto" };
      const approvals = async (given: Options = { approvals: all }) =>
        (await start(given)).options.approvals;
      expect(await approvals()).toMatchObject({ connectors: "ask", mcp: "ask", fetch: "auto" });
      await sql`insert into chat_connectors (chat_id, account_id, connectors)
        values (${chat.chat}, ${chat.account}, '{slack}')`;
      expect(await approvals()).toMatchObject({ fetch: "ask_when_untrusted" });
      await sql`delete from chat_connectors where chat_id = ${chat.chat}`;
      await setChat({ mcp_servers: ["crm"] });
      // The words of the chat's servers stay in the conversation.
      for (const mcp_servers of [undefined, []]) {
        const given = { approvals: all, ...(mcp_servers && { mcp_servers }) };
        expect(await approvals(given)).toMatchObject({ fetch: "ask_when_untrusted" });
      }
      await setChat({});
      const own = { approvals: { fetch: "auto" }, mcp_servers: ["crm"] };
      expect(await approvals(own)).toMatchObject({ fetch: "ask_when_untrusted" });
      await sql`update accounts set approvals = '{"bash": "ask"}' where id = ${chat.account}`;
      const id = randomUUID();
      await transaction.call("create_agent_template", {
        ...{ account_id: await transaction.account(), id, title: "t", description: "d" },
        ...{ prompt: "p", tags: [], is_private: false, share_emails: [] },
        options: { approvals: { write: "deny" } },
      });
      await sql`update chats set template_id = ${id} where id = ${chat.chat}`;
      expect(await approvals()).toMatchObject({ bash: "ask", write: "deny" });
    }));
});

test("a network policy of a message is one more that must allow a host", () =>
  withTurns(async ({ chat, sql, start, setChat }) => {
    const allowlist = (host: string) => ({ mode: "allowlist", hosts: [host] });
    await sql`update accounts set network = ${sql.json(allowlist("a.example"))}
      where id = ${chat.account}`;
    await setChat({ network: allowlist("c.example") });
    const policies = async (network: object) => (await start({ network })).options.network_policies;
    const kept = [
      { of: "account", ...allowlist("a.example") },
      { of: "chat", ...allowlist("c.example") },
    ];
    expect(await policies({ mode: "open" })).toEqual(kept);
    expect(await policies(allowlist("m.example"))).toHaveLength(3);
    expect(await policies({ mode: "none" })).toEqual(
      expect.arrayContaining([...kept, { of: "chat", mode: "none" }]),
    );
  }));

test("other options replace the chat's for this turn only, and a limit that is not named stays", () =>
  withTurns(async ({ start, setChat }) => {
    const ofChat = {
      ...{ effort: "low", skills: ["one"], workspace: "write", web_search: false },
      ...{ fallback_models: ["x"], limits: { max_steps: 2, max_cost_usd: 1 } },
    };
    await setChat(ofChat);
    const own = {
      ...{ effort: "high", skills: [], workspace: "off", web_search: true, fallback_models: [] },
    };
    const { model, options } = await start({ model: "m", ...own, limits: { max_steps: 9 } });
    expect(model).toBe("m");
    expect(options).toMatchObject({ ...own, limits: { max_steps: 9, max_cost_usd: 1 } });
    expect(await start({})).toMatchObject({ model: "auto", options: ofChat });
    // As a server of the previous version would.
    expect((await start(undefined as never)).options).toEqual(ofChat);
  }));

test("options are those of the claim after a crash, whatever became of the chat since", () =>
  withTurns(async ({ claim, turnOf, setChat }, transaction) => {
    const own = { model: "m", approvals: { bash: "ask" }, network: { mode: "none" } };
    await setChat({ network: { mode: "none" } });
    await claim(own, {}, { with_turn: true });
    const claimed = await turnOf("m1");
    const load = () => transaction.call("load_turn", { turn_id: claimed.id, run_id: "run" });
    await load();
    expect(await turnOf("m1")).toEqual(claimed);
    await setChat({ approvals: { bash: "auto" } });
    await load();
    expect(await turnOf("m1")).toEqual(claimed);
    expect(claimed).toMatchObject({ model: "m", options: { approvals: { bash: "ask" } } });
    expect(claimed.options.network_policies).toHaveLength(2);
  }));

describe("a message with options that meets an active turn", () => {
  const own = { model: "m", approvals: { bash: "ask" } };
  const second = { message_id: "m2", assistant_message_id: "a2" };

  test.each(["enqueue", "interrupt", "steer"])("keeps them while it waits (%s)", (on_busy) =>
    withTurns(async ({ chat, sql, claim, turnOf }, transaction) => {
      await claim({});
      const { id: active } = await turnOf("m1");
      await transaction.call("load_turn", { turn_id: active, run_id: "run" });
      const send = () => claim(own, { ...second, turn_id: randomUUID() }, { on_busy });
      // Repeated, too, it steers no turn: that one has other options.
      for (const _ of [1, 2]) {
        expect(await send()).toMatchObject({ outcome: "queued" });
        const taken = await transaction.call("take_steering_messages", {
          ...{ account_id: chat.account, turn_id: active, load: 1, step: 1 },
        });
        expect(taken).toEqual([]);
      }
      await endTurn(transaction, active);
      await sql`select begin_queued_turn(${chat.chat}, 0, 10)`;
      const { id } = await turnOf("m2");
      await transaction.call("load_turn", { turn_id: id, run_id: "next" });
      expect(await turnOf("m2")).toMatchObject({
        model: "m",
        options: { approvals: own.approvals },
      });
    }),
  );

  test("steers it if the options are empty", () =>
    withTurns(async ({ chat, claim, turnOf }, transaction) => {
      await claim({});
      const { id: active } = await turnOf("m1");
      await transaction.call("load_turn", { turn_id: active, run_id: "run" });
      const empty = { approvals: null, limits: null, network: { mode: "open" } };
      await claim(empty, { ...second, turn_id: randomUUID() }, { on_busy: "steer" });
      const taken = await transaction.call("take_steering_messages", {
        ...{ account_id: chat.account, turn_id: active, load: 1, step: 1 },
      });
      expect(taken).toMatchObject([{ id: "m2" }]);
      // The turn that has taken it does not have these.
      const again = { ...second, turn_id: randomUUID() };
      expect(await claim(own, again)).toEqual({ outcome: "options_differ" });
      expect(await claim({}, again)).toMatchObject({ outcome: "active", turn_id: active });
    }));
});

describe("a repeated message", () => {
  const own = { effort: "high", approvals: { bash: "ask" }, network: { mode: "none" } };
  const repeated = [
    [{}, true],
    [own, true],
    [{ effort: "high" }, true],
    [{ approvals: { bash: "auto" } }, true],
    [{ network: { mode: "none" } }, true],
    [{ effort: "low" }, false],
    [{ model: "other" }, false],
    [{ approvals: { bash: "deny" } }, false],
    [{ approvals: { write: "ask" } }, false],
    [{ network: { mode: "allowlist", hosts: ["a.example"] } }, false],
    [{ skills: [] }, false],
  ] as const;

  const expectEach = async (claim: Turns["claim"], given: object, outcome: string) => {
    for (const [options, isKnown] of repeated) {
      const answer = await claim(options, { ...given, turn_id: randomUUID() });
      const expected = isKnown ? outcome : "options_differ";
      expect(answer, JSON.stringify(options)).toMatchObject({ outcome: expected });
    }
  };

  test("is the same with options that its turn has, while it runs and after its end", () =>
    withTurns(async ({ claim, turnOf }, transaction) => {
      await claim(own);
      await expectEach(claim, {}, "active");
      const { id } = await turnOf("m1");
      await transaction.call("load_turn", { turn_id: id, run_id: "run" });
      await expectEach(claim, {}, "active");
      await endTurn(transaction, id);
      await expectEach(claim, {}, "answered");
    }));

  test("is the same with options that it waits with", () =>
    withTurns(async ({ claim }) => {
      await claim({});
      const second = { message_id: "m2", assistant_message_id: "a2" };
      await claim(own, { ...second, turn_id: randomUUID() }, { on_busy: "enqueue" });
      await expectEach(claim, second, "queued");
    }));

  test("has its own options when it is answered again", () =>
    withTurns(async ({ claim, turnOf }, transaction) => {
      await claim(own);
      const { id } = await turnOf("m1");
      await transaction.call("load_turn", { turn_id: id, run_id: "run" });
      await endTurn(transaction, id, { status: "failed", error: "broken" });
      const again = { turn_id: randomUUID(), assistant_message_id: "a2" };
      expect(await claim({ model: "other" }, again)).toMatchObject({ outcome: "claimed" });
      expect(await turnOf("m1")).toMatchObject({ model: "other" });
    }));
});

test("the answer to a question continues with the options of the turn that asked, and adds to them", () =>
  withTurns(async ({ chat, claim, turnOf }, transaction) => {
    const { sql } = transaction;
    await claim({
      ...{ model: "m", effort: "low", limits: { max_steps: 3 } },
      ...{ approvals: { bash: "ask" }, network: { mode: "none" } },
    });
    const { id } = await turnOf("m1");
    await transaction.call("load_turn", { turn_id: id, run_id: "run" });
    await endTurn(transaction, id);
    const answer = async (options: Options) => {
      await sql`update turns set created_at = created_at - interval '1 minute'
        where chat_id = ${chat.chat}`;
      const turn_id = randomUUID();
      const given = { turn_id, message_id: "a1", parts_before: TEXT };
      expect(await claim(options, given)).toMatchObject({ outcome: "claimed" });
      await transaction.call("load_turn", { turn_id, run_id: turn_id });
      const repeated = await claim({ model: "other" }, { ...given, turn_id: randomUUID() });
      expect(repeated).toEqual({ outcome: "options_differ" });
      const turn = await turnOf("a1");
      await endTurn(transaction, turn_id);
      return turn;
    };
    expect(await answer({})).toMatchObject({
      model: "m",
      options: {
        ...{ effort: "low", approvals: { bash: "ask" }, limits: { max_steps: 3 } },
        network_policies: [{ of: "chat", mode: "none" }],
      },
    });
    const added = {
      ...{ effort: "high", limits: { max_cost_usd: 1 } },
      approvals: { bash: "auto", write: "deny" },
      network: { mode: "allowlist", hosts: ["a.example"] },
    };
    const turn = await answer(added);
    expect(turn).toMatchObject({
      model: "m",
      options: {
        ...{ effort: "high", limits: { max_steps: 3, max_cost_usd: 1 } },
        approvals: { bash: "ask", write: "deny" },
      },
    });
    expect(turn.options.network_policies).toHaveLength(2);
  }));

test("a request for an approval names the options of its turn, and no others", () =>
  withTurns(async ({ chat, claim, turnOf }, transaction) => {
    await claim({ approvals: { bash: "ask" } });
    const { id: turn_id } = await turnOf("m1");
    await transaction.call("load_turn", { turn_id, run_id: "run" });
    const id = randomUUID();
    const call = {
      ...{ id, call_id: "1 x", tool_call_id: "x", tool: "bash", category: "bash" },
      ...{ input: {}, effect: [], fields: {} },
    };
    await transaction.call("ask_approvals", {
      ...{ account_id: chat.account, turn_id, load: 1, calls: [call] as never },
      ...{ request_index: 1, days: 1 },
    });
    const isKnown = (options: Options) =>
      transaction.call("asked_with_options", {
        ...{ account_id: chat.account, approval_id: id, options: options as never },
      });
    expect(await isKnown({})).toBe(true);
    expect(await isKnown({ approvals: { bash: "ask" } })).toBe(true);
    expect(await isKnown({ approvals: { write: "ask" } })).toBe(false);
    expect(await isKnown({ network: { mode: "none" } })).toBe(false);
  }));
