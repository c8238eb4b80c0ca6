import { methods } from "@platform/endpoint/methods";
import { openApiContract } from "@/lib/health/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { documentResponse } from "@/lib/openapi/document.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(openApiContract, async ({ request }) => documentResponse(request.headers)),
});
