/**
 * Limits requests from a sandbox, where injected text can make the agent do anything. Such a request may
 * do only what its run's credential allows, or call endpoints that need no credential. It can neither
 * create an account nor use another credential that it has found.
 */

import { type AppError, appError, isAppError } from "@platform/endpoint/contract/app-error";
import type { Contract, ReadAnswer } from "@platform/endpoint/contract/contract";
import { effectsOf } from "@platform/endpoint/contract/effects";
import { tooManyRequests } from "@platform/endpoint/contract/rate-limit";
import type { Exchange } from "@platform/endpoint/exchange";
import { bodyValueOf } from "@platform/endpoint/pipeline";
import { readBytes } from "@platform/endpoint/read-input";
import { isFromSandbox } from "@platform/sandbox/outgoing-headers";
import { z } from "zod";
import type { Caller } from "../identity/credentials/caller.ts";
import { resolveCaller, storedCredentials } from "../identity/credentials/resolve-caller.ts";
import { APPROVED_CALL, readMark } from "../identity/keys/approved-call.ts";
import type { App } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { call as callFunction } from "../platform/database/query.ts";
import { addressOf } from "./address.ts";

const wrongCredential = appError("forbidden", "This credential cannot be used here");
const notFromSandbox = appError("forbidden", "This cannot be used from a sandbox");

/** The console pages with the same operations as a tag, where the names differ. */
const PAGES: Readonly<Record<string, string>> = {
  Account: "Settings",
  "Agent templates": "Templates",
  Approvals: "Runs",
  Artists: "Artists",
  Connectors: "Connectors",
  Keys: "API keys",
  "MCP servers": "Connectors",
  Organizations: "Settings",
  Skills: "Skills",
  Tasks: "Schedules",
  Usage: "Usage",
  Webhooks: "Settings",
  Workspace: "Files",
};

/** Names for an agent the user, and the page, that can do what the run cannot. */
function refuseRun({ method, path, tag }: Contract): AppError {
  const page = PAGES[tag];
  const where = page === undefined ? "" : ` or on the page ${page}`;
  return appError(
    "forbidden",
    `${wrongCredential.message}. The user can do this with ${method} ${path}${where}`,
  );
}

/** Refuses a run's credential that the contract does not allow, and any other from a sandbox. */
export function refuseCaller(
  contract: Contract,
  { credential }: Caller,
  headers: Headers,
): AppError | null {
  if (credential.kind !== "run") return isFromSandbox(headers) ? wrongCredential : null;
  return contract.runCredential === undefined ? refuseRun(contract) : null;
}

/**
 * Refuses accounts that the caller has no access to: 403, and 404 for an artist that it cannot see. A
 * contract can limit the credential of a run to certain requests, so this stage follows the parsing.
 */
export async function authorize(exchange: Exchange<Caller, App>): Promise<AppError | undefined> {
  const { plan, caller, input, denied } = exchange;
  const misused = caller && refuseRequest(plan.contract, caller, input);
  return misused ?? denied ?? (await refuseEffect(exchange)) ?? undefined;
}

/** Refuses a run's credential for a parsed request that the contract's condition does not allow. */
function refuseRequest(
  contract: Contract,
  { credential }: Caller,
  request: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
): AppError | null {
  const { runCredential: rule } = contract;
  if (credential.kind !== "run" || rule === undefined || rule === true) return null;
  return rule.allows(request, credential.run) ? null : refuseRun(contract);
}

/**
 * Refuses a run's credential an effect that its policies forbid or ask for. The agent asks for it before it makes the
 * request itself, whose mark shows that; a command of its sandbox cannot.
 */
async function refuseEffect(exchange: Exchange<Caller, App>): Promise<AppError | null> {
  const { app, plan, caller, input, request } = exchange;
  if (caller?.credential.kind !== "run") return null;
  const { run } = caller.credential;
  const { categories } = effectsOf(
    plan.contract,
    input.body,
    (url) => app.mediaStorage.keyOf(url) !== null,
  );
  const asked = categories.filter((category) => run.asks.includes(category));
  if (asked.length === 0) return null;
  const header = request.headers.get(APPROVED_CALL);
  if (header === null) return needsApproval;
  const mark = readMark(header, {
    turnId: run.turnId,
    method: request.method,
    url: new URL(request.url),
    body: await bodyIn(exchange),
  });
  if (!mark || !asked.every((category) => mark.categories.includes(category))) return needsApproval;
  const call = { accountId: caller.ownerId, turnId: run.turnId, callId: mark.callId };
  return (await callFunction(exchange.app.db, "use_approved_call", call, z.boolean()))
    ? null
    : needsApproval;
}

const needsApproval = appError(
  "forbidden",
  "A person must approve this: make the same request with the tool fetch, which asks for it",
);

/** Resolves to the body that a mark is for: the parsed JSON, or the text of bytes, which the handler reads again. */
async function bodyIn(exchange: Exchange<Caller, App>): Promise<unknown> {
  const { plan, request } = exchange;
  if (plan.contract.byteBodyLimit === undefined) return bodyValueOf(exchange);
  const bytes = await readBytes(request, MAX_MARKED_BYTES);
  if (isAppError(bytes)) return undefined;
  const { url, method, headers, signal } = request;
  const content = Buffer.from(bytes);
  exchange.request = new Request(url, { method, headers, signal, body: content });
  return content.toString();
}

/** More than a model writes in a call. */
const MAX_MARKED_BYTES = 4 * 1024 * 1024;

/**
 * Notes that a run has got the words of a stranger, before it gets them.
 * @param body of the answer, unless that is a stream
 */
export async function recordAnswerSources(
  { app, plan, caller, input }: Exchange<Caller, App>,
  body: unknown,
): Promise<void> {
  const { words } = plan.contract;
  if (words === undefined || words === "own" || caller?.credential.kind !== "run") return;
  const { run } = caller.credential;
  const answer = { params: Object(input.params), query: Object(input.query), body };
  const turn = { accountId: caller.ownerId, turnId: run.turnId };
  for (const each of [words].flat()) {
    if (typeof each === "function") {
      const sources = each(answer);
      if (sources.length === 0) continue;
      await callFunction(app.db, "mark_turn_untrusted", { ...turn, sources }, z.unknown());
    } else {
      const rows = rowsIn(each, answer);
      if (rows.length === 0) continue;
      const read = { ...turn, kind: each, rows, artistId: run.artistId };
      await callFunction(app.db, "record_row_sources", read, z.unknown());
    }
  }
}

/** The fields that name rows, in a request, in its answer, and in each row of a list. */
const KEYS = {
  chats: ["sessionId", "session_id", "chatId", "chat_id", "runId", "run_id", "id"],
  templates: ["id"],
  skills: ["name"],
  workspace: ["path"],
} as const;

/** Returns the keys of the rows that an answer has words of; more than were read do no harm. */
function rowsIn(words: keyof typeof KEYS, { params, query, body }: ReadAnswer) {
  const top = Object.values(Object(body)).flat();
  const places = [params, query, body, ...top, ...top.map((one) => Object(one).metadata)];
  return places.flatMap((place) => {
    const fields: Readonly<Record<string, unknown>> = Object(place);
    const version = typeof fields.version === "number" ? fields.version : null;
    return KEYS[words].flatMap((name) => {
      const key = fields[name];
      return typeof key === "string" ? [{ key, version }] : [];
    });
  });
}

/**
 * Refuses sandboxes at an endpoint that needs no credential: code in a sandbox must not obtain a
 * credential that outlives the run. Credentials of anyone else are ignored there.
 */
export async function refuseSandbox(db: Database, headers: Headers): Promise<AppError | null> {
  if (isFromSandbox(headers)) return notFromSandbox;
  const named = { account: null, organization: null, artist: null };
  for (const raw of storedCredentials(headers)) {
    const resolved = await resolveCaller(db, { kind: "key", raw }, named, addressOf(headers));
    if (isAppError(resolved)) continue;
    if ("limited" in resolved) return tooManyRequests(resolved.limited);
    if (resolved.caller.credential.kind === "run") return wrongCredential;
  }
  return null;
}
