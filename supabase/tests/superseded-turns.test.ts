import { describe, expect, test } from "vitest";
import { claimOf, claimTurn, openChat, TEXT } from "./open-chat.ts";
import { rolledBack } from "./transaction.ts";

describe("a turn that another process has loaded meanwhile", () => {
  const used = {
    ...{ step: 0, tool: 0, call: 0, model_id: "m", input_tokens: 3, output_tokens: 2 },
    ...{ cost_usd: null, estimated: false },
  };

  test("is recorded and ended by that process only; what both have used counts", () =>
    rolledBack(async (transaction) => {
      const chat = await openChat(transaction);
      const claim = claimOf(chat);
      await claimTurn(transaction, claim);
      const key = { account_id: chat.account, turn_id: claim.turn_id };
      const load = () => transaction.call("load_turn", { turn_id: key.turn_id, run_id: "run-1" });
      expect(await load()).toMatchObject({ load: 1, steps: [] });
      expect(await load()).toMatchObject({ load: 2, steps: [] });

      const step = { ...key, index: 0, result: { by: 1 }, call_ids: ["c1"], usage: [used] };
      expect(await transaction.call("complete_model_call", { ...step, load: 1 })).toMatchObject({
        superseded: true,
      });
      const ending = {
        ...{ ...key, status: "completed", error: null, parts: TEXT, metadata: null },
        ...{ index: 0, step: {}, usage: [{ ...used, call: 1 }] },
      };
      expect(await transaction.call("finish_turn", { ...ending, load: 1 })).toMatchObject({
        ...{ superseded: true, finished: false },
      });
      expect(await load()).toMatchObject({ load: 3, steps: [] });
      const [counted] = await transaction.sql`
        select (select count(*)::int from tool_runs where turn_id = ${key.turn_id}) as tools,
          (select sum(input_tokens)::int from usage_entries where source = ${key.turn_id}) as input`;
      expect(counted).toEqual({ tools: 0, input: 6 });

      const newest = { ...step, load: 3, result: { by: 3 } };
      expect(await transaction.call("complete_model_call", newest)).toEqual({
        ...{ superseded: false, stop_requested: false, has_budget: false, known_calls: [] },
      });
      expect(await load()).toMatchObject({ load: 4, steps: [{ by: 3 }] });
      expect(await transaction.call("finish_turn", { ...ending, load: 4 })).toMatchObject({
        ...{ superseded: false, finished: true },
      });
    }));
});
