import type { Contract } from "./contract/contract.ts";
import { effectsOf, type OwnRequest, segmentsOf } from "./contract/effects.ts";
import { normalizeInput } from "./contract/normalize-input.ts";

interface Pattern {
  readonly segments: readonly string[];
  readonly members: readonly Contract[];
}

const noFindings = { onConflict: () => {}, onUnknown: () => {} };

/** A name in braces matches any segment. */
const isParameter = (segment: string): boolean => segment.startsWith("{");

const matches = ({ segments }: Pattern, given: readonly string[]): boolean =>
  segments.length === given.length &&
  segments.every((segment, place) => isParameter(segment) || segment === given[place]);

/** Orders the more literal path first, as the router does. */
const byLiterals = (a: Pattern, b: Pattern): number => {
  const place = a.segments.findIndex(
    (one, at) => isParameter(one) !== isParameter(b.segments[at] ?? ""),
  );
  return isParameter(a.segments[place] ?? "") ? 1 : -1;
};

/** Returns a function that understands a request as the router and the endpoints of these contracts do. */
export function createJudge(contracts: readonly Contract[]) {
  const patterns: readonly Pattern[] = Object.entries(
    Object.groupBy(contracts, ({ path }) => path),
  ).map(([path, members = []]) => ({ segments: path.split("/").slice(1), members }));
  /**
   * Returns null if no operation is like the request.
   * @param body the text of the body
   * @param isStored as in `effectsOf`
   */
  return (
    method: string,
    url: URL,
    body: string | undefined,
    isStored: (url: URL) => boolean,
  ): OwnRequest | null => {
    const given = segmentsOf(url.pathname);
    const pattern = given && patterns.filter((one) => matches(one, given)).sort(byLiterals)[0];
    const contract = pattern?.members.find(
      (one) => one.method === (method === "HEAD" ? "GET" : method),
    );
    if (!given || !pattern || !contract) return null;
    const clean = new URL(url);
    clean.pathname = `/${given.map(encodeURIComponent).join("/")}`;
    const params = Object.fromEntries(
      pattern.segments.flatMap((segment, place) =>
        isParameter(segment) ? [[segment.slice(1, -1), given[place] ?? ""]] : [],
      ),
    );
    const value = bodyOf(contract, body);
    const schema = contract.body;
    const parsed = schema?.safeParse(normalizeInput(schema, value, noFindings));
    // The endpoint refuses an invalid body before it has an effect.
    const effects = effectsOf(contract, parsed?.data, isStored);
    return { contract, url: clean, params, body: value, effects };
  };
}

function bodyOf({ body, byteBodyLimit }: Contract, text = ""): unknown {
  if (byteBodyLimit !== undefined) return text;
  if (!body) return undefined;
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
