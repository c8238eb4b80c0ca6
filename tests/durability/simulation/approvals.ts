/** The requests for approval of a simulation, their answers, and their invariants. */
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { answerApproval } from "../../support/harness/runs.ts";
import type { Cluster, Node } from "./cluster.ts";
import type { Model } from "./model.ts";
import type { Decision } from "./plan.ts";
import { attempt, callerAt, expectOneOf } from "./requests.ts";

/** A request may be gone with its chat. */
const mayBeGone = { state: "unsure" } as const;

const openView = z.object({ approvals: z.array(z.object({ id: z.string(), run_id: z.string() })) });

async function openApprovals(model: Model, node: Node) {
  const listed = await attempt(() => callerAt(model, node).get("/api/approvals?state=requested"));
  expectOneOf(mayBeGone, listed, [200]);
  return listed?.status === 200 ? openView.parse(listed.body).approvals : [];
}

/** How long a turn that runs is given to ask. */
const LOOKS = 25;
const LOOK_MS = 20;

/** Answers the newest request, with another answer at another server at the same time. */
export async function decide(
  model: Model,
  node: Node,
  other: Node,
  { approved, also }: Decision,
): Promise<string> {
  let open = await openApprovals(model, node);
  for (let look = 0; look < LOOKS && open.length === 0; look++) {
    if (!(await mayAsk(model))) return "nothing asks";
    await delay(LOOK_MS);
    open = await openApprovals(model, node);
  }
  const [asked] = open;
  if (!asked) return "nothing has asked";
  const answer = (at: Node, isApproved: boolean) => {
    const body = { approved: isApproved };
    return attempt(() =>
      answerApproval(callerAt(model, at), { runId: asked.run_id }, asked.id, body),
    );
  };
  const answers = await Promise.all([
    answer(node, approved),
    ...(also === "nothing" ? [] : [answer(other, (also === "same") === approved)]),
  ]);
  const told = answers.map((each) => expectOneOf(mayBeGone, each, [200, 409]));
  if (also === "opposite" && told.every((status) => status === "200")) {
    throw new Error(`The approval ${asked.id} has two answers`);
  }
  return told.join(" and ");
}

async function mayAsk({ cluster, accountId }: Model): Promise<boolean> {
  const rows = await cluster.workspace.sql`
    select from turns where account_id = ${accountId} and finished_at is null
      and options #>> '{approvals,bash}' = 'ask'`;
  return rows.length > 0;
}

/** Approves all waiting calls, so nothing has a reason to wait any longer. */
export async function approveAll(model: Model): Promise<void> {
  const node = await model.cluster.pick(0);
  for (const { id, run_id } of await openApprovals(model, node)) {
    const caller = callerAt(model, node);
    const answered = await attempt(() =>
      answerApproval(caller, { runId: run_id }, id, { approved: true }),
    );
    expectOneOf(mayBeGone, answered, [200, 409]);
  }
}

/** Runs keep their policy, except that a newly denied tool is denied. */
export async function setPolicy(model: Model, node: Node, bash: "ask" | "deny"): Promise<string> {
  const { sessionId, chatId } = model.asking.conversation;
  const path = `/api/sessions/${sessionId}/chats/${chatId}`;
  const changed = await attempt(() => callerAt(model, node).patch(path, { approvals: { bash } }));
  return expectOneOf(model.asking, changed, [200]);
}

/** Where commands ask or are denied, each that has run was approved, and has run once. */
export async function violationsInApprovals({ cluster, accountId }: Model): Promise<string[]> {
  const { sql, readSandboxFile } = cluster.workspace;
  const sessions = await sql`
    select distinct session_id from turns
    where account_id = ${accountId} and options #> '{approvals,bash}' is not null`;
  // Effects come first, because their approvals exist already.
  const effects = await Promise.all(
    sessions.map(async ({ session_id }) => {
      const text = await readSandboxFile(String(session_id), "effects");
      return { session: String(session_id), ids: text.split("\n").filter(Boolean) };
    }),
  );
  const rows = await sql`
    select t.session_id as session, array_agg(a.tool_call_id) as approved
    from turns t left join approvals a on a.turn_id = t.id and a.state = 'approved'
    where t.account_id = ${accountId} group by 1`;
  const overdue = await overdueTurns(cluster, accountId);
  return [
    ...effects.flatMap(({ session, ids }) => {
      const found = rows.find((row) => row.session === session);
      // Its chat has been deleted.
      if (!found) return [];
      return [
        ...ids.filter((id) => !found.approved.includes(id)).map((id) => `${id} was not approved`),
        ...ids.filter((id, place) => ids.indexOf(id) !== place).map((id) => `${id} has run twice`),
      ];
    }),
    ...overdue,
  ];
}

/** Waiting turns that no answer and no timer would ever wake, and open requests of ended turns. */
async function overdueTurns({ workspace }: Cluster, accountId: string): Promise<string[]> {
  const rows = await workspace.sql`
    select 'a turn has ended and waits: ' || t.id as what from turns t
    where t.account_id = ${accountId} and t.finished_at is not null
      and (exists (select from required_actions a where a.turn_id = t.id)
        or exists (select from approvals a where a.turn_id = t.id and a.state = 'requested'))
    union all
    select 'a turn waits for nothing: ' || t.id from turns t
    join required_actions a on a.turn_id = t.id
    where t.account_id = ${accountId} and a.wakes_at > now() and a.tool_calls = '[]'
      and (t.stop_requested_at is not null or not exists (
        select from approvals o where o.turn_id = t.id and o.state = 'requested'))`;
  return rows.map(({ what }) => String(what));
}
