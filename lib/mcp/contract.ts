/** The endpoint of the Model Context Protocol. */
import { z } from "zod";
import { contract } from "../contract/contract.ts";

export const callMcpContract = contract({
  method: "POST",
  path: "/api/mcp",
  runCredential: true,
  words: "own",
  summary: "Send a message to the MCP server",
  description:
    "The API as a server of the Model Context Protocol: streamable HTTP without sessions, one message " +
    "to a request. Every endpoint that says so is a tool, under its operation id: its arguments are the " +
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
  body: z.looseObject({
    jsonrpc: z.literal("2.0"),
    id: z
      .union([z.string().max(256), z.int()])
      .optional()
      .meta({ description: "Absent for a notification" }),
    method: z.string().min(1).max(100).meta({ description: "`tools/list`, `tools/call`, …" }),
    params: z.looseObject({}).optional(),
  }),
  responses: {
    200: { description: "A stream whose last event has the result, or an error", stream: true },
    202: { description: "The notification was accepted" },
  },
  errors: ["not_found"],
});
