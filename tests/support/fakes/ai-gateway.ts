import { randomUUID } from "node:crypto";
import type { GatewayModelEntry } from "@ai-sdk/gateway";
import { HttpResponse, http } from "msw";
import { requireHeader, serveHandlers } from "./vendor-server.ts";

const listed = (
  id: string,
  name: string,
  pricing: GatewayModelEntry["pricing"] = null,
): GatewayModelEntry => ({
  ...{ id, name, pricing, modelType: "language" },
  specification: { specificationVersion: "v4", provider: "label", modelId: id },
});

/** The AI Gateway's lists of models and its endpoint for the balance of an account, on loopback. */
export async function startFakeGateway(more: readonly string[] = []) {
  const key = `vck_${randomUUID()}`;
  const server = await serveHandlers([
    requireHeader("authorization", `Bearer ${key}`, () =>
      HttpResponse.json({ error: { type: "authentication_error" } }, { status: 401 }),
    ),
    http.get("/v1/credits", () => HttpResponse.json({ balance: "95.50", total_used: "4.50" })),
    http.get("/v4/ai/config", () =>
      HttpResponse.json({
        models: [
          listed("label/large", "Large", { input: "0.000003", output: "0.000015" }),
          listed("label/small", "Small"),
          ...more.map((id) => listed(id, id)),
        ],
      }),
    ),
    http.get("/v1/models", () =>
      HttpResponse.json({
        data: [{ id: "label/large", context_window: 200_000, tags: ["file-input", "vision"] }],
      }),
    ),
  ]);
  return { ...server, key };
}
