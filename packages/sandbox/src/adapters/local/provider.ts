/**
 * Sandboxes on this machine: a session has one folder under `rootDir`, and its commands run in a
 * jailed child process. All state is on disk, so a restart of the server loses nothing, and two
 * servers may serve the same session.
 */
import type { TurnPolicies } from "@platform/kit/network-policy";
import { cutOutput } from "../../cut-output.ts";
import {
  type CommandOptions,
  type CommandResult,
  type ExpectedFile,
  MAX_FILE_BYTES,
  MAX_LISTED_ENTRIES,
  MAX_TREE_ENTRIES,
  type Sandbox,
  SandboxError,
  type SandboxFiles,
  type SandboxProvider,
} from "../../port.ts";
import { keepUpload, sandboxFolders, stageUpload } from "./folders.ts";
import type { Outcome } from "./jail.ts";
import type { PoolRequest } from "./jail-pool.ts";
import {
  type CommandRunner,
  FILE_TIMEOUT_MS,
  LocalMachine,
  type LocalProviderOptions,
  MAX_FILES,
} from "./machine.ts";
import type { JailReply, JailRequest } from "./protocol.ts";

const PIECE_BYTES = 1024 * 1024;

/** The programs of the jail's shell, as models know them. */
const PROGRAMS =
  "bash, ls, cp, mv, find, xargs, grep, sed, awk, sort, uniq, cut, tr, join, comm, diff, date, bc, jq, yq, python3 with openpyxl, " +
  "sqlite3, curl, tar, gzip, zip, unzip, xxd, iconv, base64, sha256sum, tree, column";

/** Creates the provider. @param runner absent for the jail's shell */
export function createLocalProvider(
  options: LocalProviderOptions,
  runner?: CommandRunner,
): SandboxProvider {
  const machine = new LocalMachine(options, runner);
  const name = runner?.provider ?? "local";
  return {
    name,
    programs: PROGRAMS,
    async provision(sessionId, accountId) {
      const started = performance.now();
      await machine.create(sessionId);
      machine.warmUp(accountId, sessionId);
      const readyMs = Math.round(performance.now() - started);
      const createdAt = new Date().toISOString();
      return { provider: name, name: sessionId, createdAt, expiresAt: null, readyMs };
    },
    open: ({ name: sessionId }, accountId, policies) =>
      new LocalSandbox(machine, { accountId, sessionId, isForFile: false }, policies),
    openFiles: ({ name: sessionId }, accountId) =>
      new LocalSandbox(machine, { accountId, sessionId, isForFile: true }),
    status: async ({ name: sessionId }) => ((await machine.has(sessionId)) ? "active" : "expired"),
    destroy: ({ name: sessionId }) => machine.destroy(sessionId),
    folders: sandboxFolders(machine.rootDir, options.diskQuota),
  };
}

/** The account whose slots a request uses, its session, and whether it waits for no command. */
type Scope = Pick<PoolRequest, "accountId" | "sessionId" | "isForFile">;
type FileOp = Exclude<JailRequest["op"], "run" | "stop">;

/** One opened sandbox. */
class LocalSandbox implements Sandbox, SandboxFiles {
  readonly #machine: LocalMachine;
  readonly #scope: Scope;
  readonly #policies: TurnPolicies | undefined;

  constructor(machine: LocalMachine, scope: Scope, policies?: TurnPolicies) {
    this.#machine = machine;
    this.#scope = scope;
    this.#policies = policies;
  }

  async run(command: string, options: CommandOptions): Promise<CommandResult> {
    const { cwd, env = {}, timeoutMs, maxOutputChars, signal } = options;
    const { runner } = this.#machine;
    const printed = { stdout: "", stderr: "" };
    const onOutput: CommandOptions["onOutput"] = (stream, text) => {
      // A jail that a command has taken over could send more.
      const kept = text.slice(0, maxOutputChars + 1 - printed[stream].length);
      if (kept === "") return;
      printed[stream] += kept;
      options.onOutput?.(stream, kept);
    };
    const request: PoolRequest["request"] = runner
      ? (stop) => this.#runWith(runner, command, { ...options, signal: stop })
      : { op: "run", command, cwd, env, maxOutputChars, policies: this.#policies };
    const given = { ...this.#scope, request, timeoutMs, signal, onOutput };
    return resultOf(await this.#machine.request(given), options, printed);
  }

  /** Runs a command in the session's turn, as the jail would. */
  async #runWith(runner: CommandRunner, command: string, options: CommandOptions) {
    const { sessionId } = this.#scope;
    const space = await this.#machine.reserve(sessionId);
    const limits = { maxBytes: space.bytes, maxFiles: MAX_FILES };
    try {
      const dir = this.#machine.dirOf(sessionId);
      const confined = { ...options, policies: this.#policies };
      return { op: "run", ...(await runner.run(dir, command, confined, limits)) } as const;
    } finally {
      await space.settle();
    }
  }

  async readFile(path: string): Promise<Uint8Array> {
    return (await this.#request({ op: "read", path })).content;
  }

  async listFolder(path: string) {
    return this.#list(path, false, MAX_LISTED_ENTRIES);
  }

  async listTree(path: string) {
    const { entries, truncated } = await this.#list(path, true, MAX_TREE_ENTRIES);
    if (!truncated) return entries;
    throw new SandboxError("too_large", "The folder has too many entries");
  }

  async #list(path: string, isDeep: boolean, maxEntries: number) {
    const { op: _, ...listing } = await this.#request({ op: "list", path, isDeep, maxEntries });
    return listing;
  }

  async *readStream(path: string): AsyncGenerator<Uint8Array> {
    for (let offset = 0; ; ) {
      const message = { op: "piece", path, offset, maxBytes: PIECE_BYTES } as const;
      const { content } = await this.#request(message);
      if (content.byteLength > 0) yield content;
      if (content.byteLength < PIECE_BYTES) return;
      offset += content.byteLength;
    }
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    if (bytes.byteLength > MAX_FILE_BYTES) {
      throw new SandboxError("too_large", `File is larger than ${MAX_FILE_BYTES} bytes`);
    }
    await this.#send({ op: "write", path, content: bytes }, this.#scope);
  }

  async writeStream(path: string, content: AsyncIterable<Uint8Array>, expected?: ExpectedFile) {
    const { sessionId } = this.#scope;
    await this.#machine.check(sessionId);
    const { diskQuota } = this.#machine.options;
    const dir = this.#machine.dirOf(sessionId);
    return stageUpload(dir, content, diskQuota, async (staged) => {
      if (this.#machine.runner) await keepUpload(dir, staged);
      const { op: _, ...file } = await this.#request({ op: "place", path, staged, expected });
      return file;
    });
  }

  async remove(path: string, expected?: ExpectedFile): Promise<void> {
    await this.#request({ op: "remove", path, expected });
  }

  #request<Op extends FileOp>(message: JailRequest & { op: Op }) {
    // The signal bounds the wait for a slot too, which the deadline of a request does not.
    const signal = this.#scope.isForFile ? AbortSignal.timeout(FILE_TIMEOUT_MS) : undefined;
    return this.#send<Op>(message, { ...this.#scope, signal });
  }

  async #send<Op extends FileOp>(
    request: JailRequest & { op: Op },
    scope: Scope & Pick<PoolRequest, "signal">,
  ): Promise<JailReply & { op: Op }> {
    const outcome = await this.#machine.request({ ...scope, request, timeoutMs: FILE_TIMEOUT_MS });
    if (outcome.op === request.op) return outcome as JailReply & { op: Op };
    if (outcome.op === "error") throw new SandboxError(outcome.code, outcome.message);
    throw new SandboxError("unavailable", "The sandbox did not answer");
  }
}

/** @param printed the output until a command was killed */
function resultOf(
  outcome: Outcome,
  { timeoutMs, maxOutputChars }: CommandOptions,
  printed: Pick<CommandResult, "stdout" | "stderr">,
): CommandResult {
  if (outcome.op === "run") {
    const { op: _, ...result } = outcome;
    return result;
  }
  const killed = (exitCode: number, why: string) => {
    const stderr = `${why}\n${printed.stderr}`;
    return {
      exitCode,
      stdout: cutOutput(printed.stdout, maxOutputChars),
      stderr: cutOutput(stderr, maxOutputChars),
      truncated: printed.stdout.length > maxOutputChars || stderr.length > maxOutputChars,
    };
  };
  if (outcome.op !== "ended") return killed(126, "The command could not be run");
  if (outcome.why === "deadline") {
    return killed(124, `Killed: the deadline of ${timeoutMs / 1000} s passed`);
  }
  if (outcome.why === "timeout") {
    return killed(124, "Killed: the whole command, because timeout could not end a part of it");
  }
  const isAborted = outcome.why === "aborted";
  const why = isAborted ? "the command was stopped" : "the command used too much memory or CPU";
  return killed(137, `Killed: ${why}`);
}
