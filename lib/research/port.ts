/** The port that every research provider implements. */

import type { AppError } from "@platform/endpoint/contract/app-error";
import type { Checkable } from "@platform/kit/outbound/probe";
import type { ResearchTrack } from "./contract.ts";

export type ArtistKey = { readonly id: string } | { readonly name: string };

export interface ResearchProvider extends Checkable {
  readonly name: "embedded" | "web-api";
  /** The same as in the port of the catalog. */
  readonly source?: string;
  /** Errors: 404 `Artist not found`, 429, 501, 502, 504 with `Request failed with status N`. */
  listTracks(artist: ArtistKey): Promise<readonly ResearchTrack[] | AppError>;
}
