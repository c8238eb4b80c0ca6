/** Requests that a page of another origin makes in a person's browser, without the person. */
import { serviceOrigin } from "../platform/service-origin.ts";
import { addressOf } from "./address.ts";

/** Returns whether a page of another origin sends the request. Programs that are no browsers send neither header. */
export function isFromForeignPage(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = headers.get("origin");
  if (origin === null || origin === serviceOrigin()) return false;
  // The console under another name of this machine.
  return URL.parse(origin)?.host !== headers.get("host");
}

/** Returns the bucket of an address limit, in which foreign pages of a person's browser are apart from the person. */
export const senderOf = (headers: Headers): string =>
  isFromForeignPage(headers) ? `${addressOf(headers)} by another site` : addressOf(headers);
