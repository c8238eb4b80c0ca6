/** Functions over a direct connection to PostgreSQL answer exactly as through the REST server. */
import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { callDirectly } from "../../lib/platform/database/direct.ts";
import { createSession } from "../../tests/support/fixtures/sessions.ts";
import { createPerson } from "../../tests/support/harness/clients.ts";
import { admin, sql, stack } from "../../tests/support/harness/stack.ts";

// The settings are read at the first call.
for (const [name, value] of Object.entries(stack.env)) vi.stubEnv(name, value);

const person = await createPerson();
const { session, chat } = await createSession(person.withKey);

async function newTurn(): Promise<string> {
  const turnId = randomUUID();
  await sql`
    insert into turns (id, account_id, session_id, chat_id, message_id, assistant_message_id, model_id)
    values (${turnId}, ${session.accountId}, ${session.id}, ${chat.id}, 'm', 'a', 'x')`;
  return turnId;
}

type Arguments = Readonly<Record<string, unknown>>;

test.each<[what: string, name: string, args: (turnId: string) => Arguments]>([
  ["an array of texts", "start_tools", (id) => ({ p_turn_id: id, p_call_ids: ["a,b", '"c"'] })],
  [
    "JSON",
    "finish_tool",
    (id) => ({ p_turn_id: id, p_call_id: "c", p_output: [{ é: "\\ ' \n" }] }),
  ],
  ["null", "load_turn", (id) => ({ p_turn_id: id, p_run_id: null })],
  ["no argument", "installation_id", () => ({})],
  ["no value", "close_turn", (id) => ({ p_turn_id: id, p_status: "failed", p_error: null })],
  ["a malformed id", "load_turn", () => ({ p_turn_id: "no id", p_run_id: "r" })],
  ["an unknown turn", "start_tools", () => ({ p_turn_id: randomUUID(), p_call_ids: ["c"] })],
])("%s: %s", async (_what, name, args) => {
  const { data, error } = await admin.rpc(name, args(await newTurn()));
  const direct = await callDirectly(name, args(await newTurn()), "json");
  const code = (answer: { readonly code?: string } | null) => answer?.code ?? null;
  expect(direct?.data).toEqual(data);
  expect(code(direct?.error ?? null)).toBe(code(error));
});

test("as text, an answer is not parsed", async () => {
  const direct = await callDirectly("installation_id", {}, "text");
  expect(direct?.data).toBe((await admin.rpc("installation_id")).data);
});

test("what only a REST server can call is left to it", async () => {
  expect(await callDirectly("no_such_function", {}, "json")).toBeUndefined();
  expect(await callDirectly("load_turn", { p_unknown: 1 }, "json")).toBeUndefined();
});
