import { methods } from "@platform/endpoint/methods";
import { checkParts } from "@/lib/health/check-parts.ts";
import { readyContract } from "@/lib/health/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(readyContract, async ({ app }) => {
    const parts = await checkParts(app);
    if (parts.every((part) => part.ready)) return { body: { status: "ready", parts } };
    return { status: 503, body: { status: "unavailable", parts } };
  }),
});
