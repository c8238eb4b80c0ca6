/** The parts of Composio's responses that are read, in the port's types. */

import type { Refusal } from "@platform/kit/outbound/fetch-json";
import { z } from "zod";
import { timestamp } from "../../../platform/database/columns.ts";
import type { Connection, ConnectorAction, ConnectorEvent } from "../../contract.ts";
import type { ConnectorFault } from "../../port.ts";

/** Bounds a service's error message. */
export const MAX_ERROR_CHARS = 2_000;
const MAX_CONFIG_ERROR_CHARS = 300;

export const createdSession = z.object({ session_id: z.string().min(1) });
export const createdLink = z.object({
  redirect_url: z.url({ protocol: /^https?$/ }),
  connected_account_id: z.string().min(1),
});
export const page = z.object({ items: z.array(z.unknown()), next_cursor: z.string().nullish() });
/** Composio has announced to leave it out: "you will only be able to read via userId not get it back". */
const userId = z.string().nullish();
export const connectedAccount = z.object({
  id: z.string(),
  user_id: userId,
  status: z.string(),
  toolkit: z.object({ slug: z.string().toLowerCase() }),
  created_at: timestamp,
  updated_at: timestamp,
});
export const tool = z.object({
  slug: z.string(),
  description: z.string().catch(""),
  input_parameters: z.record(z.string(), z.unknown()).catch({}),
  tags: z.array(z.string()).catch([]),
  toolkit: z.object({ slug: z.string().toLowerCase() }),
});
export const triggerType = z.object({
  slug: z.string(),
  name: z.string().catch(""),
  description: z.string().catch(""),
  config: z.record(z.string(), z.unknown()).catch({}),
  toolkit: z.object({ slug: z.string().toLowerCase() }),
});
export const accountIn = (item: unknown) => connectedAccount.safeParse(item).data ?? [];
export const triggerIn = (item: unknown) => triggerInstance.safeParse(item).data ?? [];

/** Returns a filter for the account's own items: no filter of a request is trusted with the tenant. */
export const ownedBy =
  (accountId: string, recorded: readonly string[]) =>
  ({ id, user_id }: { readonly id: string; readonly user_id?: string | null | undefined }) =>
    user_id ? user_id === accountId : recorded.includes(id);

export const upserted = z.object({ trigger_id: z.string().min(1) });
export const triggerInstance = z.object({
  id: z.string().min(1),
  user_id: userId,
  connected_account_id: z.string(),
});
export const executed = z.object({
  successful: z.boolean(),
  data: z.unknown(),
  error: z.string().nullish(),
});
const refusal = z.object({ error: z.object({ slug: z.string() }) });
const explained = z.object({ error: z.object({ message: z.string() }) });

const statusOf: Readonly<Record<string, Connection["status"]>> = {
  INITIALIZING: "pending",
  INITIATED: "pending",
  ACTIVE: "active",
  EXPIRED: "expired",
  FAILED: "failed",
};

export const fault = (kind: ConnectorFault["kind"], cause: string): ConnectorFault => ({
  kind,
  cause,
});

export const isMissing = ({ kind, status }: ConnectorFault): boolean =>
  kind === "unavailable" && (status === 404 || status === 410);

/** An error slug that names the toolkit means that the provider does not know it or cannot link it. */
export function faultOf(path: string, { status, retryAfter, body }: Refusal): ConnectorFault {
  const cause = `${path} answered ${status}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them is shown
  const words = explained.safeParse(body).data?.error.message.replace(/[\0-\x1f\x7f]+/g, " ");
  const isOfInput = [400, 404, 422].includes(status) && words !== undefined;
  if (isOfInput && status !== 404 && path.endsWith("/upsert")) {
    return { kind: "refused_config", cause, message: words.slice(0, MAX_CONFIG_ERROR_CHARS) };
  }
  if (isOfInput && path.startsWith("/tools/execute/")) {
    return { kind: "unavailable", cause, status, message: words.slice(0, MAX_ERROR_CHARS) };
  }
  const slug = refusal.safeParse(body).data?.error.slug ?? "";
  const isUnknown =
    (status === 404 && path.endsWith("/link")) ||
    (status >= 400 && status < 500 && /toolkit/i.test(slug));
  return isUnknown
    ? { kind: "unknown", cause }
    : { kind: "unavailable", cause, retryAfter, status };
}

export const describeTool = (data: z.output<typeof tool>): ConnectorAction => ({
  name: data.slug,
  description: data.description,
  inputSchema: data.input_parameters,
});

/** Each tool should have one of the hints that docs.composio.dev/docs/tool-tags describes. */
export const isDestructive = ({ tags }: z.output<typeof tool>): boolean =>
  tags.includes("destructiveHint") ||
  !["readOnlyHint", "createHint", "updateHint"].some((hint) => tags.includes(hint));

export const describeTriggerType = (data: z.output<typeof triggerType>): ConnectorEvent => ({
  name: data.slug,
  title: data.name || data.slug,
  description: data.description,
  configSchema: data.config,
});

export const describeConnection = (data: z.output<typeof connectedAccount>): Connection => ({
  id: data.id,
  connector: data.toolkit.slug,
  // INACTIVE, REVOKED and future statuses: the connection exists but cannot be used.
  status: statusOf[data.status] ?? "inactive",
  createdAt: data.created_at,
  updatedAt: data.updated_at,
});
