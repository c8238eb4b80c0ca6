export interface SearchRequest {
  readonly query: string;
  /** Hosts that results must be of, with their subdomains; empty for any. */
  readonly domains: readonly string[];
  /** The first day that results may be of, as YYYY-MM-DD; null for any. */
  readonly since: string | null;
}

export interface SearchResult {
  readonly title: string;
  /** An http or https URL. */
  readonly url: string;
  /** The day of publication as YYYY-MM-DD; null if it is unknown. */
  readonly date: string | null;
  readonly excerpt: string;
}

export interface SearchAnswer {
  /** At most ten, the best first. */
  readonly results: readonly SearchResult[];
  /** The name of an index that stands in for the web; absent for a vendor's answer. */
  readonly source?: string;
  /** The cost of the search in USD; null if the vendor's price is not known. */
  readonly costUsd: number | null;
}

export interface SearchFailure {
  /** The end of a sentence that starts with "The search", and is safe to show. */
  readonly failure: string;
}
