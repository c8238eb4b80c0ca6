import { methods } from "@platform/endpoint/methods";
import { endpoint } from "@/lib/http/endpoint.ts";
import { mcpClientMetadataContract } from "@/lib/mcp-servers/contract.ts";
import { clientMetadataDocument } from "@/lib/mcp-servers/oauth.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: endpoint(mcpClientMetadataContract, async () => ({ body: clientMetadataDocument() })),
});
