/**
 * The port of sandboxes. A sandbox belongs to one session and outlives the turn and the server process:
 * the next turn reads the files of the previous one.
 */
import type { TurnPolicies } from "@platform/kit/network-policy";
import type { Checkable } from "@platform/kit/outbound/probe";

export interface CommandOptions {
  /** Working directory, absolute or relative to the sandbox's home. */
  readonly cwd?: string;
  /** The environment of the command, in addition to the sandbox's own fixed variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Deadline in milliseconds; the command is killed when it passes. */
  readonly timeoutMs: number;
  /** Longer stdout and stderr are each cut at this many characters. */
  readonly maxOutputChars: number;
  readonly signal?: AbortSignal;
  /** Gets the output piece by piece while the command runs, as far as the sandbox has it before the end. */
  readonly onOutput?: ((stream: "stdout" | "stderr", text: string) => void) | undefined;
}

export interface CommandResult {
  /** 124 after the deadline, 137 when the command was killed for its memory or by `signal`. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether stdout or stderr was cut at `maxOutputChars`. */
  readonly truncated: boolean;
}

/** Marks the class, of which each separately bundled part of the server has its own copy. */
const SANDBOX_ERROR = Symbol.for("agent-platform.SandboxError");

/**
 * An operation that the sandbox refuses or cannot do, such as the read of a missing file. The code
 * `changed` means that a path has another file than expected, `busy` that too many requests of the account
 * wait for a process, `incomplete` that the content of a file ended before its end, `no_space` that the
 * account's quota is used up, and `disk_full` that the machine itself has no room.
 */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly [SANDBOX_ERROR] = true;
  readonly code:
    | "not_found"
    | "refused"
    | "changed"
    | "no_space"
    | "disk_full"
    | "too_large"
    | "incomplete"
    | "busy"
    | "unavailable";
  constructor(code: SandboxError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export function isSandboxError(error: unknown): error is SandboxError {
  return error instanceof Error && SANDBOX_ERROR in error;
}

/** A `readFile` or `writeFile` of more bytes fails with `too_large`. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** A `writeStream` of more bytes fails with `too_large`. */
export const MAX_STREAMED_BYTES = 100 * 1024 * 1024;

/** A `listFolder` returns no more entries. */
export const MAX_LISTED_ENTRIES = 1_000;

/** A `listTree` of more entries fails with `too_large`. */
export const MAX_TREE_ENTRIES = 10_000;

export interface FolderEntry {
  /** Relative to the folder that was listed. */
  readonly path: string;
  /** In `listFolder` the type of a link is its target's. Links without a target are not listed. */
  readonly type: "file" | "directory";
  /** In bytes; 0 for a directory. */
  readonly size: number;
  /** ISO 8601, UTC, milliseconds. */
  readonly modifiedAt: string;
}

/** The listed state of a path before a change: the file, or null for none. */
export type ExpectedFile = Pick<FolderEntry, "size" | "modifiedAt"> | null;

interface FolderListing {
  /** The folder's absolute path inside the sandbox. */
  readonly path: string;
  /** In the byte order of their names. */
  readonly entries: readonly FolderEntry[];
  /** Whether the folder has more than `MAX_LISTED_ENTRIES`. */
  readonly truncated: boolean;
}

export interface WrittenFile {
  /** Absolute inside the sandbox. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** ISO 8601, UTC, milliseconds. */
  readonly modifiedAt: string;
  /** False when the file replaced another one. */
  readonly isNew: boolean;
}

/**
 * Access to the files from outside. Reads never wait for a command; changes may wait for earlier ones.
 * Paths as in `Sandbox`.
 */
export interface SandboxFiles {
  /** Throws a SandboxError: `not_found` for a missing folder, `refused` for a file. */
  listFolder(path: string): Promise<FolderListing>;
  /**
   * Lists all that is below a folder, each folder before its entries; links are left out. Throws as
   * `listFolder`, and `too_large` for more than `MAX_TREE_ENTRIES`.
   */
  listTree(path: string): Promise<readonly FolderEntry[]>;
  /**
   * Without a file of this exact name, reads the one whose name differs only in its Unicode normalization. Throws a
   * SandboxError: `not_found` for a missing file, `refused` for a folder.
   */
  readFile(path: string): Promise<Uint8Array>;
  /** Reads a file of any size piece by piece. Throws as `readFile`. */
  readStream(path: string): AsyncIterable<Uint8Array>;
  /**
   * Creates missing parent folders, and replaces the whole file at once when all of the content is there.
   * Holds no more of the content than a few pieces, and leaves nothing behind when it fails: with a
   * SandboxError, or with the error of `content`.
   * @param expected anything else at the path stays: `changed`
   */
  writeStream(
    path: string,
    content: AsyncIterable<Uint8Array>,
    expected?: ExpectedFile,
  ): Promise<WrittenFile>;
  /**
   * Removes a file, or a folder with all that is in it. Throws a SandboxError: `not_found`, and `refused`
   * for the home and for paths outside the sandbox.
   * @param expected as for `writeStream`
   */
  remove(path: string, expected?: ExpectedFile): Promise<void>;
}

/** Paths are absolute inside the sandbox or relative to its home, and never lead outside. */
export interface Sandbox {
  /**
   * Resolves with the result, even if the command fails, is killed or prints too much. Throws a
   * SandboxError: `unavailable` when the sandbox is gone or out of reach, or `busy`.
   */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /** As in `SandboxFiles`. */
  readFile(path: string): Promise<Uint8Array>;
  /** Creates missing parent folders and replaces the whole file. Throws a SandboxError. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
}

/** The session's `sandbox_state`, which never contains a secret. */
export interface SandboxState {
  readonly provider: "local" | "system" | "vercel";
  /** The provider's own name for the sandbox. */
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601, or null for a sandbox that lives until it is deleted. */
  readonly expiresAt: string | null;
  /** How long provisioning took, in milliseconds. */
  readonly readyMs: number;
}

export interface SandboxProvider extends Checkable {
  readonly name: SandboxState["provider"];
  /** The programs of the sandbox, for the description of a tool: separated by commas, at most 300 characters. */
  readonly programs: string;
  /** Creates the session's sandbox, or returns the existing one. */
  provision(sessionId: string, accountId: string): Promise<SandboxState>;
  /**
   * Opens a provisioned sandbox. No work is done until one of its methods is called.
   * @param accountId the account whose share of the machine the commands use.
   * @param policies the hosts that the commands may reach, among those the operator allows. Default: all
   */
  open(state: SandboxState, accountId: string, policies?: TurnPolicies): Sandbox;
  /** Opens the files only, as cheaply as `open`. */
  openFiles(state: SandboxState, accountId: string): SandboxFiles;
  /** `active` means usable now or after a resume, `expired` that the files are gone. */
  status(state: SandboxState): Promise<"active" | "stopped" | "expired">;
  /** Stops the sandbox and deletes its files. Idempotent. */
  destroy(state: SandboxState): Promise<void>;
  /** The sandboxes on this machine's disk; absent for a sandbox service. */
  readonly folders?: SandboxFolders;
}

export interface SandboxFolders {
  /**
   * Returns whether the folders belong to the database with this id, which is the first one that
   * asks. A server that is pointed at another database must not delete them as orphans.
   */
  belongsTo(installationId: string): Promise<boolean>;
  /** Returns the ids of sessions whose folder was last changed longer ago. */
  namesOlderThan(ageMs: number): Promise<readonly string[]>;
  /** Measures a session's files in bytes; null when this machine has no folder for it. */
  bytesOf(sessionId: string): Promise<number | null>;
}

/** Disk space, which is reserved for the files of a session before commands run. */
export interface SandboxSpace {
  /** Throws when nothing can be reserved at present. */
  reserve(sessionId: string, wantedBytes: number): Promise<ReservedSpace>;
}

export interface ReservedSpace {
  /** The limit for all of the session's files; at most the requested one. */
  readonly grantedBytes: number;
  /** Replaces the reservation by the measured size of the files. */
  settle(bytes: number): Promise<void>;
}
