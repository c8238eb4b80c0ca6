/** Headless runs over HTTP. */

import { expect } from "vitest";
import { z } from "zod";
import { type Run, run } from "../../../lib/running-turn/run.ts";
import type { Answer, Client } from "./clients.ts";
import { Conversation } from "./conversation.ts";

const started = z.strictObject({ runId: z.string(), chatId: z.uuid(), sessionId: z.uuid() });
export type Started = z.output<typeof started>;

export function startedOf(answer: Answer): Started {
  expect(answer.status, answer.text).toBe(202);
  return started.parse(answer.body);
}

export const startRun = async (caller: Client, body: unknown): Promise<Started> =>
  startedOf(await caller.post("/api/chat/runs", body));

export async function readRun(caller: Client, { runId }: Started): Promise<Run> {
  const answer = await caller.get(`/api/chat/runs/${runId}`);
  expect(answer.status, answer.text).toBe(200);
  const found = z.strictObject(run.shape).parse(answer.body);
  const waits = found.status === "requires_action";
  const ended = !["queued", "running", "requires_action"].includes(found.status);
  expect(answer.headers.has("retry-after")).toBe(!ended && !waits);
  expect(found.finishedAt !== null).toBe(ended);
  expect(found.required_action !== null).toBe(waits);
  return found;
}

/** Waits until a run has ended, and returns it. */
export async function waitForRun(caller: Client, run: Started): Promise<Run> {
  await expect.poll(async () => (await readRun(caller, run)).finishedAt).not.toBeNull();
  return readRun(caller, run);
}

/** Waits until a run waits for its client, and returns the calls that are to be answered. */
export async function waitForCalls(caller: Client, run: Started) {
  await expect.poll(async () => (await readRun(caller, run)).status).toBe("requires_action");
  return (await readRun(caller, run)).required_action?.tool_calls ?? [];
}

export const sendResults = (caller: Client, { runId }: Started, results: unknown) =>
  caller.post(`/api/chat/runs/${runId}/tool_results`, { results });

/** Waits until a run waits for approvals, and returns the requests. */
export async function waitForApprovals(caller: Client, run: Started) {
  await expect.poll(async () => (await readRun(caller, run)).status).toBe("requires_action");
  return (await readRun(caller, run)).required_action?.approvals ?? [];
}

export const answerApproval = (
  caller: Client,
  { runId }: Pick<Started, "runId">,
  id: string | undefined,
  body: object,
) => caller.post(`/api/chat/runs/${runId}/approvals/${id}`, body);

export const conversationOf = (caller: Client, { sessionId, chatId }: Started): Conversation =>
  new Conversation(caller, sessionId, chatId);
