import { openApiContract } from "@/lib/health/contract.ts";
import { route } from "@/lib/http/endpoint.ts";
import { methods } from "@/lib/http/methods.ts";
import { describeService } from "@/lib/openapi/describe-service.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(openApiContract, async () => ({ body: { ...describeService() } })),
});
