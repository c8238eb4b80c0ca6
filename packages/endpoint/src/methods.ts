/**
 * The exports of a route file: its handlers, `OPTIONS`, and a JSON 405 for every other method,
 * which Next would answer with an empty body and no `allow`.
 *
 * `export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods({ GET: …, POST: … });`
 */
import { appError } from "./contract/app-error.ts";
import type { Method } from "./contract/contract.ts";
import { errorResponse } from "./error-response.ts";
import { preflight, requestIdOf, withSharedHeaders } from "./shared-headers.ts";

type RouteContext = { params: Promise<Record<string, string | string[] | undefined>> };
export type RouteHandler = (request: Request, context: RouteContext) => Promise<Response>;

export function methods(
  handlers: Partial<Record<Method, RouteHandler>>,
): Record<Method | "HEAD" | "OPTIONS", RouteHandler> {
  const names = Object.keys(handlers);
  const allow = [...names, ...(handlers.GET ? ["HEAD"] : []), "OPTIONS"].join(", ");
  const refuse: RouteHandler = async (request) => {
    const error = appError("method_not_allowed", "Method not allowed", { headers: { allow } });
    return withSharedHeaders(errorResponse(error, "error"), requestIdOf(request.headers), false);
  };
  const answerOptions: RouteHandler = async (request) =>
    preflight(allow, requestIdOf(request.headers));
  return {
    GET: handlers.GET ?? refuse,
    HEAD: handlers.GET ? withoutBody(handlers.GET) : refuse,
    POST: handlers.POST ?? refuse,
    PUT: handlers.PUT ?? refuse,
    PATCH: handlers.PATCH ?? refuse,
    DELETE: handlers.DELETE ?? refuse,
    OPTIONS: answerOptions,
  };
}

/** Responds like `GET` without a body. It cancels the body, because an unread stream never ends. */
function withoutBody(get: RouteHandler): RouteHandler {
  return async (request, context) => {
    const response = await get(request, context);
    await response.body?.cancel();
    return new Response(null, { status: response.status, headers: response.headers });
  };
}
