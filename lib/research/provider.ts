/** The port to artist research: one adapter asks a web API, the other the project's database. */

import type { AppError } from "../contract/app-error.ts";
import { config } from "../platform/config.ts";
import { createEmbeddedResearch } from "./adapters/embedded.ts";
import { createRemoteResearch } from "./adapters/web-api.ts";
import type { ResearchTrack } from "./contract.ts";

export type ArtistKey = { readonly id: string } | { readonly name: string };

export interface ResearchProvider {
  readonly name: "embedded" | "web-api";
  /** Errors: 404 `Artist not found`, 429, 501, 502, 504 with `Request failed with status N`. */
  listTracks(artist: ArtistKey): Promise<readonly ResearchTrack[] | AppError>;
}

declare global {
  // Its answers are shared by all who ask; `next dev` evaluates a module again and again.
  var agentPlatformResearch: ResearchProvider | undefined;
}

export function researchProvider(): ResearchProvider {
  globalThis.agentPlatformResearch ??= createProvider();
  return globalThis.agentPlatformResearch;
}

function createProvider(): ResearchProvider {
  const { RESEARCH_API_KEY, RESEARCH_BASE_URL, LOOKUP_TIMEOUT_MS } = config();
  if (!RESEARCH_API_KEY) return createEmbeddedResearch();
  return createRemoteResearch({
    apiKey: RESEARCH_API_KEY,
    baseUrl: RESEARCH_BASE_URL,
    timeoutMs: LOOKUP_TIMEOUT_MS,
  });
}
