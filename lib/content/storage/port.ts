/** Where generated files are kept: a port with two adapters. Decisions, section 10. */
import type { GeneratedFile } from "../port.ts";
import type { MediaKey } from "./media-name.ts";

interface StoredFile {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Files are an account's, and public: who knows a URL reads its file without a credential, so that
 * players and other services can; 128 random bits keep everybody else out. A file never changes.
 *
 * @throws DatabaseUnavailable when the service that keeps the files fails
 */
export interface MediaStorage {
  readonly name: "disk" | "supabase";
  /**
   * Takes the file under a new key, whole or not at all; it is gone from its folder. Returns its URL.
   * What is stored is counted before: see `storeResults`.
   */
  store(key: MediaKey, file: GeneratedFile): Promise<string>;
  /** What a URL of this storage names; `malformed` names nothing; null is no URL of this storage. */
  keyOf(url: URL): MediaKey | "malformed" | null;
  /** Writes a copy to a path at which nothing is; false when there is no such file. */
  copyTo(key: MediaKey, path: string): Promise<boolean>;
  /** The file on this machine; null when it does not exist or is kept elsewhere. */
  find(key: MediaKey): Promise<StoredFile | null>;
  /** Every media file on this machine that was last written longer ago; none kept elsewhere. */
  filesOlderThan(ageMs: number): AsyncGenerator<MediaKey>;
  /** Bytes of the file; null when there is none. */
  sizeOf(key: MediaKey): Promise<number | null>;
  /** Removes the file. Idempotent. */
  remove(key: MediaKey): Promise<void>;
}
