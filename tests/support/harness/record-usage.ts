import { expect, vi } from "vitest";
import type { Context } from "./example-recorder.ts";

/** Records the usage and the log of requests of an account that has read the steps of a run, and a run with limits. */
export async function recordUsage({ record, caller }: Context) {
  await record("getUsage", { query: { group_by: "kind" } });
  const query = { route: "/api/chat/runs/{runId}/steps", limit: "1" };
  const expectLogged = async () => {
    const { text } = await caller.get(`/api/requests?${new URLSearchParams(query)}`);
    expect(text).toContain(query.route);
  };
  await vi.waitFor(expectLogged, { timeout: 60_000 });
  await record("listRequests", { query });
  const limits = { max_cost_usd: 0.5, max_steps: 20, max_duration_s: 600 };
  await record("startRun", { body: { prompt: "Hello", limits } }, { name: "with limits" });
}
