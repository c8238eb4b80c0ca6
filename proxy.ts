import { type NextRequest, NextResponse } from "next/server";
import { createPageCache, guardPage } from "@/lib/http/guard-page.ts";
import { answerUnknownPath, refuseUndecodablePath } from "@/lib/http/unknown-path.ts";

/** Paths that are not pages of the console, or pages with their own policy. */
const NO_PAGE = /^\/(?:api(?:\/|$)|auth\/|connectors\/consent|delivery\/|_next\/|\.well-known\/)/;

/** Paths under which clients of other APIs look for endpoints and metadata that do not exist here. */
const NO_ROUTE = /^\/(?:v1|\.well-known)(?:\/|$)/;

/** Of this process: it evaluates this file once. */
const pageCache = createPageCache();

export function proxy(request: NextRequest): Response | Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const isEngine = pathname.startsWith("/.well-known/workflow/");
  if (!isEngine && NO_ROUTE.test(pathname)) return answerUnknownPath(request);
  const isPage = !NO_PAGE.test(pathname);
  if (isPage) {
    const hasTrailingSlash = pathname.length > 1 && pathname.endsWith("/");
    return hasTrailingSlash ? redirectWithoutSlash(request) : guardPage(pageCache, request);
  }
  // The engine's health check would reveal the version of the runtime.
  if (isEngine && searchParams.has("__health")) return answerUnknownPath(request);
  return isEngine ? NextResponse.next() : refuseUndecodablePath(request);
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
    // `has` cannot select `__health`, because it ignores a parameter without a value.
    "/.well-known/:path*",
    // The console's pages: all paths except those of `NO_PAGE`.
    "/((?!api(?:/|$)|auth/|connectors/consent|delivery/|_next/|\\.well-known/).*)",
  ],
};
