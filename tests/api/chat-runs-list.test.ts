import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { paths } from "../generated/api.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import { type Client, createPerson, type Person } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

type Query = paths["/api/chat/runs"]["get"]["parameters"]["query"];

async function readPage(caller: Client, query: Query = {}) {
  const asked = await caller.api.GET("/api/chat/runs", { params: { query } });
  if (!asked.data) throw new Error(JSON.stringify(asked.error));
  return { ...asked.data, link: asked.response.headers.get("link") };
}

/** Stores ended runs a second apart, the last of them newest. */
async function storeRuns(
  person: Person,
  runs: readonly { readonly status?: string; readonly kind?: string; readonly artist?: string }[],
): Promise<{ chatId: string; runIds: string[] }> {
  const { session, chat } = await createSession(person.withKey);
  const runIds: string[] = [];
  for (const [place, { status = "completed", kind = "chat", artist }] of runs.entries()) {
    const runId = `wrun_${randomUUID()}`;
    runIds.push(runId);
    await sql`insert into turns (id, account_id, session_id, chat_id, run_id, status, kind, artist_id,
        message_id, assistant_message_id, model_id, created_at, finished_at)
      values (${randomUUID()}, ${person.id}, ${session.id}, ${chat.id}, ${runId}, ${status}, ${kind},
        ${artist ?? null}, 'm', 'a', 'x', now() - make_interval(secs => ${runs.length - place}), now())`;
  }
  return { chatId: chat.id, runIds };
}

const idsOf = ({ runs }: { runs: readonly { runId: string }[] }) => runs.map(({ runId }) => runId);

describe("GET /api/chat/runs 200", () => {
  test("a headless run and a chat's turn, with their usage", async () => {
    const person = await createPerson();
    expect(await readPage(person.withKey)).toMatchObject({ runs: [], next_cursor: null });
    const started = await startRun(person.withKey, { prompt: "run: echo hi" });
    const whole = await waitForRun(person.withKey, started);
    const { output: _, verdicts: __, required_action: ___, skills: ____, ...rest } = whole;
    const { delivery: _____, delivery_reason: ______, ...ended } = rest;
    const conversation = await openConversation(person.withKey);
    const stream = await conversation.send("hello");
    await stream.ended;
    const { runs, status } = await readPage(person.withKey);
    expect(status).toBe("success");
    const [turn, headless] = runs;
    expect(headless).toEqual({
      ...ended,
      kind: "headless",
      title: "run: echo hi",
      artist_id: null,
      model_id: expect.any(String),
      usage: expect.any(Object),
      cost_usd: 0,
      unpriced_calls: 0,
      duration_ms: Date.parse(ended.finishedAt ?? "") - Date.parse(ended.createdAt),
    });
    const { input_tokens, output_tokens, total_tokens } = headless?.usage ?? {};
    expect(input_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe((input_tokens ?? 0) + (output_tokens ?? 0));
    expect(turn).toMatchObject({ runId: stream.runId, kind: "chat", status: "completed" });
  });

  test("pages hold every run once, and the link repeats the filters", async () => {
    const person = await createPerson();
    const { runIds } = await storeRuns(person, [{}, {}, {}, { status: "failed" }, {}]);
    const wanted = runIds.filter((_, place) => place !== 3).reverse();
    const first = await readPage(person.withKey, { status: "completed", limit: 3 });
    expect(idsOf(first)).toEqual(wanted.slice(0, 3));
    const link = /^<(\/api\/chat\/runs\?[^>]+)>; rel="next"$/.exec(first.link ?? "")?.[1] ?? "";
    const second = await person.withKey.get(link);
    expect(second.body).toMatchObject({ runs: [{ runId: wanted[3] }], next_cursor: null });
  });

  test("each filter leaves out the others", async () => {
    const person = await createPerson();
    const artist = randomUUID();
    const { runIds, chatId } = await storeRuns(person, [{ kind: "task" }, { artist }, {}]);
    const other = await storeRuns(person, [{ status: "cancelled", kind: "headless" }]);
    const found = async (query: Query) => idsOf(await readPage(person.withKey, query));
    expect(await found({ kind: "task" })).toEqual([runIds[0]]);
    expect(await found({ artist_id: artist })).toEqual([runIds[1]]);
    expect(await found({ status: "cancelled" })).toEqual(other.runIds);
    expect(await found({ chat_id: chatId })).toEqual(runIds.toReversed());
    expect(await found({ kind: "headless", status: "completed" })).toEqual([]);
    const [middle] = await sql`select created_at from turns where run_id = ${runIds[1] ?? ""}`;
    const since = new Date(middle?.created_at).toISOString();
    expect(await found({ chat_id: chatId, since })).toEqual([runIds[2], runIds[1]]);
  });
});
