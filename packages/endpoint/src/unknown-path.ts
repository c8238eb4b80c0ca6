/** Responses to requests that reach no route. */

import { log } from "@platform/kit/log";
import { appError } from "./contract/app-error.ts";
import { errorResponse } from "./error-response.ts";
import { preflight, requestIdOf, withSharedHeaders } from "./shared-headers.ts";

const notFound = appError("not_found", "Not found");
const notDecodable = appError("invalid_request", "The path is not well-formed");

/** Responds with a JSON 404, and to a browser's preflight with success, so a page can read it. */
export async function answerUnknownPath(request: Request): Promise<Response> {
  const requestId = requestIdOf(request.headers);
  if (request.method === "OPTIONS") {
    return preflight("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", requestId);
  }
  log().info({ requestId, method: request.method, route: null, status: 404 }, "request");
  return withSharedHeaders(errorResponse(notFound, "error"), requestId, false);
}

/** Responds with a JSON 400 to a path like `/api/keys/%FF`, to which Next responds with a bare 500; null to others. */
export function refuseUndecodablePath(request: Request): Response | null {
  if (isDecodable(new URL(request.url).pathname)) return null;
  const response = errorResponse(notDecodable, "error");
  return withSharedHeaders(response, requestIdOf(request.headers), false);
}

/** Returns whether every escape of a path is UTF-8. */
export function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
