/** Which calls of an agent need an approval, and how it is requested. */
import { createHash, createHmac } from "node:crypto";
import type { JSONValue, UIMessageChunk } from "ai";
import type { ToolCall } from "../agent/step-result.ts";
import { inStoredOrder } from "../agent/tools/make-storable.ts";
import { mcpToolOf } from "../agent/tools/mcp-tool.ts";
import type { ApprovalCategory, UntrustedSource } from "../contract/approvals.ts";
import type { RunOptions } from "../contract/run-options.ts";
import { config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import type { ActiveTurn } from "./store/turns.ts";

/** A line of the description of a call, as a person reads it. */
interface Effect {
  readonly label: string;
  readonly value: string;
}

/** The effect of a call that policies name. */
export interface CallEffect {
  readonly category: ApprovalCategory;
  readonly effect: readonly Effect[];
  /** A remembered approval applies to calls with the same fields. */
  readonly fields: Readonly<Record<string, unknown>>;
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

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** Returns the effect of a call; null for a call that no policy names. */
export function effectOf(
  { name, input }: ToolCall,
  { mcp_tools, options }: Pick<ActiveTurn, "mcp_tools" | "options">,
): CallEffect | null {
  const given = record(input);
  const ofServer = mcpToolOf(mcp_tools, name);
  if (ofServer) {
    // Without a policy, a tool that only reads is not asked for.
    if (ofServer.readOnly && options.approvals?.mcp === undefined) return null;
    const { server, tool } = ofServer;
    return {
      category: "mcp",
      effect: [
        { label: "MCP server", value: server },
        { label: "Tool", value: tool },
        ...linesOf(given),
      ],
      fields: { ...addressees(given), server, tool },
    };
  }
  switch (name) {
    case "bash":
      return {
        category: "bash",
        effect: [{ label: "Command", value: shown(given.command) }],
        fields: { command: given.command },
      };
    case "write":
      return {
        category: "write",
        effect: [
          { label: "File", value: shown(given.filePath) },
          { label: "Characters", value: String(shownLength(given.content)) },
        ],
        fields: { filePath: given.filePath },
      };
    case "fetch":
      return effectOfRequest(given);
    default:
      return null;
  }
}

const shownLength = (content: unknown): number =>
  typeof content === "string" ? content.length : 0;

const CONNECTOR_ACTION = /^\/api\/connectors\/([^/]+)\/actions\/([^/]+)\/?$/;
const MEDIA = /^\/api\/content\//;

/** A request to the web, or to this service, which acts for the account. */
function effectOfRequest(given: Readonly<Record<string, unknown>>): CallEffect | null {
  const method = typeof given.method === "string" ? given.method : "GET";
  const url = typeof given.url === "string" ? URL.parse(given.url) : null;
  // The tool refuses it.
  if (!url) return null;
  if (url.origin !== serviceOrigin()) {
    return {
      category: "fetch",
      effect: [
        { label: "Host", value: url.host },
        { label: "Request", value: shown(`${method} ${url.href}`) },
        ...(given.body === undefined ? [] : [{ label: "Content", value: shown(given.body) }]),
      ],
      fields: { host: url.host },
    };
  }
  if (method === "GET" || method === "HEAD" || method === "OPTIONS") return null;
  const action = CONNECTOR_ACTION.exec(url.pathname);
  const body = record(parsed(given.body));
  if (action) {
    const input = record(body.input);
    const [, connector = "", name = ""] = action;
    return {
      category: "connectors",
      effect: [
        { label: "Service", value: connector },
        { label: "Action", value: name },
        ...linesOf(input),
      ],
      fields: { connector, action: name, ...addressees(input) },
    };
  }
  if (!MEDIA.test(url.pathname)) return null;
  return {
    category: "media",
    effect: [{ label: "Request", value: `${method} ${url.pathname}` }, ...linesOf(body)],
    fields: { path: url.pathname },
  };
}

function parsed(body: unknown): unknown {
  if (typeof body !== "string") return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const ADDRESSEE =
  /^(?:to|cc|bcc|.*(?:recipient|email|channel|user|host|url|address|account|phone|attendee|participant|guest|invitee|member|contact).*)$/i;

/** Returns the fields of an input that say whom it reaches; all of it if none does. */
function addressees(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const named = Object.entries(input).filter(([name]) => ADDRESSEE.test(name));
  return named.length > 0 ? Object.fromEntries(named) : { input };
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
  { category, effect }: CallEffect,
  { untrusted }: Asking,
): UIMessageChunk {
  return {
    type: "tool-approval-request",
    approvalId: id,
    toolCallId: call.id,
    approvalDescriptor: { category, effect, sources: untrusted, run_id: runId },
    signature: signApproval(id, call),
  };
}
