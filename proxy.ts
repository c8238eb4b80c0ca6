import { type NextRequest, NextResponse } from "next/server";
import { answerUnknownPath } from "@/lib/http/answer-unknown-path.ts";
import { guardPage } from "@/lib/http/guard-page.ts";
import { refuseUndecodablePath } from "@/lib/http/refuse-undecodable-path.ts";

/** What answers no page, or one with a policy of its own. */
const NO_PAGE = /^\/(?:api(?:\/|$)|auth\/|connectors\/consent|_next\/|\.well-known\/|reference\/)/;

export function proxy(request: NextRequest): Response | Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const isPage = !NO_PAGE.test(pathname);
  if (pathname.length > 1 && pathname.endsWith("/")) {
    return isPage ? redirectWithoutSlash(request) : answerUnknownPath(request);
  }
  if (isPage) return guardPage(request);
  // The engine's health check would tell strangers the version of the runtime.
  const isEngine = pathname.startsWith("/.well-known/workflow/");
  if (isEngine && searchParams.has("__health")) return answerUnknownPath(request);
  return isEngine ? NextResponse.next() : refuseUndecodablePath(request);
}

/** A link to a page works with a slash at its end, too. */
function redirectWithoutSlash(request: NextRequest): Response {
  const target = new URL(request.url);
  target.pathname = target.pathname.replace(/\/+$/, "");
  return NextResponse.redirect(target, 308);
}

export const config = {
  matcher: [
    // Of the API only paths with an escape: all others go straight to their route.
    "/api/:path(.*%.*)",
    // With a slash at its end, nothing but a page has another name.
    "/:path(.*/)",
    // Not by `has`, which takes a parameter without a value as absent.
    "/.well-known/workflow/:path*",
    // The console's pages. What is excluded is `NO_PAGE`.
    "/((?!api(?:/|$)|auth/|connectors/consent|_next/|\\.well-known/|reference/).*)",
  ],
};
