import { appError } from "../contract/app-error.ts";
import { log } from "../platform/log.ts";
import { preflight } from "./cors.ts";
import { errorResponse } from "./error-response.ts";
import { requestIdOf, withSharedHeaders } from "./shared-headers.ts";

const notFound = appError("not_found", "Not found");

/** Responds with a JSON 404, and to a browser's preflight with success, so a page can read it. */
export async function answerUnknownPath(request: Request): Promise<Response> {
  const requestId = requestIdOf(request.headers);
  if (request.method === "OPTIONS") {
    return preflight("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", requestId);
  }
  log().info({ requestId, method: request.method, route: null, status: 404 }, "request");
  return withSharedHeaders(errorResponse(notFound, "error"), requestId, false);
}
