import { openApiContract } from "@/lib/health/contract.ts";
import { describeService } from "@/lib/health/describe-service.ts";
import { methods } from "@/lib/http/methods.ts";
import { route } from "@/lib/http/route.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route(openApiContract, async () => ({ body: { ...describeService() } })),
});
