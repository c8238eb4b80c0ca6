/**
 * The checks of every request for a page of the console: the limit of its address, the pages that are
 * rendered once, and the security headers, with a content security policy and no framing.
 */

import { randomBytes } from "node:crypto";
import { rateHeaders } from "@platform/endpoint/contract/rate-limit";
import { isDecodable } from "@platform/endpoint/unknown-path";
import { createTtlCache } from "@platform/kit/ttl-cache";
import { NextResponse } from "next/server.js";
import { mediaOrigin } from "../content/storage/media-origin.ts";
import { limitPages } from "../identity/credentials/resolve-caller.ts";
import { config } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import { addressOf } from "./address.ts";

export async function guardPage(
  db: Database,
  cache: PageCache,
  request: Request,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (!isDecodable(pathname)) {
    return new Response("The path is not well-formed\n", {
      status: 400,
      headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    });
  }
  const cacheNonce = nonceOfCache(cache, request.headers);
  const refusal = cacheNonce === null ? await refusePage(db, request.headers) : null;
  if (refusal) return refusal;
  const nonce = cacheNonce ?? randomBytes(16).toString("base64");
  const policy = pagePolicy(nonce);
  const response =
    (cacheNonce === null && (await cachedPage(cache, request, nonce))) ||
    continueWith(request, policy);
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
async function refusePage(db: Database, headers: Headers): Promise<Response | null> {
  const rate = await limitPages(db, addressOf(headers)).catch(() => null);
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
    // Code is highlighted and PDFs are drawn in workers.
    "worker-src 'self'",
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The console's folders of pages, besides the first page. Other paths are unknown. */
export const PAGE_FOLDERS: ReadonlySet<string> = new Set([
  ...["artists", "catalog", "chat", "connectors", "content", "dev", "docs", "files"],
  ...["invitations", "keys", "playground", "runs", "schedules", "settings", "share"],
  ...["skills", "templates", "usage"],
]);
/** Files beside the pages. Next appends a hash to the name of the icon. */
const FILES = /^\/(?:favicon\.ico|icon[\w-]*\.svg)$/;
/** Stands for all unknown paths. */
const UNKNOWN_PATH = "/no-such-page";

const TTL_MS = 10 * 60 * 1000;
/** All documents in one theme, each some hundred kilobytes. */
const MAX_PAGES = 100;
const RENDER_TIMEOUT_MS = 10_000;

interface RenderedPage {
  readonly status: number;
  readonly type: string;
  readonly html: string;
  /** False for a path below a known one that does not exist, of which there are any number. */
  readonly isKept: boolean;
}

interface PageCache {
  /** Its value proves that a request is the cache's own. */
  readonly secret: string;
  /** The nonce of cached pages, which each response replaces with its own. */
  readonly nonce: string;
  readonly pages: ReturnType<typeof createTtlCache<RenderedPage | null>>;
}

export const createPageCache = (): PageCache => ({
  secret: randomBytes(32).toString("base64url"),
  nonce: randomBytes(32).toString("base64url"),
  pages: createTtlCache<RenderedPage | null>({
    ttlMs: TTL_MS,
    maxEntries: MAX_PAGES,
    shouldKeep: (page) => page?.isKept ?? false,
  }),
});

const SECRET_HEADER = "x-page-cache";

/** Returns the nonce for a page that the cache itself asks for, else null. */
function nonceOfCache({ secret, nonce }: PageCache, headers: Headers): string | null {
  return headers.get(SECRET_HEADER) === secret ? nonce : null;
}

/**
 * Returns the page with this nonce, or null for a page that is rendered for each request. The documentation
 * and the page for unknown paths depend on no account and are rendered once: that takes 50 to 160 ms of CPU,
 * and anyone may ask for it.
 */
async function cachedPage(
  { pages, secret, nonce: placeholder }: PageCache,
  request: Request,
  nonce: string,
): Promise<Response | null> {
  const { SELF_ORIGIN: origin, NODE_ENV } = config();
  const path = cacheablePath(request);
  if (path === null || origin === undefined || NODE_ENV !== "production") return null;
  const cookie = shownCookies(request.headers);
  const page = await pages.get(`${path} ${cookie}`, () =>
    render(new URL(path, origin), { cookie, [SECRET_HEADER]: secret }).catch(() => null),
  );
  if (page === null) return null;
  return new Response(page.html.replaceAll(placeholder, nonce), {
    status: page.status,
    headers: { "content-type": page.type, "cache-control": "no-store" },
  });
}

async function render(url: URL, headers: Record<string, string>): Promise<RenderedPage | null> {
  const signal = AbortSignal.timeout(RENDER_TIMEOUT_MS);
  const response = await fetch(url, { headers, signal, redirect: "manual", cache: "no-store" });
  const type = response.headers.get("content-type") ?? "";
  const html = await response.text();
  const { status } = response;
  if (![200, 404].includes(status) || !type.startsWith("text/html")) return null;
  return { status, type, html, isKept: status === 200 || url.pathname === UNKNOWN_PATH };
}

/** Null for a page of an account, and for a request of the router, which is not a document. */
function cacheablePath({ method, url, headers }: Request): string | null {
  const { pathname, search } = new URL(url);
  if ((method !== "GET" && method !== "HEAD") || headers.has("rsc") || FILES.test(pathname)) {
    return null;
  }
  const [, folder = ""] = pathname.split("/");
  if (folder !== "" && !PAGE_FOLDERS.has(folder)) return UNKNOWN_PATH;
  return folder === "docs" && search === "" ? pathname : null;
}

/** The cookies that the frame of a page depends on. */
function shownCookies(headers: Headers): string {
  const cookies = headers.get("cookie") ?? "";
  const theme = /(?:^|;\s*)theme=(light|dark)(?:;|$)/.exec(cookies)?.[1];
  return [
    ...(theme === undefined ? [] : [`theme=${theme}`]),
    ...(/(?:^|;\s*)signed-in=/.test(cookies) ? ["signed-in=1"] : []),
  ].join("; ");
}
