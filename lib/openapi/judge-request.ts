import type { Contract } from "@platform/endpoint/contract/contract";
import { effectsOf, type OwnRequest, segmentsOf } from "@platform/endpoint/contract/effects";
import { normalizeInput } from "@platform/endpoint/contract/normalize-input";
import { contracts } from "./registry.ts";

const patterns = Object.entries(Object.groupBy(contracts, ({ path }) => path)).map(
  ([path, members = []]) => ({ segments: path.split("/").slice(1), members }),
);
type Pattern = (typeof patterns)[number];

const noFindings = { onConflict: () => {}, onUnknown: () => {} };

/** A name in braces stands for any segment. */
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

/**
 * Returns a request to this service as its router and its endpoint understand it; null if no operation is like that.
 * @param body the text of the body
 * @param isStored as in `effectsOf`
 */
export function judgeRequest(
  method: string,
  url: URL,
  body: string | undefined,
  isStored: (url: URL) => boolean,
): OwnRequest | null {
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
