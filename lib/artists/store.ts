/**
 * Artists in the database (supabase/schemas/20_organizations.sql). Every function takes the account; an
 * artist that it may not act for answers exactly like a missing one.
 * @throws DatabaseUnavailable from every function here.
 */

import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { clearedFields } from "@platform/endpoint/contract/fields";
import {
  type Page,
  type PageRequest,
  pageArguments,
  pageOf,
} from "@platform/endpoint/contract/pagination";
import { refusalOf } from "@platform/endpoint/contract/refusal";
import { z } from "zod";
import { rowOf } from "../platform/database/columns.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { type Artist, artist } from "./artist.ts";
import type { ArtistChanges, NewArtist } from "./contract.ts";

const MAX_ARTISTS = 1_000;

const storedArtist = rowOf(artist, { account_id: "id" });
const found = z.object({ artist: storedArtist }).transform((answer) => answer.artist);

const refusal = refusalOf({
  missing: appError("not_found", "Artist not found"),
  not_owner: appError("not_owner", "Only an owner of the organization can delete this artist"),
  organization: appError("access_denied", "Access denied to specified organization_id"),
  viewer: appError("access_denied", "A viewer of the organization cannot change this artist"),
  full: appError("quota_exceeded", "There are too many artists: delete one to make room"),
});

/** Errors: 403 for an organization that the account does not belong to, or at the limit. */
export function insertArtist(
  db: Database,
  accountId: string,
  values: NewArtist,
): Promise<Artist | AppError> {
  const args = {
    accountId,
    name: values.name,
    label: values.label ?? null,
    image: values.image ?? null,
    catalogArtistId: values.catalog_artist_id ?? null,
    organizationId: values.organization_id ?? null,
    max: MAX_ARTISTS,
  };
  return call(db, "create_artist", args, z.union([found, refusal]));
}

/** Returns the artist of the account that has the name, or creates it. Errors: 403 at the limit. */
export function findOrInsertArtist(
  db: Database,
  accountId: string,
  { name, label }: { readonly name: string; readonly label: string },
): Promise<Artist | AppError> {
  const args = { accountId, name, label, max: MAX_ARTISTS };
  return call(db, "find_or_create_artist", args, z.union([found, refusal]));
}

/** @param organizationId limits the list to one organization */
export function selectArtists(
  db: Database,
  accountId: string,
  organizationId: string | undefined,
  page: PageRequest,
): Promise<Page<Artist>> {
  const args = { accountId, organizationId: organizationId ?? null };
  return call(db, "list_artists", { ...args, ...pageArguments(page) }, pageOf(storedArtist, page));
}

/** Errors: 404 `Artist not found`. */
export function selectArtist(
  db: Database,
  accountId: string,
  id: string,
): Promise<Artist | AppError> {
  return call(db, "get_artist", { accountId, id }, z.union([found, refusal]));
}

/** Errors: 404 `Artist not found`, 403 for a viewer. */
export function updateArtist(
  db: Database,
  accountId: string,
  id: string,
  changes: ArtistChanges,
): Promise<Artist | AppError> {
  const args = {
    accountId,
    id,
    name: changes.name ?? null,
    label: changes.label ?? null,
    image: changes.image ?? null,
    catalogArtistId: changes.catalog_artist_id ?? null,
    clear: clearedFields(changes),
  };
  return call(db, "update_artist", args, z.union([found, refusal]));
}

/** The files of its media go with the retention job. Errors: 403 for members, 404. */
export function removeArtist(
  db: Database,
  accountId: string,
  id: string,
): Promise<AppError | undefined> {
  const done = z.object({ done: z.literal(true) }).transform(() => undefined);
  return call(db, "delete_artist", { accountId, id }, z.union([done, refusal]));
}
