import { randomUUID } from "node:crypto";
import { HttpResponse, http } from "msw";
import { requireHeader, serveHandlers } from "./vendor-server.ts";

/** The AI Gateway's endpoint for the balance of an account, on loopback. */
export async function startFakeGateway() {
  const key = `vck_${randomUUID()}`;
  const server = await serveHandlers([
    requireHeader("authorization", `Bearer ${key}`, () =>
      HttpResponse.json({ error: { type: "authentication_error" } }, { status: 401 }),
    ),
    http.get("/v1/credits", () => HttpResponse.json({ balance: "95.50", total_used: "4.50" })),
  ]);
  return { ...server, key, creditsUrl: `${server.origin}/v1/credits` };
}
