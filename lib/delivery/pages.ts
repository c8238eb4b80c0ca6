/**
 * The pages behind the links in mails. A GET changes nothing, because mail scanners follow links. A sandbox may use
 * neither: code in it could have read the link in a mailbox that the agent has access to.
 */

import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { escapeHtml, renderNotice, renderPage } from "@platform/kit/html-page";
import { log } from "@platform/kit/log";
import { isFromSandbox } from "@platform/sandbox/outgoing-headers";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import {
  confirmAddress,
  openConfirmation,
  resubscribeAddress,
  unsubscribeAddress,
} from "./store.ts";
import { findConfirmation, readUnsubscribeToken } from "./tokens.ts";

const MAX_BODY_BYTES = 4_096;

export const askConfirmation = guarded(async (request, db) => {
  const token = tokenOf(request);
  const link = await findConfirmation(token, (hash) => openConfirmation(db, hash));
  if (!link) return linkExpired();
  return renderPage({
    status: 200,
    title: "Get results by mail?",
    body: `<p><strong>${escapeHtml(link.account)}</strong> wants to send results of its agents to ${escapeHtml(link.address)}.</p>
${form("confirm", token, "Confirm")}`,
  });
});

export const confirm = guarded(async (request, db) => {
  const confirmed = await findConfirmation(tokenOf(request), (hash) => confirmAddress(db, hash));
  if (!confirmed) return linkExpired();
  return renderNotice(
    200,
    "Address confirmed",
    `${confirmed.account} can now send results to ${confirmed.address}. Every mail has a link to unsubscribe.`,
  );
});

export const askUnsubscribe = guarded(async (request) => {
  const token = tokenOf(request);
  const found = readUnsubscribeToken(token);
  if (!found) return linkExpired();
  return renderPage({
    status: 200,
    title: "Unsubscribe?",
    body: `<p>${escapeHtml(found.address)} will get no more results from this sender.</p>
${form("unsubscribe", token, "Unsubscribe")}`,
  });
});

/** Also the one-click unsubscription of mail programs (RFC 8058), which send no cookies and no origin. */
export const unsubscribe = guarded(async (request, db) => {
  const token = tokenOf(request);
  const found = readUnsubscribeToken(token);
  if (!found) return linkExpired();
  const { accountId, address } = found;
  // The body is read only to undo; the one-click request must not fail, whatever its form.
  if (new URL(request.url).searchParams.get("undo") === "1") {
    await resubscribeAddress(db, accountId, address);
    return renderNotice(200, "Subscribed again", `${address} gets results from this sender again.`);
  }
  await unsubscribeAddress(db, accountId, address);
  return renderPage({
    status: 200,
    title: "Unsubscribed",
    body: `<p>${escapeHtml(address)} gets no more results from this sender.</p>
${form("unsubscribe", `${token}&undo=1`, "Undo")}`,
  });
});

/** @param query the token, and more parameters */
const form = (page: string, query: string, button: string): string =>
  `<form method="post" action="/delivery/${page}?token=${escapeHtml(query)}"><button value="allow">${button}</button></form>`;

const tokenOf = (request: Request): string => {
  const token = new URL(request.url).searchParams.get("token") ?? "";
  return /^[\w-]{1,1000}$/.test(token) ? token : "";
};

const linkExpired = (): Response =>
  renderNotice(410, "Expired link", "This link has been used, has expired, or is incomplete.");

function guarded(handler: (request: Request, db: Database) => Promise<Response>) {
  return async ({ db }: Parts<"db">, request: Request): Promise<Response> => {
    if (isFromSandbox(request.headers)) {
      return renderNotice(403, "Request refused", "This cannot be used from a sandbox.");
    }
    if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) {
      return renderNotice(413, "Request refused", "The request is too large.");
    }
    try {
      return await handler(request, db);
    } catch (error) {
      const isOutage = isDatabaseUnavailable(error);
      log().error({ err: error, route: "/delivery" }, "A page of deliveries failed");
      return isOutage
        ? renderNotice(503, "Service unavailable", "Try again in a moment.")
        : renderNotice(500, "Something went wrong", "Try again.");
    }
  };
}
