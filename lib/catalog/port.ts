/** The port that every music catalog implements. */

import type { AppError } from "@platform/endpoint/contract/app-error";
import type { Checkable } from "@platform/kit/outbound/probe";
import type { AlbumGroup, AlbumRecord, Findings, Found, Kind } from "./records.ts";

export interface SearchQuery {
  readonly q: string;
  readonly kinds: readonly Kind[];
  /** ISO 3166-1 alpha-2; null for no restriction. */
  readonly market: string | null;
  readonly limit: number;
  readonly offset: number;
}

export interface AlbumsQuery {
  readonly artistId: string;
  readonly groups: readonly AlbumGroup[];
  readonly market: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** Errors: 404, 429 with `retry-after`, 502, 504. No error names the provider. */
export interface CatalogProvider extends Checkable {
  readonly name: "embedded" | "web-api";
  /** The name of an index that replaces a vendor's catalog; absent for a vendor's. */
  readonly source?: string;
  search(query: SearchQuery): Promise<Findings | AppError>;
  listAlbums(query: AlbumsQuery): Promise<Found<AlbumRecord> | AppError>;
  /** Returns the URL of a public page about the item; null when the provider has no such pages. */
  pageOf(kind: Kind, id: string): string | null;
}
