import { answerUnknownPath, refuseUndecodablePath } from "@platform/endpoint/unknown-path";
import { type NextRequest, NextResponse } from "next/server";
import { createPageCache, guardPage } from "@/lib/http/guard-page.ts";
import { currentDatabase } from "@/lib/platform/database/create-database.ts";

/** Of the API, which answers its unknown paths itself, and routes beside it, which have their own headers. */
const ROUTE =
  /^\/(?:api(?:\/.*)?|auth\/v1\/[^/].*|auth\/developer(?:\/mail)?|connectors\/consent|delivery\/(?:confirm|unsubscribe))$/;
const ENGINE = /^\/\.well-known\/workflow\/v1\/(?:flow|step|webhook\/[^/]+)$/;

/** Folders without pages: below them are the routes above, and no page answers for the paths that do not exist. */
const NO_PAGES = /^\/(?:auth|connectors\/consent|delivery|v1|\.well-known)(?:\/|$)/;

/** Of this process: it evaluates this file once. */
const pageCache = createPageCache();

export function proxy(request: NextRequest): Response | Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (ROUTE.test(pathname)) return refuseUndecodablePath(request) ?? NextResponse.next();
  if (ENGINE.test(pathname)) {
    // The engine's health check would reveal the version of the runtime.
    return searchParams.has("__health") ? answerUnknownPath(request) : NextResponse.next();
  }
  if (NO_PAGES.test(pathname)) return answerUnknownPath(request);
  const hasTrailingSlash = pathname.length > 1 && pathname.endsWith("/");
  return hasTrailingSlash
    ? redirectWithoutSlash(request)
    : guardPage(currentDatabase(), pageCache, request);
}

/** Redirects to the page without the trailing slash. */
function redirectWithoutSlash(request: NextRequest): Response {
  const target = new URL(request.url);
  target.pathname = target.pathname.replace(/\/+$/, "");
  return NextResponse.redirect(target, 308);
}

export const config = {
  matcher: [
    // Of the API, only paths with an escape; all others go directly to their route.
    "/api/:path(.*%.*)",
    // Everything else but the files of the build: every page gets its headers here.
    "/((?!api(?:/|$)|_next/).*)",
  ],
};
