/**
 * Security headers of every response of this process: of routes, pages, files, redirects and of Next's
 * own errors. On Vercel, which has no server of ours, `next.config.ts` and the platform set them.
 */
import { subscribe } from "node:diagnostics_channel";
import { ServerResponse } from "node:http";
import { config } from "../platform/config.ts";

const ONE_YEAR_SECONDS = 31_536_000;

/** Adds `nosniff` to every response from now on, and HSTS where PUBLIC_URL is https. */
export function secureResponses(): void {
  const isHttps = config().PUBLIC_URL?.startsWith("https:") ?? false;
  subscribe("http.server.request.start", (message) => {
    if (typeof message !== "object" || message === null || !("response" in message)) return;
    const { response } = message;
    if (!(response instanceof ServerResponse)) return;
    response.setHeader("x-content-type-options", "nosniff");
    if (isHttps) response.setHeader("strict-transport-security", `max-age=${ONE_YEAR_SECONDS}`);
  });
}
