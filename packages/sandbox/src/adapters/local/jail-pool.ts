/**
 * The running jails. A session has one jail, in which its commands run one after another, and a second
 * one for requests for its files while commands run. Accounts share the slots fairly, and these requests have
 * separate slots, so no command keeps a file waiting. An idle jail is kept for the session's next request until another session
 * needs its process. Every request has a deadline, and so has every wait for a slot.
 */
import { FairQueue, QueueRefusal } from "@platform/kit/fair-queue";
import { observe } from "@platform/kit/telemetry/metrics";
import type { CommandOptions } from "../../port.ts";
import { Jail, type Outcome } from "./jail.ts";
import type { JailRequest, JailSettings } from "./protocol.ts";

interface Lane {
  readonly sessionId: string;
  /** Settles when the last request of the lane has ended. */
  tail: Promise<unknown>;
  waiting: number;
  /** Whether a request has a slot, so the jail must not be evicted. */
  working: boolean;
  /** Ends work that is not the jail's. */
  stop: AbortController;
  jail?: Jail | undefined;
  idle?: NodeJS.Timeout | undefined;
}

export interface PoolLimits {
  /** The number of slots for commands; requests for files have a quarter as many in addition. */
  readonly maxJails: number;
  /** How long a request waits for a slot. */
  readonly maxWaitMs: number;
}

export interface PoolRequest {
  readonly accountId: string;
  readonly sessionId: string;
  /** For the session's jail; or work in its place, which must end at the signal. */
  readonly request: JailRequest | ((stop: AbortSignal) => Promise<Outcome>);
  /** The deadline starts when the request has its slot. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Gets the output of a command in the jail before the request ends. */
  readonly onOutput?: CommandOptions["onOutput"];
  /** Whether it is for a file, and waits for no command. */
  readonly isForFile?: boolean;
}

/** Far more than the tool calls of one model answer. */
const MAX_WAITING_IN_SESSION = 200;
const MAX_WAITING_OF_ACCOUNT = 1_000;
/** Files are for people who wait for them. */
const MAX_FILE_WAIT_MS = 10_000;
/** How long an idle jail is kept alive. */
const IDLE_MS = 60_000;

interface JailPlan {
  readonly settings: JailSettings;
  /** Is called once, when the jail has exited. */
  readonly onExit: () => void;
}

/** The sandboxes that the jails serve. */
interface Sandboxes {
  /**
   * Runs right before a request, which fails with the error that this throws. Only work done here keeps the
   * requests of a session in their order of arrival.
   */
  check(sessionId: string): Promise<void>;
  planJail(sessionId: string): Promise<JailPlan>;
}

const aborted: Outcome = { op: "ended", why: "aborted" };

export class JailPool {
  readonly #lanes = new Map<string, Lane>();
  readonly #sandboxes: Sandboxes;
  readonly #maxProcesses: number;
  readonly #commands: FairQueue;
  readonly #files: FairQueue;
  /** Requests that have a slot and wait for another process to exit. */
  readonly #starting: (() => void)[] = [];
  #processes = 0;

  constructor({ maxJails, maxWaitMs }: PoolLimits, sandboxes: Sandboxes) {
    const fileSlots = Math.max(1, Math.floor(maxJails / 4));
    const limits = { waitersPerAccount: MAX_WAITING_OF_ACCOUNT, maxWaitMs };
    this.#commands = new FairQueue({ ...limits, name: "sandbox_commands", slots: maxJails });
    this.#files = new FairQueue({
      ...limits,
      name: "sandbox_reads",
      slots: fileSlots,
      maxWaitMs: Math.min(maxWaitMs, MAX_FILE_WAIT_MS),
    });
    this.#maxProcesses = maxJails + fileSlots;
    this.#sandboxes = sandboxes;
    observe("agent_platform.sandbox.processes", () => this.#processes);
    // A child that is stuck in a loop would not notice the exit of its server.
    process.once("exit", () => {
      for (const lane of this.#lanes.values()) lane.jail?.kill("aborted");
    });
  }

  /** Runs a request after the session's earlier ones, or one for a file beside its commands. Throws a QueueRefusal. */
  request({
    accountId,
    sessionId,
    request,
    timeoutMs,
    signal,
    onOutput,
    isForFile = false,
  }: PoolRequest): Promise<Outcome> {
    const isBusy = (this.#lanes.get(sessionId)?.waiting ?? 0) > 0;
    const key = isForFile && isBusy ? fileLaneOf(sessionId) : sessionId;
    const queue = isForFile ? this.#files : this.#commands;
    const lane = this.#lanes.get(key) ?? {
      sessionId,
      tail: Promise.resolve(),
      waiting: 0,
      working: false,
      stop: new AbortController(),
    };
    if (lane.waiting >= MAX_WAITING_IN_SESSION) return Promise.reject(new QueueRefusal("full"));
    this.#lanes.set(key, lane);
    lane.waiting += 1;
    clearTimeout(lane.idle);
    const work = async (): Promise<Outcome> => {
      lane.working = true;
      try {
        await this.#sandboxes.check(sessionId);
        if (typeof request === "function") {
          return await request(AbortSignal.any([lane.stop.signal, ...(signal ? [signal] : [])]));
        }
        if (lane.jail?.isWorn) lane.jail.kill("aborted");
        if (!lane.jail?.isAlive) lane.jail = await this.#start(key, lane);
        return await lane.jail.request(request, { timeoutMs, signal, onOutput });
      } finally {
        lane.working = false;
      }
    };
    const outcome = lane.tail.then(() => queue.run(accountId, signal, work));
    lane.tail = outcome
      .catch(() => undefined)
      .then(() => {
        lane.waiting -= 1;
        if (lane.waiting === 0) this.#retire(key, lane);
      });
    // A caller that aborts gets its answer immediately, even while it waits.
    return new Promise((resolve, reject) => {
      const abort = () => resolve(aborted);
      if (signal?.aborted) abort();
      signal?.addEventListener("abort", abort, { once: true });
      outcome.then(resolve, reject).finally(() => signal?.removeEventListener("abort", abort));
    });
  }

  /** Kills the session's jails and commands. */
  stop(sessionId: string): void {
    for (const key of [sessionId, fileLaneOf(sessionId)]) {
      const lane = this.#lanes.get(key);
      lane?.jail?.kill("aborted");
      lane?.stop.abort();
      if (lane) lane.stop = new AbortController();
    }
  }

  /** Returns whether the account could start a jail without waiting for a request of another session. */
  hasRoom(accountId: string): boolean {
    if (!this.#commands.isOpen(accountId)) return false;
    return this.#processes < this.#maxProcesses || this.#findIdle() !== undefined;
  }

  /**
   * Starts the jail of a lane that has a slot. Some jail is idle whenever all processes are used.
   */
  async #start(key: string, lane: Lane): Promise<Jail> {
    const plan = await this.#sandboxes.planJail(lane.sessionId);
    while (this.#processes >= this.#maxProcesses) {
      const exited = new Promise<void>((resolve) => this.#starting.push(resolve));
      this.#evict();
      await exited;
    }
    const jail = new Jail(plan.settings, () => {
      if (lane.jail === jail) lane.jail = undefined;
      if (lane.waiting === 0 && this.#lanes.get(key) === lane) this.#lanes.delete(key);
      this.#processes -= 1;
      this.#starting.shift()?.();
      plan.onExit();
    });
    this.#processes += 1;
    return jail;
  }

  /** Keeps an idle lane as long as its jail lives. */
  #retire(key: string, lane: Lane): void {
    this.#lanes.delete(key);
    if (!lane.jail) return;
    // Moved to the end: the lane that has been idle longest comes first.
    this.#lanes.set(key, lane);
    lane.idle = setTimeout(() => lane.jail?.kill("aborted"), IDLE_MS).unref();
  }

  /** Kills the jail that has been idle longest. Its exit resumes the first start that waits. */
  #evict(): void {
    this.#findIdle()?.kill("aborted");
  }

  #findIdle(): Jail | undefined {
    return [...this.#lanes.values()].find(({ working, jail }) => !working && jail?.isAlive)?.jail;
  }
}

/** The key of the lane for files. No session id has a space. */
const fileLaneOf = (sessionId: string): string => `${sessionId} files`;
