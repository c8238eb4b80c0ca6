/**
 * Sandboxes on this machine: a session has one folder under `rootDir`, and its commands run in a
 * jailed child process. All state is on disk, so a restart of the server loses nothing, and two
 * servers may serve the same session.
 */
import { mkdirSync, readdirSync, realpathSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { isQueueRefusal } from "../../../platform/fair-queue.ts";
import {
  type CommandOptions,
  MAX_FILE_BYTES,
  MAX_LISTED_ENTRIES,
  MAX_TREE_ENTRIES,
  type Sandbox,
  SandboxError,
  type SandboxFiles,
  type SandboxProvider,
  type SandboxState,
} from "../../port.ts";
import { resultOf } from "./command-result.ts";
import { type CommandRunner, removeFolder } from "./command-runner.ts";
import { createFolder, isFolder, TEMPORARY } from "./create-folder.ts";
import { measureFolder } from "./disk-usage.ts";
import type { Outcome } from "./jail.ts";
import { JailPool, type PoolRequest } from "./jail-pool.ts";
import type { JailReply, JailRequest } from "./protocol.ts";
import { sandboxFolders } from "./sandbox-folders.ts";
import type { ReservedSpace, SandboxSpace } from "./space.ts";
import { stageUpload } from "./stage-upload.ts";

const FILE_TIMEOUT_MS = 30_000;
/** How long an upload or a removal waits for the session's commands, which take two minutes at most. */
const MAX_CHANGE_WAIT_MS = 150_000;
const PIECE_BYTES = 1024 * 1024;
const IDLE_MS = 60_000;
/** Bounds the time to measure a folder and the memory of its file system. */
const MAX_FILES = 20_000;

export interface LocalProviderOptions {
  /** The folder that contains one folder per session. */
  readonly rootDir: string;
  /** The limit for the files of one session, in bytes. */
  readonly diskQuota: number;
  /** Limits the sandboxes of an account together; absent for no limit. */
  readonly space?: SandboxSpace | undefined;
  /** Hosts that commands may call: `example.com`, `example.com:8443`, `*.example.com`. */
  readonly allowedHosts: readonly string[];
  /** The service's own origin. Commands may call its `/api/`, even at a private address. */
  readonly serviceOrigin?: string | undefined;
  /** The limit for commands at a time; one account gets at most half of them. Default: 16. */
  readonly maxJails?: number;
  /** How long a command waits for a slot, in milliseconds. Default: 5 minutes. */
  readonly maxWaitMs?: number;
}

export function createLocalProvider(
  options: LocalProviderOptions,
  runner?: CommandRunner,
): SandboxProvider {
  mkdirSync(options.rootDir, { recursive: true });
  const rootDir = realpathSync(options.rootDir);
  const remove = runner?.remove ?? removeFolder;
  // Left over by a server that died while it created or deleted them.
  for (const name of readdirSync(rootDir)) {
    if (name.startsWith(TEMPORARY)) void remove(join(rootDir, name)).catch(() => {});
  }
  const dirOf = (name: string) => {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw new Error("Malformed sandbox name");
    return join(rootDir, name);
  };
  const pool = new JailPool(
    {
      maxJails: options.maxJails ?? 16,
      maxWaitMs: options.maxWaitMs ?? 300_000,
      idleMs: IDLE_MS,
    },
    async (name, mayWrite) => {
      const space = await reserve(name, mayWrite);
      return {
        settings: {
          dir: dirOf(name),
          diskQuota: space?.grantedBytes ?? options.diskQuota,
          maxFiles: MAX_FILES,
          maxFileBytes: MAX_FILE_BYTES,
          allowedHosts: options.allowedHosts,
          serviceOrigin: options.serviceOrigin,
        },
        // The retention job stores a size that cannot be stored now.
        onExit: () => {
          if (!space) return;
          void bytesOf(dirOf(name))
            .then(space.settle)
            .catch(() => {});
        },
      };
    },
  );
  async function reserve(name: string, mayWrite: boolean): Promise<ReservedSpace | undefined> {
    if (!mayWrite) return undefined;
    return options.space?.reserve(name, options.diskQuota).catch((cause: unknown) => {
      throw new SandboxError("unavailable", `The sandbox's space could not be reserved: ${cause}`);
    });
  }
  const exists = (name: string) => isFolder(dirOf(name));

  async function checkFolder(name: string): Promise<void> {
    if (!(await exists(name))) throw new SandboxError("unavailable", "The sandbox is gone");
  }

  async function request(
    given: Omit<PoolRequest, "check">,
    send: (given: PoolRequest) => Promise<Outcome> = (given) => pool.request(given),
  ): Promise<Outcome> {
    const check = () => checkFolder(given.sessionId);
    const outcome = await send({ ...given, check }).catch((error) => {
      if (!isQueueRefusal(error)) throw error;
      throw new SandboxError("busy", "Too many commands of the account are waiting");
    });
    if (outcome.op === "ended" && outcome.why === "unready") {
      throw new SandboxError("unavailable", "The sandbox did not start");
    }
    return outcome;
  }

  async function fileRequest<Op extends Exclude<JailRequest["op"], "run">>(
    scope: Scope,
    message: JailRequest & { op: Op },
    send?: (given: PoolRequest) => Promise<Outcome>,
  ): Promise<JailReply & { op: Op }> {
    const timeoutMs = FILE_TIMEOUT_MS;
    const outcome = await request({ ...scope, request: message, timeoutMs }, send);
    if (outcome.op === message.op) return outcome as JailReply & { op: Op };
    if (outcome.op === "error") throw new SandboxError(outcome.code, outcome.message);
    throw new SandboxError("unavailable", "The sandbox did not answer");
  }

  /** Runs a command in the session's turn, as the jail would. */
  async function runWith(
    { run }: CommandRunner,
    sessionId: string,
    command: string,
    given: CommandOptions,
  ): Promise<Outcome> {
    const space = await reserve(sessionId, true);
    const limits = { maxBytes: space?.grantedBytes ?? options.diskQuota, maxFiles: MAX_FILES };
    try {
      return { op: "run", ...(await run(dirOf(sessionId), command, given, limits)) };
    } finally {
      await space?.settle(await bytesOf(dirOf(sessionId))).catch(() => {});
    }
  }

  function open({ name: sessionId }: SandboxState, accountId: string): Sandbox {
    const scope = { accountId, sessionId };
    return {
      async run(command, given) {
        const { cwd, env = {}, timeoutMs, maxOutputChars, signal } = given;
        if (runner) {
          const work = (stop: AbortSignal) =>
            runWith(runner, sessionId, command, { ...given, signal: stop });
          return resultOf(await request({ ...scope, request: work, timeoutMs, signal }), timeoutMs);
        }
        const message = { op: "run", command, cwd, env, maxOutputChars } as const;
        return resultOf(
          await request({ ...scope, request: message, timeoutMs, signal }),
          timeoutMs,
        );
      },
      async readFile(path) {
        return (await fileRequest(scope, { op: "read", path })).content;
      },
      async writeFile(path, content) {
        const bytes = typeof content === "string" ? Buffer.from(content) : content;
        if (bytes.byteLength > MAX_FILE_BYTES) {
          throw new SandboxError("too_large", `File is larger than ${MAX_FILE_BYTES} bytes`);
        }
        await fileRequest(scope, { op: "write", path, content: bytes });
      },
    };
  }

  function openFiles({ name: sessionId }: SandboxState, accountId: string): SandboxFiles {
    const scope = { accountId, sessionId };
    // The signal bounds the wait for a slot too, which the deadline of a request does not.
    const read = (given: PoolRequest) =>
      pool.read({ ...given, signal: AbortSignal.timeout(FILE_TIMEOUT_MS) });
    // Among the commands, whose jail has the reservation of the session's space.
    const change = async (given: PoolRequest) => {
      const signal = AbortSignal.timeout(MAX_CHANGE_WAIT_MS);
      const outcome = await pool.request({ ...given, signal });
      if (!signal.aborted) return outcome;
      throw new SandboxError("busy", "The commands of the session took too long");
    };
    return {
      async listFolder(path) {
        const message = { op: "list", path, maxEntries: MAX_LISTED_ENTRIES } as const;
        const { op: _, ...listing } = await fileRequest(scope, message, read);
        return listing;
      },
      async listTree(path) {
        const message = { op: "tree", path, maxEntries: MAX_TREE_ENTRIES } as const;
        return (await fileRequest(scope, message, read)).entries;
      },
      async readFile(path) {
        return (await fileRequest(scope, { op: "read", path }, read)).content;
      },
      async *readStream(path) {
        for (let offset = 0; ; ) {
          const message = { op: "piece", path, offset, maxBytes: PIECE_BYTES } as const;
          const { content } = await fileRequest(scope, message, read);
          if (content.byteLength > 0) yield content;
          if (content.byteLength < PIECE_BYTES) return;
          offset += content.byteLength;
        }
      },
      async writeStream(path, content) {
        await checkFolder(sessionId);
        return stageUpload(dirOf(sessionId), content, options.diskQuota, async (staged) => {
          const { op: _, ...file } = await fileRequest(
            scope,
            { op: "place", path, staged },
            change,
          );
          return file;
        });
      },
      async remove(path) {
        await fileRequest(scope, { op: "remove", path }, change);
      },
    };
  }

  return {
    name: runner?.provider ?? "local",
    async provision(sessionId, accountId) {
      const started = performance.now();
      await createFolder(dirOf(sessionId), remove);
      // Starts the jail ahead of the first command, if there is room.
      if (pool.hasRoom(accountId)) {
        const noop = { op: "run", command: ":", cwd: ".", env: {}, maxOutputChars: 0 } as const;
        const check = () => checkFolder(sessionId);
        const warmUp = { accountId, sessionId, request: noop, check, timeoutMs: FILE_TIMEOUT_MS };
        pool.request(warmUp).catch(() => {});
      }
      return {
        provider: runner?.provider ?? "local",
        name: sessionId,
        createdAt: new Date().toISOString(),
        expiresAt: null,
        readyMs: Math.round(performance.now() - started),
      };
    },
    open,
    openFiles,
    async status({ name }) {
      return (await exists(name)) ? "active" : "expired";
    },
    async destroy({ name }) {
      pool.stop(name);
      // Renamed first, so a session that is provisioned again starts with an empty folder.
      const doomed = join(
        /* turbopackIgnore: true */ rootDir,
        `${TEMPORARY}${name}-${process.pid}-${Date.now()}`,
      );
      const renamed = await rename(dirOf(name), doomed).then(
        () => true,
        () => false,
      );
      if (renamed) await remove(doomed);
    },
    folders: sandboxFolders(rootDir),
  };
}

/** The account whose slots a request uses, and its session. */
type Scope = Pick<PoolRequest, "accountId" | "sessionId">;

/** Returns 0 for a folder that does not exist. */
const bytesOf = (folder: string): Promise<number> =>
  measureFolder(folder).then(
    ({ bytes }) => bytes,
    () => 0,
  );
