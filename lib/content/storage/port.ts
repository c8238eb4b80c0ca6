/** The port that every storage of generated files implements. */

import type { Checkable } from "@platform/kit/outbound/probe";
import type { MediaKey, MediaType } from "./media-name.ts";

interface StoredFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * A file belongs to an account and never changes. It is public: anyone who knows its URL can read it
 * without a credential, as players and other services must. The 128 random bits of its name keep
 * everyone else out.
 *
 * @throws DatabaseUnavailable when the storage service fails
 */
export interface MediaStorage extends Checkable {
  readonly name: "disk" | "supabase";
  /**
   * Moves the file into the storage under a new key, completely or not at all. Returns its URL. The
   * caller reserves quota first.
   */
  store(
    key: MediaKey,
    file: { readonly path: string; readonly contentType: MediaType },
  ): Promise<string>;
  /** Returns the key in a URL of this storage, `malformed` when it has none, null for other URLs. */
  keyOf(url: URL): MediaKey | "malformed" | null;
  /** Writes a copy to a new file at the path. Resolves to false if the file does not exist. */
  copyTo(key: MediaKey, path: string): Promise<boolean>;
  /** Finds the file on this machine; null when it does not exist or is stored elsewhere. */
  find(key: MediaKey): Promise<StoredFile | null>;
  /** Yields the files on this machine that are older; none when files are stored elsewhere. */
  filesOlderThan(ageMs: number): AsyncGenerator<MediaKey>;
  /** Returns the size of the file in bytes; null if it does not exist. */
  sizeOf(key: MediaKey): Promise<number | null>;
  /** Removes the file. Idempotent. */
  remove(key: MediaKey): Promise<void>;
}

/** Identifies a content of a workspace. Both are UUIDs that this service has created. */
export interface ContentKey {
  readonly workspaceId: string;
  readonly contentId: string;
}

/**
 * The contents of workspaces. Unlike media they are private: no URL leads to them.
 *
 * @throws DatabaseUnavailable when the storage service fails
 */
export interface ContentStorage {
  readonly name: "disk" | "supabase";
  /** Moves the file at the path into the storage. A key always has the same content, so it can be repeated. */
  store(key: ContentKey, path: string): Promise<void>;
  /** Opens the content by reading its first piece. Throws if it does not exist. */
  read(key: ContentKey): AsyncGenerator<Uint8Array>;
  /** Removes the content. Idempotent. */
  remove(key: ContentKey): Promise<void>;
}
