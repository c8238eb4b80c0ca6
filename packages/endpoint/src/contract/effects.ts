/**
 * The effects of requests to this service. The agent's tool `fetch` asks for approval before a request, and
 * the endpoint refuses unapproved ones of a run (`authorize` of the service). Both judge by this file.
 */
import type { ApprovalCategory } from "./approvals.ts";
import type { Contract } from "./contract.ts";

interface RequestEffects {
  /** The kinds of effects, each once; empty for none. */
  readonly categories: readonly ApprovalCategory[];
  /** The hosts of others that the service connects to for the request. */
  readonly hosts: readonly string[];
}

/**
 * @param body as the contract's schema has parsed it
 * @param isStored whether a URL is of this service's own storage, which it reads without a request
 */
export function effectsOf(
  { effect, urls = [] }: Contract,
  body: unknown,
  isStored: (url: URL) => boolean,
): RequestEffects {
  const given = urls.flatMap((field): unknown => Reflect.get(Object(body), field));
  const foreign = given.flatMap((value) => {
    const url = typeof value === "string" ? URL.parse(value) : null;
    return url && !isStored(url) ? [url.host] : [];
  });
  const hosts = [...new Set(foreign)];
  const categories = [...(effect ? [effect] : []), ...(hosts.length > 0 ? ["fetch" as const] : [])];
  return { categories, hosts };
}

/**
 * Returns the segments of a path, decoded; null for a path with a segment that is empty, a dot segment, or has a
 * slash, a backslash or a control character: servers disagree about where such a path leads.
 */
export function segmentsOf(pathname: string): string[] | null {
  try {
    const segments = pathname.split("/").slice(1).map(decodeURIComponent);
    return segments.every((one) => /^[^/\\\p{Cc}]+$/u.test(one) && !/^\.\.?$/.test(one))
      ? segments
      : null;
  } catch {
    return null;
  }
}

/** A request of an agent to this service, as it is judged and then made. */
export interface OwnRequest {
  readonly contract: Contract;
  /** With the path in its one form. */
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  /** The parsed JSON; the text where the endpoint takes bytes, and undefined where it takes no body. */
  readonly body: unknown;
  readonly effects: RequestEffects;
}
