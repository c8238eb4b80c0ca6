/**
 * The format of a backup: a tar archive, compressed with gzip. Its first entry is `backup.json` with
 * the header, its last one `checksum.json`; between them are the files and folders of a `DATA_DIR`, and the
 * symbolic links of its sandboxes. The database is in `postgres` as the files of its cluster, or in
 * `database.dump` as `pg_dump` has written it.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { RESTORING } from "../data-dir.ts";

export const HEADER = "backup.json";
export const CHECKSUM = "checksum.json";
/** Of the database; it never becomes a file of a `DATA_DIR`. */
export const DUMP = "database.dump";

/** Entries that a restore has in `DATA_DIR` until it is complete. No backup has entries of these names. */
export const RESTORE_FILES: readonly string[] = [RESTORING, "lock", "lock.pid"];

const common = {
  createdAt: z.iso.datetime(),
  /** The major version of PostgreSQL. */
  postgres: z.int(),
  /** The versions of the applied migrations. */
  migrations: z.array(z.string()),
};
/** By `npm run backup`: only the same major version can read the files of the cluster. */
const clusterSchema = z.object({ format: z.literal(1), ...common });
/** By `bin/backup`, with the major version of `pg_dump` and the login that owns the tables. */
const dumpSchema = z.object({
  format: z.literal(2),
  ...common,
  pgDump: z.int(),
  login: z.string(),
});
export const headerSchema = z.discriminatedUnion("format", [clusterSchema, dumpSchema]);
export type BackupHeader = z.output<typeof headerSchema>;
export type ClusterHeader = z.output<typeof clusterSchema>;

export const checksumSchema = z.object({
  /** The number of entries between the header and the checksum. */
  entries: z.int(),
  /** Of all entries before the checksum, in their order, with their names and modes. */
  sha256: z.string(),
});

/** Returns whether an entry of this name may be a symbolic link: only commands of sandboxes make them. */
export const mayBeLink = (name: string): boolean => /^sandboxes\/[^/]+\/(home|tmp)\/./s.test(name);

export interface EntryFacts {
  readonly type: "file" | "directory" | "symlink";
  /** The path below `DATA_DIR`. */
  readonly name: string;
  /** The permission bits. */
  readonly mode: number;
  /** The bytes of the content, which for a link is its target. */
  readonly size: number;
}

/** Computes the checksum of an archive while it is written or read. */
export class ArchiveDigest {
  readonly #hash = createHash("sha256");
  #entries = -1;

  begin({ type, name, mode, size }: EntryFacts): void {
    this.#hash.update(`${JSON.stringify([type, name, mode, size])}\n`);
    this.#entries += 1;
  }

  content(chunk: Uint8Array): void {
    this.#hash.update(chunk);
  }

  end(): z.output<typeof checksumSchema> {
    return { entries: this.#entries, sha256: this.#hash.digest("hex") };
  }
}
