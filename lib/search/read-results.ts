/** Reads the results of a vendor, which are data of strangers: bounded texts, http URLs, and plain days. */

import type { SearchFailure, SearchRequest, SearchResult } from "@platform/agent/tools/search";
import {
  fetchJson,
  type UpstreamAnswer,
  type UpstreamQuestion,
} from "@platform/kit/outbound/fetch-json";
import { z } from "zod";

export const MAX_RESULTS = 10;
const MAX_TITLE_CHARS = 300;
const MAX_URL_CHARS = 2_048;
const MAX_EXCERPT_CHARS = 800;
const TIMEOUT_MS = 20_000;

const text = (limit: number) =>
  z
    .string()
    .nullish()
    .transform((given) =>
      (given ?? "")
        .replace(/[\p{Cc}\s]+/gu, " ")
        .trim()
        .slice(0, limit),
    );

/** A result of a vendor, whose fields were given these names. */
const vendorResult = z
  .object({
    title: text(MAX_TITLE_CHARS),
    url: z.url({ protocol: /^https?$/ }).max(MAX_URL_CHARS),
    date: z.string().nullish(),
    excerpt: text(MAX_EXCERPT_CHARS),
  })
  .transform(({ date, ...rest }): SearchResult => {
    const day = /^\d{4}-\d\d-\d\d/.exec(date ?? "")?.[0] ?? null;
    return { ...rest, date: day, title: rest.title || new URL(rest.url).hostname };
  });

/** Returns the results that are valid and that the request allows, as not every vendor filters exactly. */
export function readResults(
  given: readonly unknown[],
  { domains, since }: SearchRequest,
): SearchResult[] {
  const found = given.flatMap((result) => vendorResult.safeParse(result).data ?? []);
  const allowed = found.filter(
    ({ url, date }) =>
      (domains.length === 0 || domains.some((domain) => isOf(new URL(url).hostname, domain))) &&
      (since === null || date === null || date >= since),
  );
  const unique = new Map(allowed.map((result) => [result.url, result]));
  return [...unique.values()].slice(0, MAX_RESULTS);
}

const isOf = (host: string, domain: string): boolean =>
  host === domain || host.endsWith(`.${domain}`);

/** Resolves to the JSON of a search, as the schema reads it. */
export async function askVendor<S extends z.ZodType>(
  url: URL,
  question: Pick<UpstreamQuestion, "headers" | "body">,
  schema: S,
  signal: AbortSignal,
): Promise<z.output<S> | SearchFailure> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const answer = await fetchJson(url, { ...question, vendor: "search", deadline });
  if (answer.kind !== "json") return { failure: failureOf(answer) };
  const parsed = schema.safeParse(answer.body);
  return parsed.success ? parsed.data : { failure: "has failed at its vendor" };
}

function failureOf(answer: Exclude<UpstreamAnswer, { kind: "json" }>): string {
  if (answer.kind === "timeout") return "took too long";
  if (answer.kind === "refused" && answer.status === 429) {
    return "was refused, because too many were made: wait before you search again";
  }
  if (answer.kind === "refused" && (answer.status === 401 || answer.status === 403)) {
    return "is not set up correctly: tell the user that an operator must correct it";
  }
  return "has failed at its vendor";
}

/** Returns the query with the operator that most search engines know. */
export const withSites = ({ query, domains }: SearchRequest): string =>
  domains.length === 0
    ? query
    : `${query} (${domains.map((domain) => `site:${domain}`).join(" OR ")})`;
