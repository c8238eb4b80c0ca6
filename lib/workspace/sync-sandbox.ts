/**
 * Makes the folder `workspace` of a sandbox and the workspace equal: first the changes of the
 * sandbox are stored, then newer files are written to it. It can be interrupted at any point and
 * repeated. The sandbox is hostile: its paths, sizes and contents are checked, and none of its
 * files determines which versions are stored. This file is long because both directions change the
 * known state of the sandbox, in an order that matters.
 */
import { posix } from "node:path";
import { type AppError, isAppError } from "@platform/endpoint/contract/app-error";
import { cutName } from "@platform/kit/cut-name";
import {
  type ExpectedFile,
  type FolderEntry,
  isSandboxError,
  MAX_TREE_ENTRIES,
  type Sandbox,
  SandboxError,
  type SandboxFiles,
} from "@platform/sandbox/port";
import type { Parts } from "../parts.ts";
import {
  type Checkout,
  type CurrentFile,
  type GivenFile,
  type LoadedCheckout,
  loadCheckout,
  saveCheckout,
} from "./checkout-store.ts";
import { type ChangedFile, changeFile, FILE_CHANGED, type WorkspacePlace } from "./store.ts";
import { type ReceivedFile, receiveFile, storeFile } from "./store-content.ts";
import { isWorkspacePath, MAX_FILE_BYTES } from "./workspace-file.ts";

/** Relative to the sandbox's home. */
const WORKSPACE_FOLDER = "workspace";

/** How many copies of a file one run stores on one day. */
const MAX_COPIES = 100;

const MKDIR_DEADLINE_MS = 10_000;

/** More are not named. */
const MAX_NAMED = 20;

export interface SyncReport {
  /** Files that were stored as they are; an earlier attempt's are not named. */
  readonly stored: readonly { readonly path: string; readonly size: number }[];
  /** Files at whose path another version was stored in the meantime. */
  readonly conflicts: readonly { readonly path: string; readonly stored_as: string }[];
  /** Files that could not be transferred. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

export interface Sync extends Checkout {
  readonly runId: string;
  /** Whether the changes of the sandbox are stored. */
  readonly writes: boolean;
  /** Whether the turn continues, and may change files. */
  readonly isDirty: boolean;
}

interface SandboxParts {
  readonly files: SandboxFiles;
  readonly sandbox: Sandbox;
}

export async function syncSandbox(
  app: Parts<"db" | "contentStorage">,
  parts: SandboxParts,
  sync: Sync,
): Promise<SyncReport> {
  const loaded = await loadCheckout(app.db, sync, sync.runId);
  // The artist was deleted, or the account may no longer act for it.
  if (isAppError(loaded)) return { stored: [], conflicts: [], skipped: [] };
  if (loaded.is_foreign) await removeIfThere(parts.files, WORKSPACE_FOLDER);
  try {
    return await new SandboxSync(app, parts, sync, loaded).run();
  } catch (error) {
    if (!isSandboxError(error) || error.code !== "too_large") throw error;
    const reason = `it has more than ${MAX_TREE_ENTRIES} files and folders`;
    const skipped = [{ path: WORKSPACE_FOLDER, reason }];
    return { stored: [], conflicts: loaded.conflicts, skipped };
  }
}

class SandboxSync {
  readonly #app: Parts<"contentStorage" | "db">;
  readonly #parts: SandboxParts;
  readonly #sync: Sync;
  readonly #place: WorkspacePlace;
  #loaded: LoadedCheckout;
  #current: Map<string, CurrentFile>;
  /** The files of the sandbox, by path. */
  readonly #given: Map<string, GivenFile>;
  readonly #changed = new Map<string, GivenFile>();
  readonly #removed = new Set<string>();
  readonly #skipped: { path: string; reason: string }[] = [];
  readonly #stored: { path: string; size: number }[] = [];
  /** Paths at which the sandbox has something that is not stored, which must stay. */
  readonly #unstored = new Set<string>();
  #hasStored = false;
  /** Whether a command has changed a file while files were exchanged. The next exchange stores it. */
  #isOvertaken = false;

  constructor(
    app: Parts<"contentStorage" | "db">,
    parts: SandboxParts,
    sync: Sync,
    loaded: LoadedCheckout,
  ) {
    this.#app = app;
    this.#parts = parts;
    this.#sync = sync;
    this.#place = sync;
    this.#loaded = loaded;
    this.#current = byPath(loaded.files);
    this.#given = byPath(loaded.given);
  }

  async run(): Promise<SyncReport> {
    const { writes, isDirty, runId } = this.#sync;
    const entries = await this.#list();
    // A sandbox without the folder has lost it, or was given none: this deletes no file.
    if (entries === null) for (const path of this.#given.keys()) this.#forget(path);
    else if (writes) await this.#store(entries);
    if (this.#hasStored) {
      const loaded = await loadCheckout(this.#app.db, this.#sync, runId);
      if (!isAppError(loaded)) this.#loaded = loaded;
      this.#current = byPath(this.#loaded.files);
    }
    // Changes that cannot be stored are replaced by the workspace's content.
    const expectedAt = (path: string) => (writes ? (entries?.get(path) ?? null) : undefined);
    await this.#give(expectedAt);
    const { revision, conflicts } = this.#loaded;
    const removed = [...this.#removed];
    const hasChanges = isDirty || this.#isOvertaken;
    await saveCheckout(
      this.#app.db,
      this.#sync,
      revision,
      hasChanges,
      [...this.#changed.values()],
      removed,
    );
    // Not before: in an empty folder, all files that the sandbox was given would count as deleted.
    if (entries === null && this.#skipped.every(({ path }) => path !== WORKSPACE_FOLDER)) {
      const limits = { timeoutMs: MKDIR_DEADLINE_MS, maxOutputChars: 1_000 };
      await this.#parts.sandbox.run(`mkdir -p ${WORKSPACE_FOLDER}`, limits);
    }
    return { stored: this.#stored.slice(0, MAX_NAMED), conflicts, skipped: this.#skipped };
  }

  async #list(): Promise<Map<string, FolderEntry> | null> {
    try {
      const entries = await this.#parts.files.listTree(WORKSPACE_FOLDER);
      return byPath(entries.filter(({ type }) => type === "file"));
    } catch (error) {
      if (!isSandboxError(error) || !["not_found", "refused"].includes(error.code)) throw error;
      if (error.code === "refused")
        this.#skip(WORKSPACE_FOLDER, "a file is in the place of the folder");
      return null;
    }
  }

  /** Stores the changes of the sandbox. */
  async #store(entries: ReadonlyMap<string, FolderEntry>): Promise<void> {
    await this.#nameOthers();
    const known = new Map<string, number>();
    for (const { bytes, modified_at } of this.#given.values()) {
      const key = `${bytes} ${modified_at}`;
      known.set(key, (known.get(key) ?? 0) + 1);
    }
    for (const [path, given] of this.#given) {
      if (!entries.has(path)) await this.#storeDeletion(path, given);
    }
    for (const [path, entry] of entries) {
      const given = this.#given.get(path);
      const isAsGiven = given?.bytes === entry.size && given.modified_at === entry.modifiedAt;
      // One that is like another file may have been replaced by it.
      if (isAsGiven && known.get(`${entry.size} ${entry.modifiedAt}`) === 1) continue;
      if (!isWorkspacePath(path)) this.#skip(path, "its path is not allowed");
      else if (entry.size > MAX_FILE_BYTES) this.#skip(path, "it is larger than 100 MiB");
      else {
        await this.#unlessRefused(path, () =>
          receiveFile(bounded(this.#parts.files.readStream(inFolder(path))), (file) =>
            this.#storeChange(path, entry, file),
          ),
        );
      }
    }
  }

  /** Links and special files are left out of the list. */
  async #nameOthers(): Promise<void> {
    const command = `find ${WORKSPACE_FOLDER} ! -type f ! -type d | head -n ${MAX_NAMED}`;
    const { stdout, exitCode } = await this.#parts.sandbox.run(command, {
      timeoutMs: 10_000,
      maxOutputChars: 10_000,
    });
    if (exitCode !== 0) return;
    for (const line of stdout.split("\n")) {
      const path = line.slice(WORKSPACE_FOLDER.length + 1);
      if (path !== "") this.#skip(path, "it is not a regular file");
    }
  }

  async #storeDeletion(path: string, given: GivenFile): Promise<void> {
    const current = this.#current.get(path);
    if (current && !differs(current, given)) {
      const { runId } = this.#sync;
      const change = { path, contentId: null, runId, expected: given.version };
      await changeFile(this.#app.db, this.#place, change);
      this.#hasStored = true;
    }
    this.#forget(path);
  }

  async #storeChange(path: string, entry: FolderEntry, file: ReceivedFile): Promise<void> {
    const given = this.#given.get(path);
    const current = this.#current.get(path);
    const { bytes, sha256 } = file;
    const found = { path, sha256, bytes, modified_at: entry.modifiedAt };
    if (file.sha256 === given?.sha256) return this.#keep({ ...given, ...found });
    if (file.sha256 === current?.sha256) return this.#keep({ ...found, version: current.version });
    const { runId } = this.#sync;
    const expected = current ? (given?.version ?? 0) : 0;
    const isSame = !current || (given && !differs(current, given));
    const stored = isSame
      ? await storeFile(this.#app, this.#place, file, { path, runId, expected })
      : FILE_CHANGED;
    this.#hasStored = true;
    if (stored !== FILE_CHANGED) {
      if (isAppError(stored)) this.#skip(path, stored.message);
      else {
        this.#keep({ ...found, version: stored.file.version });
        this.#stored.push({ path, size: bytes });
      }
      return;
    }
    const copy = await this.#storeCopy(path, file);
    // The sandbox then gets both versions.
    if (isAppError(copy)) this.#skip(path, copy.message);
    else this.#keep({ ...found, version: 0 });
  }

  /** Stores a version beside the file. A run that meets several conflicts at a path keeps all of them. */
  async #storeCopy(path: string, file: ReceivedFile): Promise<ChangedFile | AppError> {
    const { runId } = this.#sync;
    for (let number = 1; ; number++) {
      const copyPath = conflictPath(path, runId, number);
      const change = { path: copyPath, runId, expected: 0, conflictOf: path };
      const copy = await storeFile(this.#app, this.#place, file, change);
      if (copy !== FILE_CHANGED || number === MAX_COPIES) return copy;
    }
  }

  /** Writes newer files to the sandbox, and removes deleted ones, unless a command has changed them since. */
  async #give(expectedAt: (path: string) => ExpectedFile | undefined): Promise<void> {
    for (const path of [...this.#given.keys()]) {
      if (this.#current.has(path) || this.#unstored.has(path)) continue;
      await this.#unlessRefused(path, async () => {
        await removeIfThere(this.#parts.files, inFolder(path), expectedAt(path));
        this.#forget(path);
      });
    }
    for (const [path, current] of this.#current) {
      const given = this.#given.get(path);
      if ((given && !differs(current, given)) || this.#unstored.has(path)) continue;
      const { version, sha256, bytes } = current;
      await this.#unlessRefused(path, async () => {
        const content = this.#app.contentStorage.read({
          workspaceId: current.workspace_id,
          contentId: current.content_id,
        });
        const expected = expectedAt(path);
        const { modifiedAt } = await this.#parts.files.writeStream(
          inFolder(path),
          content,
          expected,
        );
        this.#keep({ path, version, sha256, bytes, modified_at: modifiedAt });
      });
    }
  }

  /** Names the file if the sandbox refuses it. A sandbox that is out of reach ends the transfer. */
  async #unlessRefused(path: string, transfer: () => Promise<void>): Promise<void> {
    try {
      await transfer();
    } catch (error) {
      if (!isSandboxError(error) || ["busy", "unavailable"].includes(error.code)) throw error;
      if (error.code === "changed") this.#isOvertaken = true;
      else this.#skip(path, REASONS[error.code] ?? "the sandbox refuses it");
    }
  }

  #keep(file: GivenFile): void {
    this.#given.set(file.path, file);
    this.#changed.set(file.path, file);
    this.#removed.delete(file.path);
  }

  #forget(path: string): void {
    this.#given.delete(path);
    this.#changed.delete(path);
    this.#removed.add(path);
  }

  #skip(path: string, reason: string): void {
    this.#unstored.add(path);
    if (this.#skipped.length < MAX_NAMED)
      this.#skipped.push({ path: cutName(path, { characters: 500, bytes: 2_000 }), reason });
  }
}

const REASONS: Partial<Record<SandboxError["code"], string>> = {
  no_space: "the sandbox has no room for it",
  disk_full: "the service has no disk space left",
  too_large: "it is larger than 100 MiB",
};

const byPath = <T extends { readonly path: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [item.path, item]));

const differs = (
  current: Pick<CurrentFile, "version" | "sha256">,
  given: Pick<GivenFile, "version" | "sha256">,
): boolean => current.version !== given.version || current.sha256 !== given.sha256;

const inFolder = (path: string): string => posix.join(WORKSPACE_FOLDER, path);

async function removeIfThere(
  files: SandboxFiles,
  path: string,
  expected?: ExpectedFile,
): Promise<void> {
  await files.remove(path, expected).catch((error: unknown) => {
    if (!isSandboxError(error) || error.code !== "not_found") throw error;
  });
}

/** A file may grow while it is read. */
async function* bounded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.byteLength;
    if (bytes > MAX_FILE_BYTES) throw new SandboxError("too_large", "The file is too large");
    yield piece;
  }
}

const MAX_STEM_BYTES = 180;

function conflictPath(path: string, runId: string, number: number): string {
  const { dir, name, ext } = posix.parse(path);
  const date = new Date().toISOString().slice(0, 10);
  const stem = cutName(name, { characters: MAX_STEM_BYTES, bytes: MAX_STEM_BYTES });
  const suffix = Buffer.byteLength(ext) <= 30 ? ext : "";
  const run = number === 1 ? runId.slice(-6) : `${runId.slice(-6)} ${number}`;
  return posix.join(dir, `${stem} (conflict ${date} ${run})${suffix}`);
}
