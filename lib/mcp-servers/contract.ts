/**
 * The endpoints of MCP servers, whose tools the agents of an account can call. This file is long because they share
 * their fields.
 */

import { toolDefinition } from "@platform/agent/tools/mcp-tool";
import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { dateTime, uuid, withAnyField } from "@platform/endpoint/contract/fields";
import { pageQuery, pageResponse } from "@platform/endpoint/contract/pagination";
import { mcpServerName } from "@platform/endpoint/contract/run-options";
import { z } from "zod";

export const MAX_MCP_SERVERS = 20;
const MAX_HEADERS = 10;
const MAX_TOOLS = 200;

const shared = { tag: "MCP servers", family: "error", auth: "required" } as const;

/** The client of the protocol sets them itself, or they are of the connection. */
const RESERVED_HEADERS =
  /^(?:accept|connection|content-.*|expect|host|keep-alive|last-event-id|mcp-.*|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i;

const headers = z
  .record(
    z
      .string()
      .max(100)
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: "The name of a header is invalid" }),
    z
      .string()
      .max(4_096)
      .regex(/^[\t\x20-\x7e]*$/, { error: "The value of a header must be printable ASCII" }),
  )
  .refine((given) => Object.keys(given).length <= MAX_HEADERS, {
    error: `auth.headers must have at most ${MAX_HEADERS} headers`,
  })
  .refine((given) => !Object.keys(given).some((name) => RESERVED_HEADERS.test(name)), {
    error: "auth.headers must not have headers of the connection or of the protocol",
  });
export type McpHeaders = z.output<typeof headers>;

const clientText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[\x20-\x7e]*$/, { error: "A client's id and secret must be printable ASCII" });

const auth = z.discriminatedUnion("type", [
  z.object({ type: z.literal("none") }),
  z.object({
    type: z.literal("headers"),
    headers: headers.meta({
      description:
        "Sent with each request, such as `authorization`. They are stored encrypted and never returned.",
    }),
  }),
  z
    .object({
      type: z.literal("oauth"),
      client_id: clientText(2_048).optional().meta({
        description:
          "Of a client that the account has registered at the service with the `redirect_uri` of the answer. Needed only where a service registers no clients by itself.",
      }),
      client_secret: clientText(4_096).optional().meta({
        description:
          "Of that client. It is stored encrypted, never returned, and sent only to the issuer of the first authorization.",
      }),
      token_endpoint_auth_method: z
        .enum(["none", "client_secret_basic", "client_secret_post"])
        .optional()
        .meta({ description: "Omitted, it is what the issuer names" }),
    })
    .refine(({ client_id: id, ...more }) => id !== undefined || Object.keys(more).length === 1, {
      error: "auth.client_id is required with the other fields of a client",
    })
    .meta({
      description: "The account connects the server in the console, or with `POST …/authorize`",
    }),
]);
export type McpAuth = z.output<typeof auth>;

const url = z
  .url({ protocol: /^https?$/, error: "url must be an https URL" })
  .max(2_048)
  .meta({ description: "The https URL of its endpoint (Streamable HTTP), with a public address" });

export const mcpServer = z
  .object({
    id: uuid,
    name: z.string(),
    url: z.string(),
    auth: z.object({
      type: z.enum(["none", "headers", "oauth"]),
      header_names: z.array(z.string()).meta({ description: "Without their values" }),
      is_connected: z.boolean().meta({
        description: "False for `oauth` until a person has connected the server",
      }),
      client_id: z.string().nullable().meta({
        description: "Of the client that was registered by hand; null for none",
      }),
      redirect_uri: z.string().nullable().meta({
        description:
          "What a client that is registered by hand names as its redirect URI; null unless `type` is `oauth`",
      }),
    }),
    enabled: z.boolean(),
    tool_counts: z
      .object({ known: z.int(), changed: z.int(), new: z.int() })
      .meta({ description: "The numbers of its tools by `state`" }),
    refreshed_at: dateTime.nullable().meta({ description: "When its tools were last listed" }),
    refresh_error: z.string().nullable().meta({
      description: "Why the last list failed, in which case it keeps the tools of the one before",
    }),
    created_at: dateTime,
    updated_at: dateTime,
  })
  .meta({ id: "McpServer" });
export type McpServer = z.output<typeof mcpServer>;

const definition = toolDefinition.meta({ id: "McpToolDefinition" });

const mcpTool = z
  .object({
    name: z.string().meta({ description: "Its name at the server" }),
    agent_name: z.string().meta({ description: "The name under which agents call it" }),
    title: z.string().nullable(),
    description: z.string(),
    input_schema_bytes: z.int(),
    read_only: z.boolean().meta({
      description: "Whether the server says that the tool changes nothing",
    }),
    state: z.enum(["known", "changed", "new"]).meta({
      description:
        "`new` until its first use; `changed` when the server has changed it since then, which withholds it until it is confirmed",
    }),
    fault: z.string().nullable().meta({
      description: "Why no agent gets the tool, such as an input schema that is invalid",
    }),
    sha256: z.string().meta({ description: "Of its definition, for a confirmation" }),
    change: z
      .object({ before: definition, after: definition })
      .nullable()
      .meta({ description: "What has changed; null unless `state` is `changed`" }),
  })
  .meta({ id: "McpTool" });
export type McpToolView = z.output<typeof mcpTool>;

const withTools = mcpServer.extend({ tools: z.array(mcpTool) }).meta({ id: "McpServerWithTools" });
export type McpServerWithTools = z.output<typeof withTools>;
const one = { server: withTools };
const byId = z.object({ id: uuid.describe("The MCP server's `id`") });

export const listMcpServersContract = contract({
  ...shared,
  method: "GET",
  path: "/api/mcp-servers",
  runCredential: true,
  words: "own",
  summary: "List MCP servers, newest first",
  query: pageQuery,
  responses: pageResponse("servers", mcpServer),
  errors: [],
});

export const createMcpServerContract = contract({
  ...shared,
  method: "POST",
  path: "/api/mcp-servers",
  summary: "Add an MCP server",
  description: `Lists the server's tools at once: \`refresh_error\` says why that failed, and the server is added nevertheless. Chats, runs, agent templates and tasks name the servers that their agents can use in \`mcp_servers\`. An account has at most ${MAX_MCP_SERVERS} servers, of which each has at most ${MAX_TOOLS} tools.`,
  strictBody: true,
  body: z.object({
    name: mcpServerName.meta({ description: "Unique in the account" }),
    url,
    auth: auth.default({ type: "none" }),
    enabled: z.boolean().default(true),
  }),
  responses: {
    201: {
      description: "The server with its tools",
      schema: z.object({ status: z.literal("success"), ...one }),
    },
  },
  errors: ["quota_exceeded", "conflict"],
});
export type NewMcpServer = z.output<typeof createMcpServerContract.body>;

export const getMcpServerContract = contract({
  ...shared,
  method: "GET",
  path: "/api/mcp-servers/{id}",
  runCredential: true,
  // Its tools are described in its words.
  words: ({ body }) => {
    const { server } = z.object(one).parse(body);
    return server.tools.length > 0 ? [{ kind: "mcp", name: server.name }] : [];
  },
  summary: "Read an MCP server with its tools",
  params: byId,
  responses: successResponse("The server", one),
  errors: ["not_found"],
});

export const updateMcpServerContract = contract({
  ...shared,
  method: "PATCH",
  path: "/api/mcp-servers/{id}",
  summary: "Change an MCP server",
  description:
    "Omitted fields stay unchanged. Another `url` needs `auth` again, because headers and tokens are for one address. A change of either lists the tools.",
  params: byId,
  strictBody: true,
  body: withAnyField(
    z.object({
      name: mcpServerName.optional(),
      url: url.optional(),
      auth: auth.optional(),
      enabled: z.boolean().optional(),
    }),
  ),
  responses: successResponse("The server", one),
  errors: ["not_found", "conflict"],
});
export type McpServerChanges = z.output<typeof updateMcpServerContract.body>;

export const deleteMcpServerContract = contract({
  ...shared,
  method: "DELETE",
  path: "/api/mcp-servers/{id}",
  summary: "Delete an MCP server",
  description: "Agents that could use it continue without it.",
  params: byId,
  responses: successResponse("The server has been deleted", {}),
  errors: ["not_found"],
});

export const refreshMcpServerContract = contract({
  ...shared,
  method: "POST",
  path: "/api/mcp-servers/{id}/refresh",
  summary: "List the tools of an MCP server again",
  description: "`refresh_error` says why it failed.",
  params: byId,
  responses: successResponse("The server with its tools", one),
  errors: ["not_found"],
});

export const confirmMcpToolsContract = contract({
  ...shared,
  method: "POST",
  path: "/api/mcp-servers/{id}/confirm",
  summary: "Confirm tools of an MCP server",
  description:
    "Agents get the tools as they are now. The `sha256` of each makes sure that it is the definition that was read: if one differs, none is confirmed.",
  params: byId,
  strictBody: true,
  body: z.object({
    tools: z
      .array(z.object({ name: z.string().max(200), sha256: z.string().length(64) }))
      .min(1)
      .max(MAX_TOOLS),
  }),
  responses: successResponse("The server with its tools", one),
  errors: ["not_found", "conflict"],
});

export const authorizeMcpServerContract = contract({
  ...shared,
  method: "POST",
  path: "/api/mcp-servers/{id}/authorize",
  summary: "Start to connect an MCP server with OAuth",
  description:
    "Returns the page at which a person signs in and agrees. It leads back to the console, which completes the authorization within ten minutes.",
  params: byId,
  responses: successResponse("The URL to open", { url: z.string() }),
  errors: ["not_found", "conflict", "upstream_error"],
});

export const finishMcpAuthorizationContract = contract({
  ...shared,
  method: "POST",
  path: "/api/mcp-servers/authorizations",
  summary: "Complete the authorization of an MCP server",
  description: "Takes the parameters with which the authorization server leads back, once.",
  body: z.object({
    state: z.string().min(1).max(200),
    code: z.string().min(1).max(4_096),
    iss: z.string().max(2_048).optional().meta({
      description: "The issuer, which must be the one that was asked",
    }),
  }),
  responses: successResponse("The server with its tools", one),
  errors: ["not_found", "upstream_error"],
});

export const mcpClientMetadataContract = contract({
  ...shared,
  auth: "none",
  method: "GET",
  path: "/api/mcp-servers/client-metadata",
  runCredential: true,
  words: "own",
  summary: "Read what this service says of itself as an OAuth client",
  description: "A Client ID Metadata Document, whose URL is the client's id.",
  responses: {
    200: {
      description: "The document",
      schema: z.object({
        client_id: z.string(),
        client_name: z.string(),
        client_uri: z.string(),
        redirect_uris: z.array(z.string()),
        grant_types: z.array(z.string()),
        response_types: z.array(z.string()),
        token_endpoint_auth_method: z.string(),
      }),
    },
  },
  errors: [],
});

export const apiTags = {
  "MCP servers": "Services of others whose tools the agents of an account can call.",
};
