/** The port that every provider of web search implements. */
import type { SearchAnswer, SearchFailure, SearchRequest } from "@platform/agent/tools/search";
import type { Checkable } from "@platform/kit/outbound/probe";

export interface SearchProvider extends Checkable {
  readonly name: "embedded" | "brave" | "exa" | "searxng";
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer | SearchFailure>;
}
