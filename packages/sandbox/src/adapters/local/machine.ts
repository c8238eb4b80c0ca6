/** The folders of all sandboxes on this machine, and the jails that serve them. */
import { mkdirSync, readdirSync, realpathSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import type { TurnPolicies } from "@platform/kit/network-policy";
import {
  type CommandOptions,
  type CommandResult,
  MAX_FILE_BYTES,
  type ReservedSpace,
  SandboxError,
  type SandboxSpace,
  type SandboxState,
} from "../../port.ts";
import type { NetworkRules } from "../network-rules.ts";
import { bytesOf, createFolder, isFolder, removeFolder, TEMPORARY } from "./folders.ts";
import type { Outcome } from "./jail.ts";
import { JailPool, type PoolRequest } from "./jail-pool.ts";

/** Reads and changes of a file that take longer fail. */
export const FILE_TIMEOUT_MS = 30_000;
/** Bounds the time to measure a folder and the memory of its file system. */
export const MAX_FILES = 20_000;

/** The settings of sandboxes on this machine. */
export interface LocalProviderOptions extends NetworkRules {
  /** The folder that contains one folder per session. */
  readonly rootDir: string;
  /** The limit for the files of one session, in bytes. */
  readonly diskQuota: number;
  /** Limits the sandboxes of an account together; absent for no limit. */
  readonly space?: SandboxSpace | undefined;
  /** The limit for commands at a time; one account gets at most half of them. Default: 16. */
  readonly maxJails?: number;
  /** Whether a sandbox that is provisioned starts its process ahead of the first command. Default: true. */
  readonly startsAhead?: boolean;
  /** How long a command waits for a slot, in milliseconds. Default: 5 minutes. */
  readonly maxWaitMs?: number;
}

/** Runs the commands of sandboxes in place of the jail's shell. */
export interface CommandRunner {
  readonly provider: Exclude<SandboxState["provider"], "vercel">;
  /**
   * Runs a command, which ends at the signal.
   * @param folder the session's, with `home` and `tmp`
   */
  run(
    folder: string,
    command: string,
    options: CommandOptions & { readonly policies?: TurnPolicies | undefined },
    limits: { readonly maxBytes: number; readonly maxFiles: number },
  ): Promise<CommandResult>;
  /** Deletes a session's folder, in which a command of another server may still run. */
  remove(folder: string): Promise<void>;
}

/** Serves the sandboxes of one folder. */
export class LocalMachine {
  readonly rootDir: string;
  readonly options: LocalProviderOptions;
  readonly runner: CommandRunner | undefined;
  readonly #pool: JailPool;
  /** The space of the sessions whose files are being written, and by how many jails and commands. */
  readonly #reserved = new Map<
    string,
    { readonly space: Promise<ReservedSpace> | undefined; writers: number }
  >();

  constructor(options: LocalProviderOptions, runner: CommandRunner | undefined) {
    mkdirSync(options.rootDir, { recursive: true });
    this.rootDir = realpathSync(options.rootDir);
    this.options = options;
    this.runner = runner;
    // Left over by a server that died while it created or deleted them.
    for (const name of readdirSync(this.rootDir)) {
      if (name.startsWith(TEMPORARY)) void this.#remove(join(this.rootDir, name)).catch(() => {});
    }
    const { maxJails = 16, maxWaitMs = 300_000 } = options;
    this.#pool = new JailPool({ maxJails, maxWaitMs }, this);
  }

  dirOf(sessionId: string): string {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(sessionId)) throw new Error("Malformed sandbox name");
    return join(this.rootDir, sessionId);
  }

  has(sessionId: string): Promise<boolean> {
    return isFolder(this.dirOf(sessionId));
  }

  async check(sessionId: string): Promise<void> {
    if (!(await this.has(sessionId))) throw new SandboxError("unavailable", "The sandbox is gone");
  }

  create(sessionId: string): Promise<void> {
    return createFolder(this.dirOf(sessionId), this.#remove);
  }

  async destroy(sessionId: string): Promise<void> {
    this.#pool.stop(sessionId);
    this.#reserved.delete(sessionId);
    // Renamed first, so a session that is provisioned again starts with an empty folder.
    const doomed = join(
      /* turbopackIgnore: true */ this.rootDir,
      `${TEMPORARY}${sessionId}-${process.pid}-${Date.now()}`,
    );
    const renamed = await rename(this.dirOf(sessionId), doomed).then(
      () => true,
      () => false,
    );
    if (renamed) await this.#remove(doomed);
  }

  /** Starts the jail ahead of the first command, if there is room. */
  warmUp(accountId: string, sessionId: string): void {
    if (this.options.startsAhead === false || !this.#pool.hasRoom(accountId)) return;
    const noop = { op: "run", command: ":", cwd: ".", env: {}, maxOutputChars: 0 } as const;
    const given = { accountId, sessionId, request: noop, timeoutMs: FILE_TIMEOUT_MS };
    this.request(given).catch(() => {});
  }

  /** Sends a request to the session's jail, or runs it in the place of one. Throws a SandboxError. */
  async request(given: PoolRequest): Promise<Outcome> {
    const outcome = await this.#pool.request(given).catch((error) => {
      if (!isQueueRefusal(error)) throw error;
      throw new SandboxError("busy", "Too many commands of the account are waiting");
    });
    if (outcome.op === "ended" && outcome.why === "unready") {
      throw new SandboxError("unavailable", "The sandbox did not start");
    }
    return outcome;
  }

  /**
   * Reserves space for the files of a session, of which all that write at a time share one reservation. The last
   * `settle` measures them.
   */
  async reserve(sessionId: string) {
    const { space, diskQuota } = this.options;
    const shared = this.#reserved.get(sessionId) ?? {
      space: space?.reserve(sessionId, diskQuota),
      writers: 0,
    };
    this.#reserved.set(sessionId, shared);
    shared.writers += 1;
    const settle = async () => {
      shared.writers -= 1;
      if (shared.writers > 0) return;
      if (this.#reserved.get(sessionId) === shared) this.#reserved.delete(sessionId);
      // The retention job stores a size that cannot be stored now.
      const reserved = await shared.space?.catch(() => undefined);
      const bytes = (await bytesOf(this.dirOf(sessionId), diskQuota)) ?? 0;
      await reserved?.settle(bytes).catch(() => {});
    };
    try {
      return { bytes: (await shared.space)?.grantedBytes ?? diskQuota, settle };
    } catch (cause) {
      await settle();
      throw new SandboxError("unavailable", `The sandbox's space could not be reserved: ${cause}`);
    }
  }

  readonly #remove = (folder: string): Promise<void> =>
    (this.runner?.remove ?? removeFolder)(folder);

  async planJail(sessionId: string) {
    const { allowedHosts, serviceOrigin } = this.options;
    const space = await this.reserve(sessionId);
    return {
      settings: {
        dir: this.dirOf(sessionId),
        diskQuota: space.bytes,
        maxFiles: MAX_FILES,
        maxFileBytes: MAX_FILE_BYTES,
        allowedHosts,
        serviceOrigin,
      },
      onExit: () => void space.settle(),
    };
  }
}
