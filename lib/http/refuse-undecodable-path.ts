import { NextResponse } from "next/server";
import { appError } from "../contract/app-error.ts";
import { errorResponse } from "./error-response.ts";
import { requestIdOf, withSharedHeaders } from "./shared-headers.ts";

const notDecodable = appError("invalid_request", "The path is not well-formed");

/** Responds with a JSON 400 to a path like `/api/keys/%FF`, to which Next responds with a bare 500. */
export function refuseUndecodablePath(request: Request): Response {
  try {
    decodeURIComponent(new URL(request.url).pathname);
    return NextResponse.next();
  } catch {
    const response = errorResponse(notDecodable, "error");
    return withSharedHeaders(response, requestIdOf(request.headers), false);
  }
}
