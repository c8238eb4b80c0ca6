/**
 * The checks of every request for a page of the console: the limit of its address, the pages that are
 * rendered once, and the security headers, with a content security policy and no framing.
 */
import { randomBytes } from "node:crypto";
import { NextResponse } from "next/server";
import { mediaOrigin } from "../content/storage/media-origin.ts";
import { rateHeaders } from "../contract/rate-limit.ts";
import { limitPages } from "../identity/credentials/limit-anonymous.ts";
import { config } from "../platform/config.ts";
import { addressOf } from "./address.ts";
import { cachedPage, nonceOfCache } from "./page-cache.ts";
import { isDecodable } from "./unknown-path.ts";

export async function guardPage(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (!isDecodable(pathname)) {
    return new Response("The path is not well-formed\n", {
      status: 400,
      headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    });
  }
  const cacheNonce = nonceOfCache(request.headers);
  const refusal = cacheNonce === null ? await refusePage(request.headers) : null;
  if (refusal) return refusal;
  const nonce = cacheNonce ?? randomBytes(16).toString("base64");
  const policy = pagePolicy(nonce);
  const response =
    (cacheNonce === null && (await cachedPage(request, nonce))) || continueWith(request, policy);
  response.headers.set("content-security-policy", policy);
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("x-frame-options", "DENY");
  // The address of a shared chat is the secret that opens it.
  const isShare = pathname.startsWith("/share/");
  response.headers.set("referrer-policy", isShare ? "no-referrer" : "same-origin");
  if (isShare) response.headers.set("x-robots-tag", "noindex, nofollow");
  response.headers.set("cross-origin-opener-policy", "same-origin");
  response.headers.set(
    "permissions-policy",
    "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  );
  return response;
}

/** Next adds the nonce to its own scripts when the request's headers contain the policy. */
function continueWith(request: Request, policy: string): Response {
  const headers = new Headers(request.headers);
  headers.set("content-security-policy", policy);
  return NextResponse.next({ request: { headers } });
}

/** A page says itself that the database is away. */
async function refusePage(headers: Headers): Promise<Response | null> {
  const rate = await limitPages(addressOf(headers)).catch(() => null);
  if (rate === null || rate.retry_after === null) return null;
  return new Response("Too many requests\n", {
    status: 429,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "retry-after": String(rate.retry_after),
      "x-content-type-options": "nosniff",
      ...rateHeaders(rate),
    },
  });
}

function pagePolicy(nonce: string): string {
  const isDevelopment = config().NODE_ENV === "development";
  const media = mediaOrigin() === null ? "" : ` ${mediaOrigin()}`;
  return [
    "default-src 'none'",
    // `next dev` evaluates text to show the origin of an error.
    `script-src 'nonce-${nonce}' 'strict-dynamic'${isDevelopment ? " 'unsafe-eval'" : ""}`,
    // The overlay of `next dev` sets styles in ways that no nonce covers.
    `style-src 'self' ${isDevelopment ? "'unsafe-inline'" : `'nonce-${nonce}'`}`,
    `img-src 'self' data: blob:${media}`,
    `media-src 'self' blob:${media}`,
    // Code is highlighted in a worker.
    "worker-src 'self'",
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
