/** The cost of `route` itself for a request, without the database: in this process, against a bare handler. */

import { contract } from "@platform/endpoint/contract/contract";
import { setProcessWide } from "@platform/kit/process-wide";
import { z } from "zod";
import { endpoint } from "../lib/http/endpoint.ts";
import { type Bench, report, timed } from "./context.ts";

const REQUESTS = 5_000;

const echo = contract({
  method: "POST",
  path: "/api/echo",
  summary: "Echo",
  tag: "Bench",
  family: "error",
  auth: "none",
  body: z.object({ title: z.string().min(3).max(50), tags: z.array(z.string()) }),
  responses: { 200: { description: "Echo", schema: z.object({ title: z.string() }) } },
  errors: [],
});

export const benchWrapper: Bench = async () => {
  // An endpoint without a caller and without a use case needs no part of the App.
  setProcessWide("app", {});
  const wrapped = endpoint(echo, async ({ body }) => ({ body: { title: body.title } }));
  const bare = async (request: Request) => {
    const body: { title: string } = await request.json();
    return Response.json({ title: body.title });
  };
  const context = { params: Promise.resolve({}) };
  const [ours = 0, theirs = 0] = await inTurns(
    (request) => wrapped(request, context),
    (request) => bare(request),
  );
  report("a request through the wrapper, without the network", "ms", ours, theirs);
};

async function inTurns(
  ...handlers: readonly ((request: Request) => Promise<Response>)[]
): Promise<number[]> {
  const totals = handlers.map(() => 0);
  for (let n = -1_000; n < REQUESTS; n++) {
    for (const [place, handler] of handlers.entries()) {
      const request = new Request("http://localhost/api/echo", {
        method: "POST",
        body: JSON.stringify({ title: "A title", tags: ["a", "b"] }),
      });
      const took = await timed(async () => (await handler(request)).text());
      if (n >= 0) totals[place] = (totals[place] ?? 0) + took;
    }
  }
  return totals.map((total) => total / REQUESTS);
}
