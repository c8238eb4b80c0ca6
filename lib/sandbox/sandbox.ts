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

/** A file operation the sandbox refuses or cannot do: a missing file, a full disk, a path outside. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: "not_found" | "refused" | "no_space" | "too_large" | "unavailable";
  constructor(code: SandboxError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Most bytes that one `readFile` or `writeFile` moves; more is `too_large`. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

/** Paths are absolute inside the sandbox or relative to its home; none reaches outside it. */
export interface Sandbox {
  /**
   * A command that fails, is killed or prints too much is a result, not an exception.
   * @throws SandboxError `unavailable` when the sandbox is gone or cannot be reached
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
  /** Makes the sandbox of this session, or answers the one that is there. */
  provision(sessionId: string): Promise<SandboxState>;
  /** Opens a provisioned sandbox; cheap, no work until a method of it is called. */
  open(state: SandboxState): Sandbox;
  /** `active`: would answer now or after a resume; `expired`: its files are gone. */
  status(state: SandboxState): Promise<"active" | "stopped" | "expired">;
  /** Stops it and deletes its files. Idempotent. */
  destroy(state: SandboxState): Promise<void>;
}
