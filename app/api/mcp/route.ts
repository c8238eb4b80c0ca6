import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { callMcpContract } from "@/lib/mcp/contract.ts";
import { serveMessage } from "@/lib/mcp/serve-message.ts";
import { describeTools } from "@/lib/openapi/describe-tools.ts";
import { callToolFor } from "./call-tool.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: endpoint(callMcpContract, ({ caller, body, request, log }) =>
    serveMessage({
      request,
      log,
      message: body,
      tools: describeTools(caller),
      call: callToolFor(request),
    }),
  ),
});
