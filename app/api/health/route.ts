import { methods } from "@platform/endpoint/methods";
import { listParts } from "@/lib/health/check-parts.ts";
import { healthContract } from "@/lib/health/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(healthContract, async ({ app }) => ({
    body: { status: "ok", parts: listParts(app) },
  })),
});
