/** Adds and changes MCP servers, and lists their tools. */
import { createHash, randomUUID } from "node:crypto";
import type { Client } from "@modelcontextprotocol/client";
import { checkSchemas } from "@platform/agent/output/check-output";
import type { JsonSchema } from "@platform/agent/output/json-schema";
import { inStoredOrder, storableJson } from "@platform/agent/tools/make-storable";
import { type AppError, invalidField, isAppError } from "@platform/endpoint/contract/app-error";
import { hasTags, visibleText } from "@platform/endpoint/contract/visible-text";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { faultOfUrl } from "@platform/kit/outbound/public-address";
import type { Parts } from "../parts.ts";
import { allowsLoopback } from "../platform/config.ts";
import { describeFailure } from "./bounded-fetch.ts";
import { type Faults, withServer } from "./connection.ts";
import type { McpServerChanges, McpServerWithTools, NewMcpServer } from "./contract.ts";
import { finishAuthorization } from "./oauth.ts";
import {
  changeServer,
  insertServer,
  type ListedTool,
  type McpAccess,
  selectAccess,
  storeTools,
} from "./store.ts";

const LIST_DEADLINE_MS = 20_000;
const MAX_TOOLS = 200;
const MAX_NAME_CHARS = 128;
const MAX_DESCRIPTION_CHARS = 8_000;
/** Providers reject other names of fields. */
const FIELD_NAME = /^[\w.-]{1,64}$/;
/** Providers reject them at the root of a tool's input. */
const NOT_AT_ROOT = new Set(["$schema", "$id", "allOf", "anyOf", "enum", "not", "oneOf"]);

type Needs = Parts<"db" | "queues">;
type Found = Promise<McpServerWithTools | AppError>;

/** Errors: 400 for an address that is not public, 403, 409. */
export async function createServer(app: Needs, accountId: string, values: NewMcpServer): Found {
  const fault = faultOfUrl(new URL(values.url), allowsLoopback("mcp"));
  if (fault !== null) return invalidField("url", `url ${fault}`);
  const created = await insertServer(app.db, accountId, randomUUID(), values);
  return isAppError(created) ? created : refreshServer(app, accountId, created.id);
}

/** Errors: 400 for an address that is not public, or another one without `auth`; 404; 409. */
export async function updateServer(
  app: Needs,
  accountId: string,
  id: string,
  changes: McpServerChanges,
): Found {
  const { url, auth } = changes;
  const fault = url === undefined ? null : faultOfUrl(new URL(url), allowsLoopback("mcp"));
  if (fault !== null) return invalidField("url", `url ${fault}`);
  const changed = await changeServer(app.db, accountId, id, changes);
  const isElsewhere = url !== undefined || auth !== undefined;
  return isElsewhere && !isAppError(changed) ? refreshServer(app, accountId, id) : changed;
}

/** Lists the tools of a server and stores them, or why that failed. Errors: 404. */
export async function refreshServer(app: Needs, accountId: string, id: string): Found {
  const access = await selectAccess(app.db, accountId, id);
  if (isAppError(access)) return access;
  const deadline = AbortSignal.timeout(LIST_DEADLINE_MS);
  const listed = await withServer(app.db, access, deadline, (client, transport) =>
    listTools(app, access, client, transport, deadline),
  ).catch((error: unknown) => ({
    error: isQueueRefusal(error)
      ? "Too many checks of this account are waiting. Try again later"
      : describeFailure(error, deadline),
  }));
  return storeTools(app.db, access, listed);
}

/** Completes an authorization, and lists the tools of its server. Errors: 404, 502. */
export async function connectServer(
  app: Needs,
  accountId: string,
  returned: Parameters<typeof finishAuthorization>[2],
): Found {
  const access = await finishAuthorization(app.db, accountId, returned);
  return isAppError(access) ? access : refreshServer(app, accountId, access.id);
}

/** Lists the tools of a connected server, and checks them. */
export async function listTools(
  app: Needs,
  { accountId }: McpAccess,
  client: Client,
  { faults: odd }: Faults,
  signal: AbortSignal,
) {
  const { tools } = await client.listTools(undefined, { signal });
  if (tools.length > MAX_TOOLS) return { error: `The server has more than ${MAX_TOOLS} tools` };
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const unfit = new Map(odd);
  const known = [...byName.values()].flatMap((tool) => {
    const seen = visibleText(tool.name);
    const isFit =
      tool.name.length <= MAX_NAME_CHARS && !/\p{C}/u.test(tool.name) && seen === tool.name;
    const name = isFit ? tool.name : seen.replace(/\p{C}/gu, "").slice(0, MAX_NAME_CHARS);
    // Nothing is left by which it could be named.
    if (name === "" || (!isFit && (byName.has(name) || unfit.has(name)))) return [];
    if (!isFit) unfit.set(name, "The name is too long or has invisible characters");
    const definition = {
      title: tool.title ?? tool.annotations?.title ?? null,
      description: tool.description ?? "",
      input_schema: withoutRootKeywords(tool.inputSchema),
      read_only: tool.annotations?.readOnlyHint === true,
      ...(tool.annotations?.destructiveHint === true && { destructive: true }),
    };
    return { name, definition };
  });
  const work = { accountId, queue: app.queues.outputChecks };
  const schemas = known.map(({ definition }) => definition.input_schema);
  const faults = await checkSchemas(work, schemas);
  return {
    isLegacy: client.getProtocolEra() !== "modern",
    tools: known.map(({ name, definition }, place): ListedTool => {
      const { description, input_schema } = definition;
      const fault = faults[place] ? `The input schema ${faults[place]}` : null;
      // A server may write the fields in another order each time.
      const digest = createHash("sha256").update(JSON.stringify(inStoredOrder(definition)));
      const isLong = description.length > MAX_DESCRIPTION_CHARS;
      const hides = hasTags(name + JSON.stringify(definition));
      const isBad = fault !== null || isLong || hides || unfit.has(name);
      return {
        name,
        sha256: digest.digest("hex"),
        fault: isLong
          ? `The description is longer than ${MAX_DESCRIPTION_CHARS} characters`
          : hides
            ? "It has invisible tag characters (U+E0000 to U+E007F)"
            : (unfit.get(name) ?? fault ?? faultOfFields(input_schema)),
        // Only fields that agents receive are stored.
        definition: storableJson(
          isBad
            ? { ...definition, description: description.slice(0, 1_000), input_schema: {} }
            : definition,
        ),
      };
    }),
  };
}

const withoutRootKeywords = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !NOT_AT_ROOT.has(keyword)));

function faultOfFields({ properties, $ref }: JsonSchema): string | null {
  if ($ref !== undefined) return "The input schema is a reference";
  const named = Object.keys(properties ?? {}).find((name) => !FIELD_NAME.test(name));
  return named === undefined ? null : "The input schema has a field whose name models reject";
}
