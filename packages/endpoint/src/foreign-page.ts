/** Requests that a page of another origin makes in a person's browser, without the person. */

/**
 * Returns whether a page of another origin sends the request. Programs that are no browsers send neither header.
 * @param ownOrigin of the service
 */
export function isFromForeignPage(headers: Headers, ownOrigin: string): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site !== "same-origin" && site !== "none";
  const origin = headers.get("origin");
  if (origin === null || origin === ownOrigin) return false;
  // The console under another name of this machine.
  return URL.parse(origin)?.host !== headers.get("host");
}
