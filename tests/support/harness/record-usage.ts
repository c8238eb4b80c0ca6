import { expect, vi } from "vitest";
import type { Context } from "./example-recorder.ts";

/** Records the usage and the log of requests of an account that has read the steps of a run. */
export async function recordUsage({ record, caller }: Context) {
  await record("getUsage", { query: { group_by: "kind" } });
  const query = { route: "/api/chat/runs/{runId}/steps", limit: "1" };
  const expectLogged = async () => {
    const { text } = await caller.get(`/api/requests?${new URLSearchParams(query)}`);
    expect(text).toContain(query.route);
  };
  await vi.waitFor(expectLogged, { timeout: 60_000 });
  await record("listRequests", { query });
}
