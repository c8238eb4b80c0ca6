/** The endpoint of the Model Context Protocol. */

import { contract } from "@platform/endpoint/contract/contract";
import { describeIssue } from "@platform/endpoint/contract/describe-issue";
import { z } from "zod";

const MAX_BATCH = 50;

const message = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z
    .union([z.string().max(256), z.int()])
    .optional()
    .meta({ description: "Absent for a notification" }),
  method: z.string().min(1).max(100).meta({ description: "`tools/list`, `tools/call`, …" }),
  params: z.looseObject({}).optional(),
});
export type McpMessage = z.output<typeof message>;

const batch = z
  .array(message)
  .min(1, { error: "Request body must be a JSON object" })
  .max(MAX_BATCH);

/** Describes the first fault of the kind of body that was sent; a union would not. */
function describeFault({ input }: { readonly input?: unknown }): string | undefined {
  const isBatch = Array.isArray(input) && input.length > 0;
  const result = (isBatch ? batch : message).safeParse(input, { error: describeIssue });
  const [issue] = result.error?.issues ?? [];
  // An item that is not an object, or too many of them.
  return isBatch && issue && issue.path.length < 2
    ? "Request body must be a JSON object"
    : issue?.message;
}

export const callMcpContract = contract({
  method: "POST",
  path: "/api/mcp",
  runCredential: true,
  words: "own",
  summary: "Send a message to the MCP server",
  description:
    "The API as a server of the Model Context Protocol: streamable HTTP without sessions, one message " +
    `to a request, or up to ${MAX_BATCH} of revision 2025-03-26. Every endpoint that says so is a tool, ` +
    "under its operation id: its arguments are the " +
    "endpoint's parameters and the fields of its body, and a call is checked, limited and answered as a " +
    "request of that endpoint with the same credential, so that it counts as a request of its own.",
  tag: "MCP",
  family: "rpc",
  auth: "required",
  bodyLimit: 4 * 1024 * 1024,
  headers: z.object({
    "mcp-protocol-version": z.string().optional().meta({
      description: "The protocol's revision; without it the one before there was this header",
    }),
  }),
  body: z.union([message, batch], { error: describeFault }),
  responses: {
    200: { description: "A stream whose last event has the result, or an error", stream: true },
    202: { description: "The notification was accepted" },
  },
  errors: ["not_found"],
});

export const apiTags = { MCP: "The API as a server of the Model Context Protocol." };
