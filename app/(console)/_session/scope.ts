/**
 * The scope of new work: an artist, and the organization that owns it. This browser stores one for
 * each account that signs in.
 */
import { useMemo, useSyncExternalStore } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import { sessionEmail } from "./auth.ts";

type Named = Readonly<{ id: string; name: string }>;
interface ChosenArtist extends Named {
  /** Of its drawn picture (`Cover`). */
  readonly seed: string;
}
export interface Scope {
  /** Null for all artists. */
  readonly artist: ChosenArtist | null;
  /** Null for the person's own account. */
  readonly organization: Named | null;
}

const PREFIX = "scope ";
const everything: Scope = { artist: null, organization: null };

const keyOf = (): string => PREFIX + (sessionEmail() ?? "");
const readText = (): string => localStorage.getItem(keyOf()) ?? "";

function parse(text: string): Scope {
  try {
    const { artist, organization } = Object(JSON.parse(text));
    const { seed } = Object(artist);
    const named = namedIn(artist);
    return {
      artist: named && { ...named, seed: typeof seed === "string" ? seed : named.name },
      organization: namedIn(organization),
    };
  } catch {
    return everything;
  }
}

function namedIn(value: unknown): Named | null {
  const { id, name } = Object(value);
  return typeof id === "string" && typeof name === "string" ? { id, name } : null;
}

function save(scope: Scope): void {
  try {
    localStorage.setItem(keyOf(), JSON.stringify(scope));
  } catch {
    // Storage is full or blocked: the choice is lost, and nothing else.
  }
  dispatchEvent(new Event("storage"));
}

/** The seed of an artist's generated cover: the catalog's id, so the catalog shows the same one. */
export const coverSeed = (artist: Pick<Artist, "catalog_artist_id" | "name">): string =>
  artist.catalog_artist_id ?? artist.name;

/** Works for an artist from now on, or for all with null. */
export const chooseArtist = (artist: Artist | null): void =>
  save({
    ...currentScope(),
    artist: artist && { id: artist.account_id, name: artist.name, seed: coverSeed(artist) },
  });

/** Works in an organization from now on, or in the own account with null. Its artists are others. */
export const chooseOrganization = (organization: Named | null): void =>
  save({ artist: null, organization });

export const currentScope = (): Scope => parse(readText());

/** Returns the fields of `POST /api/sessions` that set the scope. */
export function scopeOfSession() {
  const { artist, organization } = currentScope();
  return {
    ...(artist === null ? {} : { artistId: artist.id }),
    ...(organization === null ? {} : { organization_id: organization.id }),
  };
}

/** Calls the listener when another tab changes the local storage, and for each `storage` event of this one. */
export function subscribeToStorage(listener: () => void): () => void {
  addEventListener("storage", listener);
  return () => removeEventListener("storage", listener);
}

export function useScope(): Scope {
  const text = useSyncExternalStore(subscribeToStorage, readText, () => "");
  return useMemo(() => parse(text), [text]);
}
