/**
 * Headers of every answer of this process, whoever makes it: a route, a page, a file, a redirect or
 * an error of Next's own. On Vercel, where no server of ours listens, `next.config.ts` and the
 * platform (which adds HSTS itself) have the same.
 */
import { subscribe } from "node:diagnostics_channel";
import { ServerResponse } from "node:http";
import { config } from "../platform/config.ts";

const ONE_YEAR_SECONDS = 31_536_000;

/** From now on no answer's type is guessed, and browsers keep to https where PUBLIC_URL is https. */
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
