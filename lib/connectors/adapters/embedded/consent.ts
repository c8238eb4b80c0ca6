/**
 * The page on which a person allows or refuses a connection of the embedded provider: `GET` asks,
 * `POST` decides once and redirects to the callback.
 */
import { createHmac, randomBytes } from "node:crypto";
import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { areEqualTexts } from "@platform/kit/equal-texts";
import { escapeHtml, renderNotice, renderPage } from "@platform/kit/html-page";
import { log } from "@platform/kit/log";
import { visibleName } from "@platform/kit/visible-name";
import type { Parts } from "../../../parts.ts";
import { config } from "../../../platform/config.ts";
import type { Database } from "../../../platform/database/port.ts";
import { serviceOrigin } from "../../../platform/service-origin.ts";
import { decideConnection, selectPending } from "../../store.ts";
import { connectorName, hashState } from "./provider.ts";

/** Ten times the size of the form. */
const MAX_BODY_BYTES = 4096;

type Handler = (request: Request, db: Database) => Promise<Response>;

export const askConsent = guarded(async (request, db) => {
  const state = new URL(request.url).searchParams.get("state") ?? "";
  const pending = await selectPending(db, hashState(state));
  if (!pending) return linkExpired();
  const name = escapeHtml(connectorName(pending.connector) ?? pending.connector);
  const browserId = browserIdOf(request.headers);
  const { account, address, callback_url: callback } = pending;
  const named =
    account === address ? "" : `<strong><bdi>${escapeHtml(visibleName(account))}</bdi></strong> `;
  return renderPage({
    status: 200,
    title: `Connect ${connectorName(pending.connector) ?? pending.connector}?`,
    body: `<p>${named}<strong>${named && "("}${escapeHtml(address)}${named && ")"}</strong> wants to connect ${name}.</p>
<p>After your choice you go to <strong>${escapeHtml(new URL(callback).host)}</strong>.</p>
<p>This page stands in for the consent page of the service. It records your choice and does not contact the service.</p>
<form method="post" action="/connectors/consent">
<input type="hidden" name="state" value="${escapeHtml(state)}">
<input type="hidden" name="token" value="${formToken(state, browserId)}">
<button name="decision" value="allow">Allow</button>
<button name="decision" value="refuse">Deny</button>
</form>`,
    formTarget: policySource(callback),
    headers: { "set-cookie": browserCookie(browserId, serviceOrigin().startsWith("https:")) },
  });
});

export const decideConsent = guarded(async (request, db) => {
  const { headers } = request;
  // Browsers always send the length of a form, so an oversized body is refused before it is read.
  if (!(Number(headers.get("content-length") ?? Number.NaN) <= MAX_BODY_BYTES))
    return foreignForm();
  const form = new URLSearchParams(await request.text());
  const state = form.get("state") ?? "";
  const decision = form.get("decision");
  const isOwn =
    (headers.get("sec-fetch-site") ?? "same-origin") === "same-origin" &&
    (headers.get("origin") ?? serviceOrigin()) === serviceOrigin() &&
    isOwnForm(headers, state, form.get("token") ?? "");
  if (!isOwn || (decision !== "allow" && decision !== "refuse")) return foreignForm();
  const decided = await decideConnection(db, hashState(state), decision === "allow");
  if (!decided) return linkExpired();
  const target = new URL(decided.callback_url);
  target.searchParams.set("status", decision === "allow" ? "success" : "failed");
  target.searchParams.set("connector", decided.connector);
  return new Response(null, {
    status: 303,
    headers: {
      location: target.href,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    },
  });
});

/** Answers 404 unless the embedded provider is in use, and renders errors as pages. */
function guarded(handler: Handler) {
  return async (
    { connectors, db }: Parts<"connectors" | "db">,
    request: Request,
  ): Promise<Response> => {
    if (connectors?.name !== "embedded")
      return renderNotice(404, "Page not found", "There is no page at this address.");
    try {
      return await handler(request, db);
    } catch (error) {
      const isOutage = isDatabaseUnavailable(error);
      log().error({ err: error, route: "/connectors/consent" }, "The consent page failed");
      return isOutage
        ? renderNotice(
            503,
            "Service unavailable",
            "The service is temporarily unavailable. Try again in a moment.",
          )
        : renderNotice(500, "Something went wrong", "Try again.");
    }
  };
}

const linkExpired = (): Response =>
  renderNotice(
    410,
    "Expired link",
    "This link has been used or has expired. Start connecting again.",
  );

const foreignForm = (): Response =>
  renderNotice(403, "Request refused", "Open the link again and choose there.");

/** Returns the scheme alone for IPv6 hosts, which a content security policy cannot express. */
function policySource(callbackUrl: string): string {
  const { hostname, origin, protocol } = new URL(callbackUrl);
  return hostname.startsWith("[") ? protocol : origin;
}

const COOKIE = "connector_consent";
const PATTERN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Returns the browser's id, which all its tabs share, or a new one. It binds a decision to the browser that was shown the
 * question: the form contains an HMAC over the secret of the link and this cookie, which no other site can
 * read, set or send. A forged form cannot decide, not even about a link that the forger created.
 */
function browserIdOf(headers: Headers): string {
  return readBrowserId(headers) ?? randomBytes(32).toString("base64url");
}

function browserCookie(browserId: string, secure: boolean): string {
  const attributes = "Path=/connectors/consent; HttpOnly; SameSite=Strict; Max-Age=900";
  return `${COOKIE}=${browserId}; ${attributes}${secure ? "; Secure" : ""}`;
}

function formToken(state: string, browserId: string): string {
  return createHmac("sha256", config().API_KEY_SECRET)
    .update(`connector consent ${state} ${browserId}`)
    .digest("base64url");
}

/** Returns whether this service issued the token to this browser. */
function isOwnForm(headers: Headers, state: string, token: string): boolean {
  const browserId = readBrowserId(headers);
  return browserId !== undefined && areEqualTexts(token, formToken(state, browserId));
}

function readBrowserId(headers: Headers): string | undefined {
  for (const part of headers.get("cookie")?.split(";") ?? []) {
    const [name, value = ""] = part.trim().split("=");
    if (name === COOKIE && PATTERN.test(value)) return value;
  }
  return undefined;
}
