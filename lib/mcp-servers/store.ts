/**
 * MCP servers in the database (supabase/schemas/38_mcp_servers.sql). Every function takes the account, and a
 * server of another one answers exactly like a missing one. This file is long because it is the list of these queries.
 * @throws DatabaseUnavailable from every function here.
 */

import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { type McpTool, mcpToolName, toolDefinition } from "@platform/agent/tools/mcp-tool";
import {
  type AppError,
  appError,
  invalidField,
  isAppError,
} from "@platform/endpoint/contract/app-error";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { openText, sealText } from "../platform/seal-text.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import {
  MAX_MCP_SERVERS,
  type McpAuth,
  type McpHeaders,
  type McpServer,
  type McpServerChanges,
  type McpServerWithTools,
  type McpToolView,
  mcpServer,
  type NewMcpServer,
} from "./contract.ts";

const refusal = refusalOf({
  missing: appError("not_found", "MCP server not found"),
  taken: appError("conflict", "The account has an MCP server with this name"),
  full: appError(
    "quota_exceeded",
    `The account has ${MAX_MCP_SERVERS} MCP servers: delete one to make room`,
  ),
  auth_missing: invalidField("auth", "auth must be given again with another url"),
  expired: appError("not_found", "The authorization has expired: start it again"),
  differs: appError("conflict", "A tool has changed since it was read: read the server again"),
});

const storedServer = z
  .looseObject({
    auth_type: z.string(),
    header_names: z.array(z.string()),
    has_secret: z.boolean(),
    client_id: z.string().nullable(),
  })
  .transform(({ auth_type: type, header_names, has_secret, client_id, ...row }): unknown => ({
    ...row,
    auth: {
      ...{ type, header_names, client_id },
      is_connected: type !== "oauth" || has_secret,
      redirect_uri: type === "oauth" ? redirectUrl() : null,
    },
  }))
  .pipe(rowOf(mcpServer));

const storedTool = z
  .object({
    name: z.string(),
    definition: z.string(),
    sha256: z.string(),
    fault: z.string().nullable(),
    confirmed: z.string().nullable(),
    confirmed_sha256: z.string().nullable(),
  })
  .transform(({ name, definition, sha256, fault, confirmed, confirmed_sha256 }) => {
    const after = toolDefinition.parse(JSON.parse(definition));
    const isChanged = confirmed !== null && confirmed_sha256 !== sha256;
    const state: McpToolView["state"] = isChanged ? "changed" : confirmed ? "known" : "new";
    return {
      ...{ name, state, fault, sha256 },
      title: after.title,
      description: after.description,
      input_schema_bytes: Buffer.byteLength(JSON.stringify(after.input_schema)),
      read_only: after.read_only,
      change: isChanged ? { before: toolDefinition.parse(JSON.parse(confirmed)), after } : null,
    };
  });

const foundServer = z.union([
  z.object({ server: storedServer, tools: z.array(storedTool) }).transform(
    ({ server, tools }): McpServerWithTools => ({
      ...server,
      tools: tools.map((tool) => ({ ...tool, agent_name: mcpToolName(server.name, tool.name) })),
    }),
  ),
  refusal,
]);
type Found = Promise<McpServerWithTools | AppError>;

const contextOf = (id: string) => `secret of MCP server ${id}`;

/** Where an authorization leads back to. */
export const redirectUrl = () => `${serviceOrigin()}/settings/mcp-servers`;

/** Returns the columns of how a server is reached. */
const columnsOf = (id: string, auth: McpAuth) => ({
  auth_type: auth.type,
  header_names: auth.type === "headers" ? Object.keys(auth.headers) : [],
  secret: auth.type === "headers" ? sealText(JSON.stringify(auth.headers), contextOf(id)) : null,
  ...clientColumns(id, auth),
});

function clientColumns(id: string, auth: McpAuth) {
  if (auth.type !== "oauth" || auth.client_id === undefined)
    return { client_id: null, client: null };
  const { type: _, ...client } = auth;
  return { client_id: auth.client_id, client: sealText(JSON.stringify(client), contextOf(id)) };
}

/** Errors: 403 when the account has 20 servers, 409 when it has one with this name. */
export function insertServer(
  db: Database,
  accountId: string,
  id: string,
  values: NewMcpServer,
): Found {
  const { auth_type, header_names, secret, client_id, client } = columnsOf(id, values.auth);
  const args = {
    accountId,
    id,
    name: values.name,
    url: values.url,
    authType: auth_type,
    headerNames: header_names,
    secret,
    enabled: values.enabled,
    max: MAX_MCP_SERVERS,
    clientId: client_id,
    client,
  };
  return call(db, "create_mcp_server", args, foundServer);
}

export function selectServers(
  db: Database,
  accountId: string,
  page: PageRequest,
): Promise<Page<McpServer>> {
  const args = { accountId, ...pageArguments(page) };
  return call(db, "list_mcp_servers", args, pageOf(storedServer, page));
}

const ofServer = (accountId: string, id: string) => ({ accountId, id });

/** Errors: 404. */
export const selectServer = (db: Database, accountId: string, id: string): Found =>
  call(db, "get_mcp_server", ofServer(accountId, id), foundServer);

/** Errors: 400 for another URL without `auth`, 404, 409 for a name that is taken. */
export function changeServer(
  db: Database,
  accountId: string,
  id: string,
  { auth, ...values }: McpServerChanges,
): Found {
  const changes = { ...values, ...(auth && columnsOf(id, auth)) };
  return call(db, "update_mcp_server", { ...ofServer(accountId, id), changes }, foundServer);
}

/** Errors: 404. */
export async function removeServer(
  db: Database,
  accountId: string,
  id: string,
): Promise<AppError | undefined> {
  const isDeleted = await call(db, "delete_mcp_server", ofServer(accountId, id));
  return isDeleted ? undefined : appError("not_found", "MCP server not found");
}

/** How a server is reached. */
export interface McpAccess {
  readonly accountId: string;
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly authType: McpAuth["type"];
  readonly headers: McpHeaders;
  /** Null for a server without OAuth, or one that is not connected. */
  readonly oauth: OAuthState | null;
  /** The client that the account has registered, with its issuer once there is one; null for none. */
  readonly client: StoredOAuthClientInformation | null;
  /** As it is stored. */
  readonly secret: string | null;
  readonly isLegacy: boolean;
  readonly refreshedAt: Date | null;
}

/** Validated by the client of the protocol, before it was stored. */
const known = <T>() => z.custom<T>((value) => typeof value === "object" && value !== null);

const oauthState = z.object({
  client: known<StoredOAuthClientInformation>().optional(),
  tokens: known<StoredOAuthTokens>().optional(),
  discovery: known<OAuthDiscoveryState>().optional(),
  verifier: z.string().optional(),
  /** The scope that a call lacked. It is requested when the account connects the server again. */
  scope: z.string().optional(),
});
/** The protocol client's state of an authorization. */
export type OAuthState = z.output<typeof oauthState>;

const headerValues = z.record(z.string(), z.string());

const access = z
  .object({
    access: z.object({
      account_id: z.string(),
      id: z.string(),
      name: z.string(),
      url: z.string(),
      auth_type: z.enum(["none", "headers", "oauth"]),
      secret: z.string().nullable(),
      client: z.string().nullable(),
      is_legacy: z.boolean(),
      refreshed_at: z.string().nullable(),
    }),
  })
  .transform(({ access: row }): McpAccess => {
    const { id, name, url, secret } = row;
    const open = (sealed: string | null): unknown =>
      sealed === null ? null : JSON.parse(openText(sealed, contextOf(id)));
    const opened = open(secret);
    return {
      ...{ accountId: row.account_id, id, name, url },
      ...{ authType: row.auth_type, secret },
      headers: row.auth_type === "headers" ? headerValues.parse(opened) : {},
      oauth: row.auth_type === "oauth" ? oauthState.nullable().parse(opened) : null,
      client: known<StoredOAuthClientInformation>().nullable().parse(open(row.client)),
      isLegacy: row.is_legacy,
      refreshedAt: row.refreshed_at === null ? null : new Date(row.refreshed_at),
    };
  });

/** Errors: 404. */
export const selectAccess = (
  db: Database,
  accountId: string,
  id: string,
): Promise<McpAccess | AppError> =>
  call(db, "mcp_server_access", ofServer(accountId, id), z.union([access, refusal]));

/** A tool as a server has listed it. */
export interface ListedTool {
  readonly name: string;
  /** JSON of a `toolDefinition`. */
  readonly definition: string;
  readonly sha256: string;
  readonly fault: string | null;
}

/** Stores the tools of a server, or why they could not be listed. Errors: 404. */
export function storeTools(
  db: Database,
  { accountId, id, url }: McpAccess,
  listed: { readonly tools: readonly ListedTool[]; readonly isLegacy: boolean } | { error: string },
): Found {
  const args = {
    ...ofServer(accountId, id),
    url,
    tools: "error" in listed ? null : listed.tools,
    isLegacy: "error" in listed ? null : listed.isLegacy,
    error: "error" in listed ? listed.error : null,
  };
  return call(db, "store_mcp_tools", args, foundServer);
}

/** Confirms definitions of tools, all or none. Errors: 404, 409 if one is another by now. */
export const confirmTools = (
  db: Database,
  accountId: string,
  id: string,
  tools: readonly { readonly name: string; readonly sha256: string }[],
): Found => call(db, "confirm_mcp_tools", { ...ofServer(accountId, id), tools }, foundServer);

const used = z.union([
  access,
  z.object({ refused: z.enum(["missing", "changed"]) }).transform(({ refused }) => refused),
]);

/** Notes that a turn uses a tool as it was given it, and returns how its server is reached. */
export const accessForCall = (
  db: Database,
  accountId: string,
  { serverId, tool, sha256 }: McpTool,
): Promise<McpAccess | "missing" | "changed"> => {
  return call(db, "use_mcp_tool", { accountId, serverId, tool, sha256 }, used);
};

const seal = (id: string, state: OAuthState) => sealText(JSON.stringify(state), contextOf(id));

/** Keeps what completes an authorization, in place of an earlier one of the server. */
export async function insertAuthorization(
  db: Database,
  { accountId, id, url, client }: McpAccess,
  stateHash: string,
  state: OAuthState,
): Promise<void> {
  // It is for the issuer that it names by now.
  const bound =
    client && state.client ? sealText(JSON.stringify(state.client), contextOf(id)) : null;
  const args = { stateHash, url, sealed: seal(id, state), client: bound };
  await call(db, "start_mcp_authorization", { ...ofServer(accountId, id), ...args });
}

const authorization = z
  .looseObject({ access: z.looseObject({ id: z.string() }), sealed: z.string() })
  .transform(({ sealed, access: row }) => ({
    access: access.parse({ access: row }),
    stored: oauthState.parse(JSON.parse(openText(sealed, contextOf(row.id)))),
  }));

/** Takes an authorization, which counts once. Errors: 404. */
export const takeAuthorization = (db: Database, accountId: string, stateHash: string) =>
  call(db, "take_mcp_authorization", { accountId, stateHash }, z.union([authorization, refusal]));

const lease = z.union([
  access,
  z.object({ outcome: z.enum(["leased", "wait", "missing"]) }).transform(({ outcome }) => outcome),
]);

/** Lets one caller at a time refresh the tokens of a server. Returns the access if they are others by now. */
export const leaseTokens = (db: Database, { accountId, id, secret }: McpAccess) =>
  call(db, "lease_mcp_tokens", { ...ofServer(accountId, id), secret: secret ?? "" }, lease);

/**
 * Stores the tokens of a server, or that it has none any more, and returns how it is reached now.
 * @param isLeased whether they replace only the tokens that were leased
 */
export async function storeOAuth(
  db: Database,
  given: McpAccess,
  state: OAuthState,
  isLeased = false,
): Promise<McpAccess> {
  const secret = state.tokens ? seal(given.id, state) : null;
  const tokens = { secret, leased: isLeased ? given.secret : null };
  const args = { ...ofServer(given.accountId, given.id), url: given.url, ...tokens };
  const stored = await call(db, "store_mcp_tokens", args, z.union([access, refusal]));
  return isAppError(stored) ? { ...given, oauth: null } : stored;
}
