/** Which calls of an agent need an approval, and how it is requested. */
import { createHash, createHmac } from "node:crypto";
import type { JSONValue, UIMessageChunk } from "ai";
import type { ToolCall } from "../agent/step-result.ts";
import { inStoredOrder } from "../agent/tools/make-storable.ts";
import { mcpToolOf } from "../agent/tools/mcp-tool.ts";
import type { App } from "../app.ts";
import type { ApprovalCategory, UntrustedSource } from "../contract/approvals.ts";
import type { RunOptions } from "../contract/run-options.ts";
import { config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import type { ActiveTurn } from "./store/turns.ts";
import { withoutContent } from "./without-content.ts";

/** A line of the description of a call, as a person reads it. */
interface Effect {
  readonly label: string;
  readonly value: string;
}

/** The effects of a call that policies name. */
export interface CallEffect {
  /** At least one. The first describes the call. */
  readonly categories: readonly [ApprovalCategory, ...ApprovalCategory[]];
  readonly effect: readonly Effect[];
  /** A remembered approval applies to calls with the same fields. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Resolves with whether an approval may be remembered; if not, the call is asked for each time. */
  readonly isMemorable: () => Promise<boolean>;
}

interface Asking {
  readonly options: Pick<RunOptions, "approvals">;
  readonly untrusted: readonly UntrustedSource[];
}

const MAX_VALUE_CHARS = 2_000;
const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
};

const MAX_LINES = 20;
const MAX_NAME_CHARS = 64;

/** Fields that are shown first: whom a call reaches. */
const ADDRESSEE =
  /^(?:to|cc|bcc|.*(?:recipient|email|channel|user|host|url|address|account|phone|attendee|participant|guest|invitee|member|contact).*)$/i;

/**
 * Returns the fields of an input as lines: first the addressees, at the end the number of fields that are left out.
 * Their labels are unlike those of this service: a server or a model can name a field `Service`.
 */
function linesOf(input: Readonly<Record<string, unknown>>): Effect[] {
  const names = Object.keys(input);
  const ordered = [
    ...names.filter((name) => ADDRESSEE.test(name)),
    ...names.filter((name) => !ADDRESSEE.test(name)),
  ];
  const lines = ordered.slice(0, MAX_LINES).map((name) => ({
    label: `Input “${name.slice(0, MAX_NAME_CHARS)}”`,
    value: shown(input[name]),
  }));
  const more = names.length - lines.length;
  return more > 0 ? [...lines, { label: "Further fields", value: String(more) }] : lines;
}

/** The effects for which the default is to ask. */
const ASKED: readonly ApprovalCategory[] = ["connectors", "mcp"];

/** Returns whether a call may run, or must be asked for, or must not run. */
export function decisionOn(
  category: ApprovalCategory,
  { options, untrusted }: Asking,
): "run" | "ask" | "deny" {
  const policy = options.approvals?.[category] ?? (ASKED.includes(category) ? "ask" : "auto");
  if (policy === "ask_when_untrusted") return untrusted.length > 0 ? "ask" : "run";
  return policy === "auto" ? "run" : policy;
}

/**
 * Returns whether a call with several effects may run, or must be asked for, or must not run, and the effect for
 * which that is so.
 */
export function decideOn({ categories }: CallEffect, asking: Asking) {
  const decisions = categories.map((category) => ({
    category,
    decision: decisionOn(category, asking),
  }));
  const named = (wanted: "ask" | "deny") => decisions.find(({ decision }) => decision === wanted);
  return named("deny") ?? named("ask") ?? { category: categories[0], decision: "run" as const };
}

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** Returns the effects of a call; null for a call that no policy names. */
export async function effectOf(
  app: Pick<App, "connectors" | "judgeRequest">,
  { name, input }: ToolCall,
  { mcp_tools, options }: Pick<ActiveTurn, "mcp_tools" | "options">,
): Promise<CallEffect | null> {
  const given = record(input);
  const ofServer = mcpToolOf(mcp_tools, name);
  if (ofServer) {
    // Without a policy, a tool that only reads is not asked for.
    if (ofServer.readOnly && options.approvals?.mcp === undefined) return null;
    const { server, tool } = ofServer;
    return {
      categories: ["mcp"],
      effect: [
        { label: "MCP server", value: server },
        { label: "Tool", value: tool },
        ...linesOf(given),
      ],
      fields: { server, tool, input: withoutContent(given) },
      isMemorable: async () => !ofServer.destructive,
    };
  }
  switch (name) {
    case "bash":
      return {
        categories: ["bash"],
        effect: [{ label: "Command", value: shown(given.command) }],
        fields: { command: given.command, ...(given.cwd !== undefined && { cwd: given.cwd }) },
        isMemorable: always,
      };
    case "write":
      return {
        categories: ["write"],
        effect: [
          { label: "File", value: shown(given.filePath) },
          { label: "Characters", value: String(shownLength(given.content)) },
        ],
        fields: { filePath: given.filePath },
        isMemorable: always,
      };
    case "fetch":
      return effectOfRequest(app, given);
    default:
      return null;
  }
}

const always = async () => true;

const shownLength = (content: unknown): number =>
  typeof content === "string" ? content.length : 0;

/** A request to the web, or to this service, which acts for the account. */
async function effectOfRequest(
  app: Pick<App, "connectors" | "judgeRequest">,
  given: Readonly<Record<string, unknown>>,
): Promise<CallEffect | null> {
  const method = typeof given.method === "string" ? given.method : "GET";
  const url = typeof given.url === "string" ? URL.parse(given.url) : null;
  // The tool refuses it.
  if (!url) return null;
  const body = typeof given.body === "string" ? given.body : undefined;
  if (url.origin !== serviceOrigin()) {
    const reads = method === "GET" || method === "HEAD";
    return {
      categories: ["fetch"],
      effect: [
        { label: "Host", value: url.host },
        { label: "Request", value: shown(`${method} ${url.href}`) },
        ...(body === undefined ? [] : [{ label: "Content", value: shown(body) }]),
      ],
      // Who lets the agent read pages of a host may let it read more of them. Anything else is one address.
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
  const hosts = effects.hosts.map((host) => ({ label: "Host", value: host }));
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
        { label: "Service", value: connector },
        { label: "Action", value: action },
        ...linesOf(record(input.input)),
        // In either spelling.
        ...[input.account_id, input.accountId].flatMap((account) =>
          account === undefined ? [] : [{ label: "Account", value: shown(account) }],
        ),
      ],
      fields,
      isMemorable: async () => !(await isDestructive(app, connector, action)),
    };
  }
  return {
    categories: [category, ...more],
    effect: [
      ...hosts,
      { label: "Request", value: shown(`${method} ${request.url.pathname}${request.url.search}`) },
      ...(contract.byteBodyLimit === undefined
        ? linesOf(input)
        : [{ label: "Characters", value: String(shownLength(body)) }]),
    ],
    // The content of a file is free, as with the tool `write`.
    fields: contract.byteBodyLimit === undefined ? fields : { ...fields, body: null },
    isMemorable: async () => contract.method !== "DELETE",
  };
}

/** Returns whether an action is annotated as destructive, or whether that cannot be found out. */
async function isDestructive(
  { connectors }: Pick<App, "connectors">,
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
export function signApproval(id: string, { id: toolCallId, name, input }: ToolCall): string {
  const content = JSON.stringify([
    "approval",
    id,
    toolCallId,
    name,
    inStoredOrder(input as JSONValue),
  ]);
  return createHmac("sha256", config().API_KEY_SECRET).update(content).digest("base64url");
}

/** @param runId of the turn, with which the answer is addressed */
export function requestChunk(
  id: string,
  runId: string,
  call: ToolCall,
  request: Readonly<{
    category: ApprovalCategory;
    effect: readonly Effect[];
    is_memorable: boolean;
  }>,
  { untrusted }: Asking,
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
