/**
 * Which calls of an agent need an approval, and how it is requested. This file is long because the effect of every
 * tool is described in one place.
 */

import { createHash, createHmac } from "node:crypto";
import type { ToolCall } from "@platform/agent/step-result";
import { isLeft } from "@platform/agent/tools";
import { inStoredOrder } from "@platform/agent/tools/make-storable";
import { mcpToolOf } from "@platform/agent/tools/mcp-tool";
import { mediaRequestIn } from "@platform/agent/tools/media-request";
import type { ApprovalCategory, EffectLine } from "@platform/endpoint/contract/approvals";
import type { JSONValue, UIMessageChunk } from "ai";
import { MEDIA_FOLDER, mediaOrder } from "../content/media-order.ts";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import type { ActiveTurn, PolicyDecision } from "../running-turn/state.ts";
import { contentLines, lineOf, linesOf, without } from "./effect-lines.ts";
import { withoutContent } from "./without-content.ts";

/** The parts of the service that know the effects of a call. */
export type EffectParts = Parts<"agentTasks" | "connectors" | "judgeRequest">;

/** The effects of a call that policies name. */
export interface CallEffect {
  /** At least one. The first describes the call. */
  readonly categories: readonly [ApprovalCategory, ...ApprovalCategory[]];
  readonly effect: readonly EffectLine[];
  /** A remembered approval applies to calls with the same fields. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Resolves with whether an approval may be remembered; if not, the call is asked for each time. */
  readonly isMemorable: () => Promise<boolean>;
}

/** Returns whether a call may run, or must be asked for, or must not run. */
export const decisionOn = (
  category: ApprovalCategory,
  { decisions, untrusted }: Pick<ActiveTurn, "decisions" | "untrusted">,
): PolicyDecision => decisions[untrusted.length > 0 ? "untrusted" : "trusted"][category] ?? "run";

/**
 * Returns whether a call with several effects may run, or must be asked for, or must not run, and the effect for
 * which that is so.
 */
export function decideOn(
  { categories }: CallEffect,
  turn: Pick<ActiveTurn, "decisions" | "untrusted">,
) {
  const found = categories.map((category) => ({
    category,
    decision: decisionOn(category, turn),
  }));
  const named = (wanted: "ask" | "deny") => found.find(({ decision }) => decision === wanted);
  return named("deny") ?? named("ask") ?? { category: categories[0], decision: "run" as const };
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** Returns the effects of a call; null for a call that no policy names. */
export async function effectOf(
  app: EffectParts,
  { name, input }: ToolCall,
  turn: Pick<ActiveTurn, "artist_id" | "is_of_task" | "mcp_tools" | "options" | "skills">,
): Promise<CallEffect | null> {
  // The turn does not have the tool, which refuses the call.
  if (!isLeft(name, turn)) return null;
  const { mcp_tools, options } = turn;
  const given = record(input);
  const ofServer = mcpToolOf(mcp_tools, name);
  if (ofServer) {
    // Without a policy, a tool that only reads is not asked for.
    if (ofServer.readOnly && options.approvals?.mcp === undefined) return null;
    const { server, tool } = ofServer;
    return {
      categories: ["mcp"],
      effect: [...lineOf("MCP server", server), ...lineOf("Tool", tool), ...linesOf(given)],
      fields: { server, tool, input: withoutContent(given) },
      isMemorable: async () => !ofServer.destructive,
    };
  }
  switch (name) {
    case "bash":
      return {
        categories: ["bash"],
        effect: [...lineOf("Command", given.command), ...linesOf(without(given, "command"))],
        fields: { command: given.command, ...(given.cwd !== undefined && { cwd: given.cwd }) },
        isMemorable: always,
      };
    case "write":
      return {
        categories: ["write"],
        effect: [
          ...lineOf("File", given.filePath),
          ...(given.content === undefined ? [] : contentLines(given.content)),
          ...linesOf(without(given, "filePath", "content")),
        ],
        fields: { filePath: given.filePath },
        isMemorable: always,
      };
    case "edit":
      return {
        categories: ["write"],
        effect: [
          ...lineOf("File", given.filePath),
          ...lineOf("Replaced", given.oldString),
          ...lineOf("New text", given.newString),
          ...linesOf(without(given, "filePath", "oldString", "newString")),
        ],
        fields: { filePath: given.filePath },
        isMemorable: always,
      };
    case "fetch":
      return withFile(await effectOfRequest(app, without(given, "saveTo")), given.saveTo);
    case "make_media": {
      const request = mediaRequestIn(given);
      // The tool refuses it.
      if (!request) return null;
      const { url, body, file } = mediaOrder(request);
      const order = { method: "POST", url: url.href, body: JSON.stringify(body) };
      const effect = withFile(await effectOfRequest(app, order), MEDIA_FOLDER);
      if (!effect || file === undefined) return effect;
      return {
        ...effect,
        effect: [...effect.effect, ...lineOf("Image", file)],
        fields: { ...effect.fields, image: file },
      };
    }
    case "schedule": {
      const plan = (await app.agentTasks()).planTask(given, turn);
      // The tool refuses it.
      if ("error" in plan) return null;
      const { effect } = plan;
      return { categories: ["schedules"], effect, fields: given, isMemorable: async () => false };
    }
    default:
      return null;
  }
}

const always = async () => true;

/** Adds the file in which a request stores its answer. */
function withFile(effect: CallEffect | null, saveTo: unknown): CallEffect | null {
  if (saveTo === undefined) return effect;
  const line = lineOf("Save to", saveTo);
  if (!effect) {
    return { categories: ["write"], effect: line, fields: { saveTo }, isMemorable: always };
  }
  return {
    ...effect,
    categories: [...effect.categories, "write"],
    effect: [...effect.effect, ...line],
    fields: { ...effect.fields, saveTo },
  };
}

/** A request to the web, or to this service, which acts for the account. */
async function effectOfRequest(
  app: Parts<"connectors" | "judgeRequest">,
  given: Readonly<Record<string, unknown>>,
): Promise<CallEffect | null> {
  const method = typeof given.method === "string" ? given.method : "GET";
  const url = typeof given.url === "string" ? URL.parse(given.url) : null;
  // The tool refuses it.
  if (!url) return null;
  const body = typeof given.body === "string" ? given.body : undefined;
  const headers = linesOf(record(given.headers), "Header");
  if (url.origin !== serviceOrigin()) {
    const reads = method === "GET" || method === "HEAD";
    return {
      categories: ["fetch"],
      effect: [
        ...lineOf("Host", url.host, true),
        ...lineOf("Request", `${method} ${url.href}`),
        ...headers,
        ...(body === undefined ? [] : lineOf("Content", body)),
      ],
      // Permission to read a page of a host covers its other pages. Any other request covers one address.
      fields: {
        method,
        ...(reads ? { host: url.host, protocol: url.protocol } : { url: url.href }),
        ...(given.headers !== undefined && { headers: given.headers }),
        ...(body !== undefined && { body: withoutContent(parsed(body) ?? body) }),
      },
      isMemorable: always,
    };
  }
  const request = await app.judgeRequest(method, url, body);
  if (!request) return null;
  const { contract, params, effects } = request;
  const [category, ...more] = effects.categories;
  if (category === undefined) return null;
  const hosts = effects.hosts.flatMap((host) => lineOf("Host", host, true));
  const input = record(request.body);
  const fields = {
    method,
    url: request.url.href,
    body: withoutContent(request.body),
  };
  if (category === "connectors") {
    const { connector = "", action = "" } = params;
    return {
      categories: [category, ...more],
      effect: [
        ...lineOf("Service", connector),
        ...lineOf("Action", action),
        ...linesOf(record(input.input)),
        // In either spelling.
        ...[input.account_id, input.accountId].flatMap((account) =>
          account === undefined ? [] : lineOf("Account", account),
        ),
        ...headers,
      ],
      fields,
      isMemorable: async () => !(await isDestructive(app, connector, action)),
    };
  }
  return {
    categories: [category, ...more],
    effect: [
      ...hosts,
      ...lineOf("Request", `${method} ${request.url.pathname}${request.url.search}`),
      ...(contract.byteBodyLimit === undefined ? linesOf(input) : contentLines(body)),
      ...headers,
    ],
    // The content of a file is free, as with the tool `write`.
    fields: contract.byteBodyLimit === undefined ? fields : { ...fields, body: null },
    isMemorable: async () => contract.method !== "DELETE",
  };
}

/** Returns whether an action is annotated as destructive, or whether that cannot be found out. */
async function isDestructive(
  { connectors }: Parts<"connectors">,
  connector: string,
  action: string,
): Promise<boolean> {
  const answer = await connectors?.describeAction({ connector, action });
  return answer?.kind !== "action" || answer.isDestructive;
}

function parsed(body: unknown): unknown {
  if (typeof body !== "string") return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Returns the id under which a call is asked for, the same after each crash. */
export function approvalIdOf(turnId: string, callId: string): string {
  const hex = createHash("sha256").update(`approval ${turnId} ${callId}`).digest("hex");
  const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20)];
  return `${a}-${b}-4${c}-8${d}-${hex.slice(20, 32)}`;
}

/** Signs a request for an approval, so an answer shows that its client has seen exactly this call. */
export function signApproval(
  id: string,
  { id: toolCallId, name, input }: ToolCall,
  secret = config().API_KEY_SECRET,
): string {
  const content = JSON.stringify([
    "approval",
    id,
    toolCallId,
    name,
    inStoredOrder(input as JSONValue),
  ]);
  return createHmac("sha256", secret).update(content).digest("base64url");
}

/** @param runId of the turn, with which the answer is addressed */
export function requestChunk(
  id: string,
  runId: string,
  call: ToolCall,
  request: Readonly<{
    category: ApprovalCategory;
    effect: readonly EffectLine[];
    is_memorable: boolean;
  }>,
  { untrusted }: Pick<ActiveTurn, "untrusted">,
): UIMessageChunk {
  const { category, effect, is_memorable } = request;
  return {
    type: "tool-approval-request",
    approvalId: id,
    toolCallId: call.id,
    approvalDescriptor: { category, effect, is_memorable, sources: untrusted, run_id: runId },
    signature: signApproval(id, call),
  };
}
