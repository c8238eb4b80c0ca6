/** Composio's responses, typed by its client. */
import { randomUUID } from "node:crypto";
import type { ConnectedAccountListResponse } from "@composio/client/resources/connected-accounts";
import type { ToolListResponse } from "@composio/client/resources/tools";
import type { TriggerInstanceListActiveResponse } from "@composio/client/resources/trigger-instances";
import type { TriggersTypeListResponse } from "@composio/client/resources/triggers-types";

const PAGE_SIZE = 2;
const LOGO = "https://logos.example.com/logo.png";
const version = "20261101_00";
export const toolsOf = (toolkit: string): ToolListResponse["items"] =>
  ["SEND", "FAIL"].map((verb) => ({
    slug: `${toolkit.toUpperCase()}_${verb}`,
    name: verb,
    description: `${verb} something by ${toolkit}`,
    toolkit: { slug: toolkit, name: toolkit, logo: LOGO },
    tags: verb === "SEND" ? ["createHint"] : ["destructiveHint"],
    input_parameters: { type: "object", properties: { text: { type: "string" } } },
    output_parameters: { type: "object" },
    ...{ version, available_versions: [version], is_deprecated: false },
    ...{ no_auth: false, scopes: [], scope_requirements: null },
    deprecated: {
      ...{ displayName: verb, version, available_versions: [version], is_deprecated: false },
      toolkit: { logo: LOGO },
    },
  }));
/** A project has the types of all its toolkits, from which an adapter must select its own. */
export const typesOf = (toolkit: string): TriggersTypeListResponse["items"] =>
  ["NEW_MESSAGE", "DELETED"].map((verb) => ({
    slug: `${toolkit.toUpperCase()}_${verb}`,
    name: verb,
    description: `${verb} at ${toolkit}`,
    instructions: "",
    type: "webhook",
    toolkit: { slug: toolkit, name: toolkit, logo: LOGO },
    config: { type: "object", properties: { label: { type: "string" } } },
    payload: { type: "object" },
    version,
  }));
export interface Instance {
  readonly id: string;
  readonly user_id: string;
  readonly connected_account_id: string;
  readonly trigger_name: string;
  readonly trigger_config: Readonly<Record<string, unknown>>;
}

/** Short pages by default, because an adapter that reads only the first one must fail its tests. */
export function pageOf<T>(all: readonly T[], cursor = "0", limit: unknown = PAGE_SIZE) {
  const [start, size] = [Number(cursor), Number(limit)];
  const end = start + size;
  return {
    items: all.slice(start, end),
    next_cursor: end < all.length ? String(end) : null,
    total_pages: Math.ceil(all.length / size),
    current_page: start / size + 1,
    total_items: all.length,
  };
}

export function describeInstance(
  one: Instance,
): TriggerInstanceListActiveResponse["items"][number] {
  const { id, user_id, connected_account_id, trigger_name, trigger_config } = one;
  const updated_at = new Date().toISOString();
  return {
    ...{ id, user_id, connected_account_id, trigger_name, trigger_config, version, updated_at },
    ...{ connected_account_uuid: randomUUID(), disabled_at: null, state: {} },
    // Their former names are still sent.
    ...{ connectedAccountId: connected_account_id, triggerName: trigger_name, disabledAt: null },
    ...{ triggerConfig: trigger_config, updatedAt: updated_at },
  };
}

/** Returns a connection as the list shows it, with the credentials that it carries. */
export function composioItem(
  userId: string,
  toolkit: string,
  status: ConnectedAccountListResponse.Item["status"],
) {
  const at = new Date().toISOString();
  const auth = { auth_scheme: "OAUTH2", is_composio_managed: true, is_disabled: false } as const;
  return {
    id: `ca_${randomUUID()}`,
    ...{ word_id: null, alias: null },
    user_id: userId,
    status,
    ...{ status_reason: null, is_disabled: false },
    toolkit: { slug: toolkit },
    auth_config: { id: "ac_1", ...auth },
    created_at: at,
    updated_at: at,
    state: { authScheme: "OAUTH2", val: { status: "ACTIVE", access_token: "ya29.secret" } },
    data: {},
  } satisfies ConnectedAccountListResponse.Item;
}
