/**
 * The sandbox on this machine: a session's files in one folder under `rootDir`, its commands in a
 * jailed child. Everything that matters is on disk, so a restart of the server loses nothing and
 * two servers may serve the same session.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, realpathSync } from "node:fs";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isQueueRefusal } from "../../../platform/fair-queue.ts";
import {
  type CommandResult,
  MAX_FILE_BYTES,
  MAX_LISTED_ENTRIES,
  type Sandbox,
  SandboxError,
  type SandboxFiles,
  type SandboxProvider,
  type SandboxState,
} from "../../port.ts";
import { measureFolder } from "./disk-usage.ts";
import type { Outcome } from "./jail.ts";
import { JailPool, type PoolRequest } from "./jail-pool.ts";
import { keptSandboxes } from "./kept-sandboxes.ts";
import type { JailReply, JailRequest } from "./protocol.ts";
import type { ReservedSpace, SandboxSpace } from "./space.ts";

const FILE_TIMEOUT_MS = 30_000;
const IDLE_MS = 60_000;
/** What the name of a folder begins with that is being made or deleted. */
const GONE = ".gone-";
const MAKE_ATTEMPTS = 10;
/** A folder walk and the memory of the file system both grow with it. */
const MAX_FILES = 20_000;

export interface LocalProviderOptions {
  /** One folder for each session is made in it. */
  readonly rootDir: string;
  /** Bytes of files one session may hold. */
  readonly diskQuota: number;
  /** Limits what the sandboxes of an account take together; absent for no limit. */
  readonly space?: SandboxSpace | undefined;
  /** Hosts that commands may call: `example.com`, `example.com:8443`, `*.example.com`. */
  readonly allowedHosts: readonly string[];
  /** The service's own origin; commands may call its `/api/`, wherever it is. */
  readonly serviceOrigin?: string | undefined;
  /** Most commands at a time, of all accounts; one account runs at most half as many. Default 16. */
  readonly maxJails?: number;
  /** How long a command waits for its turn among them. Default 5 minutes. */
  readonly maxWaitMs?: number;
}

export function createLocalProvider(options: LocalProviderOptions): SandboxProvider {
  mkdirSync(options.rootDir, { recursive: true });
  const rootDir = realpathSync(options.rootDir);
  // Of a server that died while it deleted them.
  for (const name of readdirSync(rootDir)) {
    if (name.startsWith(GONE)) void remove(join(rootDir, name)).catch(() => {});
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
        // A size that cannot be stored now is stored by the retention job.
        onExit: () => {
          if (space)
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
  const exists = (name: string) =>
    access(join(dirOf(name), "home")).then(
      () => true,
      () => false,
    );

  /** It appears as a whole: another request may be deleting it at this very moment. */
  async function makeFolder(name: string): Promise<void> {
    for (let attempt = 1; !(await exists(name)); attempt++) {
      const fresh = join(rootDir, `${GONE}${randomUUID()}`);
      await mkdir(join(fresh, "home"), { recursive: true });
      await mkdir(join(fresh, "tmp"));
      try {
        return await rename(fresh, dirOf(name));
      } catch (error) {
        // Of two at once, one finds the other's in its place.
        await remove(fresh);
        if (attempt >= MAKE_ATTEMPTS) throw error;
      }
    }
  }

  async function request(
    asked: PoolRequest,
    { beside = false }: { beside?: boolean } = {},
  ): Promise<Outcome> {
    if (!(await exists(asked.sessionId))) {
      throw new SandboxError("unavailable", "The sandbox is gone");
    }
    const outcome = await (beside ? pool.look(asked) : pool.request(asked)).catch((error) => {
      if (!isQueueRefusal(error)) throw error;
      throw new SandboxError("busy", "Too many commands of the account are waiting");
    });
    if (outcome.op === "ended" && outcome.why === "unready") {
      throw new SandboxError("unavailable", "The sandbox did not start");
    }
    return outcome;
  }

  async function fileRequest<Op extends "list" | "read" | "write">(
    { accountId, sessionId }: Whose,
    message: JailRequest & { op: Op },
    options?: { readonly signal: AbortSignal; readonly beside: true },
  ): Promise<JailReply & { op: Op }> {
    const timeoutMs = FILE_TIMEOUT_MS;
    const signal = options?.signal;
    const asked = { accountId, sessionId, request: message, timeoutMs, signal };
    const outcome = await request(asked, options);
    if (outcome.op === message.op) return outcome as JailReply & { op: Op };
    if (outcome.op === "error") throw new SandboxError(outcome.code, outcome.message);
    throw new SandboxError("unavailable", "The sandbox did not answer");
  }

  function open({ name: sessionId }: SandboxState, accountId: string): Sandbox {
    const whose = { accountId, sessionId };
    return {
      async run(command, { cwd, env = {}, timeoutMs, maxOutputChars, signal }) {
        const message = { op: "run", command, cwd, env, maxOutputChars } as const;
        return resultOf(
          await request({ ...whose, request: message, timeoutMs, signal }),
          timeoutMs,
        );
      },
      async readFile(path) {
        return (await fileRequest(whose, { op: "read", path })).content;
      },
      async writeFile(path, content) {
        const bytes = typeof content === "string" ? Buffer.from(content) : content;
        if (bytes.byteLength > MAX_FILE_BYTES) {
          throw new SandboxError("too_large", `File is larger than ${MAX_FILE_BYTES} bytes`);
        }
        await fileRequest(whose, { op: "write", path, content: bytes });
      },
    };
  }

  function look({ name: sessionId }: SandboxState, accountId: string): SandboxFiles {
    const whose = { accountId, sessionId };
    // A look ends in time also where it waits for room among the jails.
    const beside = () => ({ signal: AbortSignal.timeout(FILE_TIMEOUT_MS), beside: true }) as const;
    return {
      async listFolder(path) {
        const message = { op: "list", path, most: MAX_LISTED_ENTRIES } as const;
        const { op: _, ...listing } = await fileRequest(whose, message, beside());
        return listing;
      },
      async readFile(path) {
        return (await fileRequest(whose, { op: "read", path }, beside())).content;
      },
    };
  }

  return {
    name: "local",
    async provision(sessionId, accountId) {
      const started = performance.now();
      await makeFolder(sessionId);
      // The first command finds its jail warm; with no room for that it starts its own.
      if (pool.hasRoom(accountId)) {
        const nothing = { op: "run", command: ":", cwd: ".", env: {}, maxOutputChars: 0 } as const;
        const warmUp = { accountId, sessionId, request: nothing, timeoutMs: FILE_TIMEOUT_MS };
        pool.request(warmUp).catch(() => {});
      }
      return {
        provider: "local",
        name: sessionId,
        createdAt: new Date().toISOString(),
        expiresAt: null,
        readyMs: Math.round(performance.now() - started),
      };
    },
    open,
    look,
    async status({ name }) {
      return (await exists(name)) ? "active" : "expired";
    },
    async destroy({ name }) {
      pool.stop(name);
      // Renamed first: a session that is provisioned again meanwhile starts with an empty folder.
      const gone = join(rootDir, `${GONE}${name}-${process.pid}-${Date.now()}`);
      const renamed = await rename(dirOf(name), gone).then(
        () => true,
        () => false,
      );
      if (renamed) await remove(gone);
    },
    kept: keptSandboxes(rootDir),
  };
}

/** Whose share of the commands a request takes, and in which session. */
type Whose = Pick<PoolRequest, "accountId" | "sessionId">;

/** 0 of a folder that is gone. */
const bytesOf = (folder: string): Promise<number> =>
  measureFolder(folder).then(
    ({ bytes }) => bytes,
    () => 0,
  );

const remove = (folder: string) => rm(folder, { recursive: true, force: true });

function resultOf(outcome: Outcome, timeoutMs: number): CommandResult {
  if (outcome.op === "run") {
    const { exitCode, stdout, stderr, truncated } = outcome;
    return { exitCode, stdout, stderr, truncated };
  }
  const killed = (exitCode: number, why: string) => ({
    exitCode,
    stdout: "",
    stderr: `${why}\n`,
    truncated: false,
  });
  if (outcome.op !== "ended") return killed(126, "The command could not be run");
  switch (outcome.why) {
    case "deadline":
      return killed(124, `Killed: the deadline of ${timeoutMs / 1000} s passed`);
    case "aborted":
      return killed(137, "Killed: the command was stopped");
    default:
      return killed(137, "Killed: the command used too much memory or CPU");
  }
}
