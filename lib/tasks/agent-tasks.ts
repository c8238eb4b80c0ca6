/** The tasks that the agent creates and lists with its tools `schedule` and `list_schedules`. */

import { scheduleInput } from "@platform/agent/tools/schedule";
import { toolFailure } from "@platform/agent/tools/tool";
import { isAppError } from "@platform/endpoint/contract/app-error";
import type { EffectLine } from "@platform/endpoint/contract/approvals";
import { describeIssue } from "@platform/endpoint/contract/describe-issue";
import { narrowHosts } from "@platform/kit/outbound/network-policy";
import type { JSONValue } from "ai";
import { lineOf } from "../approvals/effect-lines.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import type { TurnState } from "../running-turn/state.ts";
import { createTask } from "./change-task.ts";
import { createTaskContract, type NewTask } from "./contract.ts";
import { endOfDay, nextRuns } from "./next-run.ts";
import { selectTasks } from "./store.ts";
import type { Task } from "./task.ts";

const MAX_LISTED = 50;
const SHOWN_TIMES = 3;
/** The whole prompt is shown, also one of which each character is written out. */
const MAX_SHOWN_PROMPT = 200_000;

type Turn = Pick<TurnState, "artist_id" | "options">;

/** Returns the task that a call asks for, and the lines in which a person reads it; or why there is none. */
export function planTask(
  input: unknown,
  turn: Turn,
): { readonly task: NewTask; readonly effect: readonly EffectLine[] } | { readonly error: string } {
  const given = scheduleInput.safeParse(input, { error: describeIssue });
  if (!given.success) return toolFailure(given.error.issues[0]?.message ?? "Invalid input");
  const { title, prompt, cron, timezone, deliver: to, until } = given.data;
  if (!/^\d{1,2}\s/.test(cron.trim())) {
    return toolFailure(
      "cron: a task runs at most once an hour, so its minute must be one number, such as 0 9 * * MON",
    );
  }
  const body = createTaskContract.body.safeParse(
    {
      ...{ title, prompt, schedule: cron, timezone, ...optionsOf(turn) },
      ...(turn.artist_id !== null && { artist_id: turn.artist_id }),
      ...(to && { deliver: [{ kind: "email", to }] }),
    },
    { error: describeIssue },
  );
  if (!body.success) return toolFailure(body.error.issues[0]?.message ?? "Invalid input");
  const end = until === undefined ? undefined : endOfDay(until, timezone);
  if (end === null) return toolFailure("until must not be in the past");
  const times = nextRuns(cron, timezone, SHOWN_TIMES).filter((time) => !end || time <= end);
  if (times.length === 0) return toolFailure("cron: the schedule has no time before its end");
  const shown = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone: timezone, dateStyle: "full", timeStyle: "short" },
  });
  const effect = [
    ...lineOf("Title", title),
    ...lineOf("Prompt", prompt, false, MAX_SHOWN_PROMPT),
    ...lineOf("Schedule", `${cron} (${timezone})`),
    { label: "Next times", value: times.map((time) => shown.format(time)).join("; ") },
    ...(to ? lineOf("Mail to", to.join(", "), true) : []),
    ...(until === undefined ? [] : lineOf("Until", until)),
  ];
  const task = { ...body.data, ...(end && { ends_at: end.toISOString() }) };
  return { task, effect };
}

/** The task works as the turn does, and no policy of the turn is looser for it. */
function optionsOf({ options }: Turn) {
  const { network_policies: policies = [], network: _, outcome, scheduling, ...kept } = options;
  const [first] = policies;
  const hosts = narrowHosts(first?.hosts ?? [], policies);
  const network = hosts.length > 0 ? { mode: "allowlist", hosts } : { mode: "none" };
  return { ...kept, ...(first && { network }) };
}

/**
 * Creates a task of the account of a turn, once for each id. Resolves with the task or `{error}`.
 * @throws DatabaseUnavailable
 */
export async function scheduleTask(
  app: Parts<"db" | "models" | "queues">,
  turn: Turn & Pick<TurnState, "account_id">,
  id: string,
  input: unknown,
): Promise<JSONValue> {
  const plan = planTask(input, turn);
  if ("error" in plan) return plan;
  const created = await createTask(app, turn.account_id, id, plan.task);
  return isAppError(created) ? toolFailure(created.message) : shortTask(created);
}

/** Resolves with the newest tasks of an account. @throws DatabaseUnavailable */
export async function listTasks(db: Database, accountId: string): Promise<JSONValue> {
  const { items } = await selectTasks(db, accountId, { limit: MAX_LISTED });
  return { schedules: items.map(shortTask) };
}

const shortTask = ({ id, title, schedule, timezone, enabled, next_run_at }: Task) => ({
  ...{ id, title, cron: schedule, timezone, enabled, next_run_at },
});
