/**
 * Connections that Composio manages, over its HTTP API (v3.1). The account id is its `user_id`. Composio may ignore or refuse
 * that filter of its lists one day, and leave the field out. The connections of each account are recorded, too.
 */

import { z } from "zod";
import type { Database } from "../../../platform/database/port.ts";
import type { Connection } from "../../contract.ts";
import type { ConnectorProvider } from "../../port.ts";
import {
  forgetConnections,
  recordedConnections,
  recordLink,
  refusedConnections,
} from "../../store.ts";
import {
  accountIn,
  createdLink,
  createdSession,
  describeConnection,
  describeTool,
  describeTriggerType,
  executed,
  fault,
  isDestructive,
  isMissing,
  MAX_ERROR_CHARS,
  ownedBy,
  page,
  tool,
  triggerIn,
  type triggerInstance,
  triggerType,
  upserted,
} from "./answers.ts";
import { ComposioApi } from "./api.ts";

const PAGE_SIZE = 100;
/** The largest page of triggers and of their types. */
const MAX_TRIGGER_PAGE = 50;
/** A link can be used for minutes. Until then Composio may not find its connection yet. */
const MAX_LINK_SECONDS = 24 * 60 * 60;

type RequestOf<M extends Exclude<keyof ConnectorProvider, "name" | "receivesEvents" | "check">> =
  Parameters<ConnectorProvider[M]>[0];

export class ComposioConnectors implements ConnectorProvider {
  readonly name = "composio";
  readonly receivesEvents: boolean;
  readonly #db: Database;
  readonly #api: ComposioApi;
  readonly #timeoutMs: number;

  /**
   * @param options.receivesEvents whether the secret is known with which events are signed
   * @param options.timeoutMs the deadline of one call of the port, including all its requests
   */
  constructor(options: {
    readonly db: Database;
    readonly apiKey: string;
    readonly baseUrl: string;
    readonly receivesEvents: boolean;
    readonly timeoutMs: number;
  }) {
    this.#db = options.db;

    this.receivesEvents = options.receivesEvents;
    this.#api = new ComposioApi(options);
    this.#timeoutMs = options.timeoutMs;
  }

  async authorize({ accountId, starter, connector, callbackUrl }: RequestOf<"authorize">) {
    const deadline = this.#deadline();
    const made = await this.#api.ask(createdSession, "/tool_router/session", deadline, {
      user_id: accountId,
      toolkits: { enable: [connector] },
      // The session is used only to create the link.
      manage_connections: { enable: false },
    });
    if (made.kind !== "answer") return made;
    const id = encodeURIComponent(made.value.session_id);
    const started = await this.#api.ask(createdLink, `/tool_router/session/${id}/link`, deadline, {
      toolkit: connector,
      callback_url: callbackUrl,
    });
    if (started.kind !== "answer") return started;
    // Recorded before the link is returned.
    await recordLink(this.#db, accountId, started.value.connected_account_id, starter);
    return { kind: "started", url: started.value.redirect_url } as const;
  }

  async list(accountId: string) {
    const deadline = this.#deadline();
    const recorded = await recordedConnections(this.#db, accountId);
    const query = { user_ids: accountId, limit: String(PAGE_SIZE) };
    const listed = await this.#api.readPages("/connected_accounts", query, deadline);
    if (!Array.isArray(listed)) return listed;
    const found = listed.flatMap(accountIn);
    const missing = recorded.filter((id) => !found.some((one) => one.id === id));
    const named = await this.#readNamed(accountId, missing, deadline);
    if (!Array.isArray(named)) return named;
    const own = [...found, ...named].filter(ownedBy(accountId, recorded));
    const connections = own.map(describeConnection);
    const decided = connections.filter(({ status }) => status !== "pending");
    const active = decided.filter(({ status }) => status === "active");
    const refused =
      decided.length === 0 ? [] : await refusedConnections(this.#db, accountId, active, decided);
    const usable = connections.map(
      (one): Connection => (refused.includes(one.id) ? { ...one, status: "inactive" } : one),
    );
    usable.sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
    return { kind: "listed", connections: usable } as const;
  }

  /** Returns recorded connections by their ids, and deletes the ones that Composio has deleted. */
  async #readNamed(accountId: string, ids: readonly string[], deadline: AbortSignal) {
    const paths = ids.map((id) => `/connected_accounts/${encodeURIComponent(id)}`);
    const answers = await Promise.all(
      paths.map((path) => this.#api.ask(z.unknown(), path, deadline)),
    );
    const found: unknown[] = [];
    const gone: { readonly id: string }[] = [];
    for (const [index, answer] of answers.entries()) {
      if (answer.kind === "answer") found.push(answer.value);
      else if (isMissing(answer)) gone.push({ id: ids[index] ?? "" });
      // A list that lacks a connection would be wrong.
      else return answer;
    }
    await forgetConnections(this.#db, accountId, gone, MAX_LINK_SECONDS);
    return found.flatMap(accountIn);
  }

  async disconnect({ accountId, connector }: RequestOf<"disconnect">) {
    const listed = await this.list(accountId);
    if (listed.kind !== "listed") return listed;
    const own = listed.connections.filter((one) => one.connector === connector);
    const deadline = this.#deadline();
    for (const { id } of own) {
      const path = `/connected_accounts/${encodeURIComponent(id)}`;
      const removed = await this.#api.ask(z.unknown(), path, deadline, undefined, "DELETE");
      // One that another request has removed counts as removed.
      if (removed.kind !== "answer" && !isMissing(removed)) return removed;
    }
    await forgetConnections(this.#db, accountId, own, 0);
    return { kind: "disconnected", count: own.length } as const;
  }

  async listActions({ connector, limit, cursor }: RequestOf<"listActions">) {
    const query = new URLSearchParams({ toolkit_slug: connector, limit: String(limit) });
    if (cursor !== undefined) query.set("cursor", cursor);
    const answer = await this.#api.ask(page, `/tools?${query}`, this.#deadline());
    if (answer.kind !== "answer") return answer;
    const actions = answer.value.items.flatMap((one) => {
      const { data } = tool.safeParse(one);
      return data?.toolkit.slug === connector ? [describeTool(data)] : [];
    });
    return { kind: "actions", actions, nextCursor: answer.value.next_cursor || null } as const;
  }

  async describeAction({ connector, action }: RequestOf<"describeAction">) {
    const found = await this.#findTool(connector, action, this.#deadline());
    if ("cause" in found) return found;
    return { kind: "action", isDestructive: isDestructive(found) } as const;
  }

  /** Returns `unknown_action` for one of another connector: the name alone does not identify it. */
  async #findTool(connector: string, action: string, deadline: AbortSignal) {
    const found = await this.#api.ask(tool, `/tools/${encodeURIComponent(action)}`, deadline);
    if (found.kind !== "answer") {
      return isMissing(found) ? fault("unknown_action", found.cause) : found;
    }
    const { toolkit } = found.value;
    if (toolkit.slug !== connector)
      return fault("unknown_action", `${action} is of ${toolkit.slug}`);
    return found.value;
  }

  async listEvents({ connector, limit, cursor }: RequestOf<"listEvents">) {
    const size = String(Math.min(limit, MAX_TRIGGER_PAGE));
    const query = new URLSearchParams({ toolkit_slugs: connector, limit: size });
    if (cursor !== undefined) query.set("cursor", cursor);
    const answer = await this.#api.ask(page, `/triggers_types?${query}`, this.#deadline());
    if (answer.kind !== "answer") return answer;
    const events = answer.value.items.flatMap((one) => {
      const { data } = triggerType.safeParse(one);
      return data?.toolkit.slug === connector ? [describeTriggerType(data)] : [];
    });
    return { kind: "events", events, nextCursor: answer.value.next_cursor || null } as const;
  }

  async subscribe({ accountId, connector, event, config }: RequestOf<"subscribe">) {
    const active = await this.#activeConnection(accountId, connector);
    if ("cause" in active) return active;
    const deadline = this.#deadline();
    const slug = encodeURIComponent(event);
    // The name alone does not identify the connector of the event.
    const found = await this.#api.ask(triggerType, `/triggers_types/${slug}`, deadline);
    if (found.kind !== "answer") {
      return isMissing(found) ? fault("unknown_event", found.cause) : found;
    }
    const { value } = found;
    if (value.toolkit.slug !== connector || value.slug !== event) {
      return fault("unknown_event", `${event} is ${value.slug} of ${value.toolkit.slug}`);
    }
    const made = await this.#api.ask(upserted, `/trigger_instances/${slug}/upsert`, deadline, {
      connected_account_id: active.id,
      trigger_config: config,
    });
    return made.kind === "answer"
      ? ({ kind: "subscribed", id: made.value.trigger_id } as const)
      : made;
  }

  async unsubscribe({ accountId, keptIds }: RequestOf<"unsubscribe">) {
    const deadline = this.#deadline();
    const recorded = await recordedConnections(this.#db, accountId);
    // A subscription that Composio has disabled would start again with its connection.
    const page = { show_disabled: "true", limit: String(MAX_TRIGGER_PAGE) };
    const path = "/trigger_instances/active";
    const isOwn = (one: z.output<typeof triggerInstance>) =>
      ownedBy(accountId, recorded)({ id: one.connected_account_id, user_id: one.user_id });
    const listed = await this.#api.readPages(path, { ...page, user_ids: accountId }, deadline);
    if (!Array.isArray(listed)) return listed;
    const found = listed.flatMap(triggerIn);
    // Without the filter, pages of other accounts may hide the account's own.
    const missing = found.every(isOwn) ? [] : recorded;
    const lists = missing.map((id) =>
      this.#api.readPages(path, { ...page, connected_account_ids: id }, deadline),
    );
    for (const list of await Promise.all(lists)) {
      if (!Array.isArray(list)) return list;
      found.push(...list.flatMap(triggerIn));
    }
    const unused = new Set(found.filter(isOwn).map(({ id }) => id));
    for (const id of unused) {
      if (keptIds.includes(id)) continue;
      const one = `/trigger_instances/manage/${encodeURIComponent(id)}`;
      const removed = await this.#api.ask(z.unknown(), one, deadline, undefined, "DELETE");
      const isGone = removed.kind !== "answer" && (isMissing(removed) || removed.status === 409);
      if (removed.kind !== "answer" && !isGone) return removed;
    }
    return { kind: "unsubscribed" } as const;
  }

  /** Returns `not_connected` without one. */
  async #activeConnection(accountId: string, connector: string) {
    const listed = await this.list(accountId);
    if (listed.kind !== "listed") return listed;
    const active = listed.connections.find(
      (one) => one.connector === connector && one.status === "active",
    );
    return active ?? fault("not_connected", `${connector} is not connected`);
  }

  async runAction({ accountId, connector, action, input }: RequestOf<"runAction">) {
    const active = await this.#activeConnection(accountId, connector);
    if ("cause" in active) return active;
    const deadline = this.#deadline();
    const found = await this.#findTool(connector, action, deadline);
    if ("cause" in found) return found;
    const path = `/tools/execute/${encodeURIComponent(action)}`;
    const ran = await this.#api.ask(executed, path, deadline, {
      user_id: accountId,
      connected_account_id: active.id,
      arguments: input,
    });
    // The agent can correct its input.
    if (ran.kind === "unavailable" && ran.message !== undefined) {
      const result = { successful: false, output: null, error: ran.message };
      return { kind: "ran", result } as const;
    }
    if (ran.kind !== "answer") return ran;
    const { successful, data, error } = ran.value;
    const text = error?.slice(0, MAX_ERROR_CHARS) ?? null;
    return { kind: "ran", result: { successful, output: data ?? null, error: text } } as const;
  }

  check(deadline: AbortSignal) {
    return this.#api.check(deadline);
  }

  #deadline(): AbortSignal {
    return AbortSignal.timeout(this.#timeoutMs);
  }
}
