/**
 * The port every sandbox adapter implements. One sandbox belongs to one session and outlives
 * both the turn and the server process: what one turn wrote, the next one reads.
 * Serves the specification's sandbox-only tools and decisions, sections 4 and 5.
 */
export interface CommandOptions {
  /** Working directory, absolute or relative to the sandbox's home. */
  readonly cwd?: string;
  /** The whole environment of the command beside the sandbox's own fixed variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Deadline in milliseconds; the command is killed when it passes. */
  readonly timeoutMs: number;
  /** Most characters kept of stdout and of stderr each. */
  readonly maxOutputChars: number;
  readonly signal?: AbortSignal;
}

export interface CommandResult {
  /** 124 when the deadline passed, 137 when it was killed for memory or by `signal`. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** True when stdout or stderr was cut at `maxOutputChars`. */
  readonly truncated: boolean;
}

/**
 * A file operation the sandbox refuses or cannot do: a missing file, a full disk, a path outside.
 * `busy`: the account has used its share of the sandboxes' processes for too long.
 */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: "not_found" | "refused" | "no_space" | "too_large" | "busy" | "unavailable";
  constructor(code: SandboxError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** By name: the server's parts are bundled apart, and each bundle has a class of its own. */
export function isSandboxError(error: unknown): error is SandboxError {
  return error instanceof Error && error.name === "SandboxError";
}

/** Most bytes that one `readFile` or `writeFile` moves; more is `too_large`. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Most entries that one `listFolder` answers. */
export const MAX_LISTED_ENTRIES = 1_000;

export interface FolderEntry {
  readonly name: string;
  /** A link is what it leads to inside the sandbox; one that leads nowhere is not listed. */
  readonly type: "file" | "directory";
  /** Bytes; 0 of a directory. */
  readonly size: number;
  /** ISO 8601, UTC, milliseconds. */
  readonly modifiedAt: string;
}

interface FolderListing {
  /** The folder's absolute path inside the sandbox. */
  readonly path: string;
  /** By name, in the order of its bytes as UTF-8. */
  readonly entries: readonly FolderEntry[];
  /** True when there are more than `MAX_LISTED_ENTRIES`. */
  readonly truncated: boolean;
}

/**
 * The files as somebody sees them who looks into the sandbox from outside. It never waits for a
 * command that is running. Paths as in `Sandbox`.
 */
export interface SandboxFiles {
  /** A missing folder is `not_found`, a file `refused`. @throws SandboxError */
  listFolder(path: string): Promise<FolderListing>;
  /** A missing file is `not_found`, a folder `refused`. @throws SandboxError */
  readFile(path: string): Promise<Uint8Array>;
}

/** Paths are absolute inside the sandbox or relative to its home; none reaches outside it. */
export interface Sandbox {
  /**
   * A command that fails, is killed or prints too much is a result, not an exception.
   * @throws SandboxError `unavailable` when the sandbox is gone or cannot be reached, `busy`
   */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /** @throws SandboxError */
  readFile(path: string): Promise<Uint8Array>;
  /** Creates parent folders; replaces the file as a whole. @throws SandboxError */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
}

/** What is stored as the session's `sandbox_state`; it never holds a secret. */
export interface SandboxState {
  readonly provider: "local" | "vercel";
  /** The provider's own name of the sandbox. */
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601, or null where the provider lets it live until it is deleted. */
  readonly expiresAt: string | null;
  /** How long provisioning took. */
  readonly readyMs: number;
}

export interface SandboxProvider {
  readonly name: SandboxState["provider"];
  /** Makes the sandbox of this session of the account, or answers the one that is there. */
  provision(sessionId: string, accountId: string): Promise<SandboxState>;
  /**
   * Opens a provisioned sandbox; cheap, no work until a method of it is called.
   * @param accountId whose share of the machine the commands take
   */
  open(state: SandboxState, accountId: string): Sandbox;
  /** Its files beside whatever runs in it; as cheap as `open`. */
  look(state: SandboxState, accountId: string): SandboxFiles;
  /** `active`: would answer now or after a resume; `expired`: its files are gone. */
  status(state: SandboxState): Promise<"active" | "stopped" | "expired">;
  /** Stops it and deletes its files. Idempotent. */
  destroy(state: SandboxState): Promise<void>;
  /** Sandboxes that this machine itself keeps; absent where a service keeps them. */
  readonly kept?: KeptSandboxes;
}

export interface KeptSandboxes {
  /**
   * Whether they are of the database with this id. The first one that asks becomes theirs: a server
   * that is pointed at another database must not take every folder for forsaken.
   */
  belongsTo(installationId: string): Promise<boolean>;
  /** Session ids whose folder was made or changed longer ago than that. */
  namesOlderThan(ageMs: number): Promise<readonly string[]>;
  /** Bytes of a session's files, by a walk; null when this machine has no folder of it. */
  bytesOf(sessionId: string): Promise<number | null>;
}
