import { openApiContract } from "@/lib/health/contract.ts";
import { endpoint } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { describeService } from "@/lib/openapi/describe-service.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(openApiContract, async () => ({ body: { ...describeService() } })),
});
