import { expect } from "vitest";
import { z } from "zod";
import type { Answer, Client } from "./clients.ts";

const started = z.strictObject({
  success: z.literal(true),
  data: z.strictObject({ connector: z.string(), redirectUrl: z.url() }),
});
const date = z.iso.datetime({ precision: 3 });
const listed = z.strictObject({
  success: z.literal(true),
  data: z.strictObject({
    connections: z.array(
      z.strictObject({
        id: z.string(),
        connector: z.string(),
        status: z.enum(["pending", "active", "inactive", "expired", "failed"]),
        createdAt: date,
        updatedAt: date,
      }),
    ),
  }),
});

export function redirectIn(answer: Answer): string {
  expect(answer.status, answer.text).toBe(200);
  return started.parse(answer.body).data.redirectUrl;
}

export async function authorize(caller: Client, body: object): Promise<string> {
  return redirectIn(await caller.post("/api/connectors", body));
}

export function connectionsIn(answer: Answer) {
  expect(answer.status, answer.text).toBe(200);
  return listed.parse(answer.body).data.connections;
}

/** Returns the states, such as `gmail active`, newest first. */
export async function statesOf(caller: Client, accountId?: string): Promise<string[]> {
  const query = accountId === undefined ? "" : `?account_id=${accountId}`;
  const answer = await caller.get(`/api/connectors${query}`);
  return connectionsIn(answer).map(({ connector, status }) => `${connector} ${status}`);
}
