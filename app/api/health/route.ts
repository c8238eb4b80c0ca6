import { listParts } from "@/lib/health/check-parts.ts";
import { healthContract } from "@/lib/health/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(healthContract, async ({ app }) => ({
    body: { status: "ok", parts: listParts(app) },
  })),
});
