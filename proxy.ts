import type { NextRequest } from "next/server";
import { guardPage } from "@/lib/http/guard-page.ts";
import { refuseUndecodablePath } from "@/lib/http/refuse-undecodable-path.ts";

export function proxy(request: NextRequest): Response {
  const isApi = request.nextUrl.pathname.startsWith("/api/");
  return isApi ? refuseUndecodablePath(request) : guardPage(request);
}

export const config = {
  matcher: [
    // Of the API only paths with an escape: all others go straight to their route.
    "/api/:path(.*%.*)",
    // The console's pages. What is excluded answers no page, or one with a policy of its own.
    "/((?!api(?:/|$)|auth/|connectors/consent|_next/|\\.well-known/|reference/).*)",
  ],
};
