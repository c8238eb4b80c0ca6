/**
 * The pages at which a person allows or refuses a connection of the embedded provider: `GET` asks,
 * `POST` decides, once, and leads on to the callback. Decisions, section 9.
 */
import { isDatabaseUnavailable } from "../../../../platform/database/unavailable.ts";
import { log } from "../../../../platform/log.ts";
import { serviceOrigin } from "../../../../platform/service-origin.ts";
import { services } from "../../../../platform/services.ts";
import { decideConnection, selectPending } from "../../../store.ts";
import { connectorName } from "../connector-names.ts";
import { hashState } from "../provider.ts";
import { browserOf, cookieOf, formToken, isOwnForm } from "./form-token.ts";
import { escapeHtml, renderNotice, renderPage } from "./render-page.ts";

/** Bytes of a decision; the browser's own form is a tenth of it. */
const BODY_LIMIT = 4096;

type Handler = (request: Request) => Promise<Response>;

export const askConsent = guarded(async (request) => {
  const state = new URL(request.url).searchParams.get("state") ?? "";
  const pending = await selectPending(hashState(state));
  if (!pending) return linkIsOver();
  const name = escapeHtml(connectorName(pending.connector) ?? pending.connector);
  const browser = browserOf(request.headers);
  return renderPage({
    status: 200,
    title: `Connect ${connectorName(pending.connector) ?? pending.connector}?`,
    body: `<p><strong>${escapeHtml(pending.account)}</strong> asks to connect ${name}.</p>
<p>This page stands in for the service's own: it records your answer and contacts nobody.</p>
<form method="post" action="/connectors/consent">
<input type="hidden" name="state" value="${escapeHtml(state)}">
<input type="hidden" name="token" value="${formToken(state, browser)}">
<button name="decision" value="allow">Allow</button>
<button name="decision" value="refuse">Refuse</button>
</form>`,
    formTarget: policySource(pending.callback_url),
    headers: { "set-cookie": cookieOf(browser, serviceOrigin().startsWith("https:")) },
  });
});

export const decideConsent = guarded(async (request) => {
  const { headers } = request;
  // Its size is known before it is read; a form of a browser always tells it.
  if (!(Number(headers.get("content-length") ?? Number.NaN) <= BODY_LIMIT)) return notOurs();
  const form = new URLSearchParams(await request.text());
  const state = form.get("state") ?? "";
  const decision = form.get("decision");
  const isOurs =
    (headers.get("sec-fetch-site") ?? "same-origin") === "same-origin" &&
    (headers.get("origin") ?? serviceOrigin()) === serviceOrigin() &&
    isOwnForm(headers, state, form.get("token") ?? "");
  if (!isOurs || (decision !== "allow" && decision !== "refuse")) return notOurs();
  const decided = await decideConnection(hashState(state), decision === "allow");
  if (!decided) return linkIsOver();
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

/** The pages exist only where they are needed, and fail as pages do. */
function guarded(handler: Handler): Handler {
  return async (request) => {
    if (services().connectors?.name !== "embedded")
      return renderNotice(404, "Not found", "No such page.");
    try {
      return await handler(request);
    } catch (error) {
      const isOutage = isDatabaseUnavailable(error);
      log().error({ err: error, route: "/connectors/consent" }, "request");
      return isOutage
        ? renderNotice(503, "Try again soon", "The service is temporarily unavailable.")
        : renderNotice(500, "Something went wrong", "Please try again.");
    }
  };
}

const linkIsOver = (): Response =>
  renderNotice(410, "This link is over", "It has been used or has expired. Please start again.");

const notOurs = (): Response =>
  renderNotice(403, "Not accepted", "Please open the link again and answer there.");

/** A source of a content security policy cannot be an IPv6 address. */
function policySource(callbackUrl: string): string {
  const { hostname, origin, protocol } = new URL(callbackUrl);
  return hostname.startsWith("[") ? protocol : origin;
}
