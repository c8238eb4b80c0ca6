/**
 * Which sessions have a running jail. One jail a session, so its commands run one after another on
 * one file tree, and a second one for whoever looks at the files meanwhile. How many jails work at a
 * time is shared fairly between accounts, for commands and for looks apart, so that neither another
 * account's commands nor one's own keep a look waiting. Idle jails are kept for the next request
 * until another session needs the process. Every request ends at its own deadline, and every wait
 * for a slot at that of the queue.
 */
import { FairQueue, QueueRefusal } from "../../../platform/fair-queue.ts";
import { Jail, type Outcome } from "./jail.ts";
import type { JailRequest, JailSettings } from "./protocol.ts";

interface Lane {
  readonly sessionId: string;
  /** Settles when the last request in line is done. */
  tail: Promise<unknown>;
  waiting: number;
  /** True while a request has a slot: the jail is not to be taken away. */
  working: boolean;
  jail?: Jail | undefined;
  idle?: NodeJS.Timeout | undefined;
}

export interface PoolLimits {
  /** Most jails that run commands at a time; looks have a quarter as many of their own. */
  readonly maxJails: number;
  /** How long a request waits for a slot. */
  readonly maxWaitMs: number;
  /** How long an idle jail is kept. */
  readonly idleMs: number;
}

/** For whom a request is, and where. */
export interface PoolRequest {
  readonly accountId: string;
  readonly sessionId: string;
  readonly request: JailRequest;
  /** The deadline begins when the request has its slot. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Far more than one answer of a model asks for. */
const MAX_WAITING_IN_SESSION = 200;
const MAX_WAITING_OF_ACCOUNT = 1_000;
/** Somebody waits in front of a screen. */
const MAX_LOOK_WAIT_MS = 10_000;

interface JailPlan {
  readonly settings: JailSettings;
  /** Called once, when the jail is gone. */
  readonly onExit: () => void;
}

/** @param mayWrite false for a jail that serves only looks */
type PlanJail = (sessionId: string, mayWrite: boolean) => Promise<JailPlan>;

const aborted: Outcome = { op: "ended", why: "aborted" };

export class JailPool {
  readonly #lanes = new Map<string, Lane>();
  readonly #plan: PlanJail;
  readonly #idleMs: number;
  readonly #maxProcesses: number;
  readonly #commands: FairQueue;
  readonly #looks: FairQueue;
  /** Those who have a slot and wait for the exit of a process. */
  readonly #starting: (() => void)[] = [];
  #processes = 0;

  constructor({ maxJails, maxWaitMs, idleMs }: PoolLimits, plan: PlanJail) {
    const lookSlots = Math.max(1, Math.floor(maxJails / 4));
    const waitersPerAccount = MAX_WAITING_OF_ACCOUNT;
    this.#commands = new FairQueue({ slots: maxJails, waitersPerAccount, maxWaitMs });
    this.#looks = new FairQueue({
      slots: lookSlots,
      waitersPerAccount,
      maxWaitMs: Math.min(maxWaitMs, MAX_LOOK_WAIT_MS),
    });
    this.#maxProcesses = maxJails + lookSlots;
    this.#idleMs = idleMs;
    this.#plan = plan;
    // A child that is stuck in a loop would not notice that its server has gone.
    process.once("exit", () => {
      for (const lane of this.#lanes.values()) lane.jail?.kill("aborted");
    });
  }

  /** @throws QueueRefusal */
  request(request: PoolRequest): Promise<Outcome> {
    return this.#enter(request.sessionId, this.#commands, request);
  }

  /**
   * As `request`, of what only reads: beside the session's commands when there are any.
   * @throws QueueRefusal
   */
  look(request: PoolRequest): Promise<Outcome> {
    const { sessionId } = request;
    const busy = (this.#lanes.get(sessionId)?.waiting ?? 0) > 0;
    return this.#enter(busy ? besides(sessionId) : sessionId, this.#looks, request);
  }

  #enter(
    key: string,
    queue: FairQueue,
    { accountId, sessionId, request, timeoutMs, signal }: PoolRequest,
  ): Promise<Outcome> {
    const lane = this.#lanes.get(key) ?? {
      sessionId,
      tail: Promise.resolve(),
      waiting: 0,
      working: false,
    };
    if (lane.waiting >= MAX_WAITING_IN_SESSION) return Promise.reject(new QueueRefusal("full"));
    this.#lanes.set(key, lane);
    lane.waiting += 1;
    clearTimeout(lane.idle);
    const work = async (): Promise<Outcome> => {
      lane.working = true;
      try {
        if (lane.jail?.worn) lane.jail.kill("aborted");
        if (!lane.jail?.alive) lane.jail = await this.#start(key, lane);
        return await lane.jail.request(request, timeoutMs, signal);
      } finally {
        lane.working = false;
      }
    };
    const mine = lane.tail.then(() => queue.run(accountId, signal, work));
    lane.tail = mine
      .catch(() => undefined)
      .then(() => {
        lane.waiting -= 1;
        if (lane.waiting === 0) this.#rest(key, lane);
      });
    // A caller that gives up is answered at once, also while it waits in line.
    return new Promise((resolve, reject) => {
      const giveUp = () => resolve(aborted);
      if (signal?.aborted) giveUp();
      signal?.addEventListener("abort", giveUp, { once: true });
      mine.then(resolve, reject).finally(() => signal?.removeEventListener("abort", giveUp));
    });
  }

  /** Ends the session's jails and the command in them, if any. */
  stop(sessionId: string): void {
    this.#lanes.get(sessionId)?.jail?.kill("aborted");
    this.#lanes.get(besides(sessionId))?.jail?.kill("aborted");
  }

  /** True when a session of the account could start a jail without waiting or pushing another out. */
  hasRoom(accountId: string): boolean {
    return this.#processes < this.#maxProcesses && this.#commands.isOpen(accountId);
  }

  /** For a lane with a slot: there are fewer slots than processes, so one of them can be spared. */
  async #start(key: string, lane: Lane): Promise<Jail> {
    const plan = await this.#plan(lane.sessionId, key === lane.sessionId);
    while (this.#processes >= this.#maxProcesses) {
      const gone = new Promise<void>((resolve) => this.#starting.push(resolve));
      this.#evict();
      await gone;
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

  #rest(key: string, lane: Lane): void {
    this.#lanes.delete(key);
    if (!lane.jail) return;
    // The map keeps the order of insertion: the lane that has been idle longest comes first.
    this.#lanes.set(key, lane);
    lane.idle = setTimeout(() => lane.jail?.kill("aborted"), this.#idleMs).unref();
  }

  /** Ends the jail that has done nothing for longest; its exit wakes the first who is starting one. */
  #evict(): void {
    for (const lane of this.#lanes.values()) {
      if (!lane.working && lane.jail?.alive) {
        lane.jail.kill("aborted");
        return;
      }
    }
  }
}

/** The lane of those who look: no session's id has a space. */
const besides = (sessionId: string): string => `${sessionId} beside`;
