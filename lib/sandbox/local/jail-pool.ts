/**
 * Which sessions have a running jail. One jail a session, so its commands run one after another on
 * one file tree, and a second one for whoever looks at the files meanwhile; sessions never wait for
 * each other while there is room, and when there is none, idle jails make it. Every request ends at
 * its own deadline, so every wait ends.
 */
import { Jail, type Outcome } from "./jail.ts";
import type { JailRequest, JailSettings } from "./protocol.ts";

interface Lane {
  readonly sessionId: string;
  /** Settles when the last request in line is done. */
  tail: Promise<unknown>;
  waiting: number;
  jail?: Jail | undefined;
  idle?: NodeJS.Timeout | undefined;
}

export interface PoolLimits {
  /** Most jails at a time. */
  readonly maxJails: number;
  /** How long an idle jail is kept. */
  readonly idleMs: number;
}

const aborted: Outcome = { op: "ended", why: "aborted" };

export class JailPool {
  readonly #lanes = new Map<string, Lane>();
  readonly #limits: PoolLimits;
  readonly #settingsOf: (sessionId: string) => JailSettings;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(limits: PoolLimits, settingsOf: (sessionId: string) => JailSettings) {
    this.#limits = limits;
    this.#settingsOf = settingsOf;
    // A child that is stuck in a loop would not notice that its server has gone.
    process.once("exit", () => {
      for (const lane of this.#lanes.values()) lane.jail?.kill("aborted");
    });
  }

  /** The deadline begins when the request's turn comes. */
  request(
    sessionId: string,
    request: JailRequest,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Outcome> {
    return this.#enter(sessionId, sessionId, request, timeoutMs, signal);
  }

  /** As `request`, of what only reads: beside the session's commands when there are any. */
  look(
    sessionId: string,
    request: JailRequest,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Outcome> {
    const busy = (this.#lanes.get(sessionId)?.waiting ?? 0) > 0;
    const key = busy ? besides(sessionId) : sessionId;
    return this.#enter(key, sessionId, request, timeoutMs, signal);
  }

  #enter(
    key: string,
    sessionId: string,
    request: JailRequest,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const lane = this.#lanes.get(key) ?? { sessionId, tail: Promise.resolve(), waiting: 0 };
    this.#lanes.set(key, lane);
    lane.waiting += 1;
    clearTimeout(lane.idle);
    const mine = lane.tail.then(async (): Promise<Outcome> => {
      if (signal?.aborted) return aborted;
      if (lane.jail?.worn) lane.jail.kill("aborted");
      if (!lane.jail?.alive) lane.jail = await this.#start(key, lane);
      return lane.jail.request(request, timeoutMs, signal);
    });
    lane.tail = mine
      .catch(() => undefined)
      .then(() => {
        lane.waiting -= 1;
        if (lane.waiting === 0) this.#rest(key, lane);
      });
    // A caller that gives up is answered at once, also while it waits in line.
    return new Promise((resolve, reject) => {
      const giveUp = () => resolve(aborted);
      signal?.addEventListener("abort", giveUp, { once: true });
      mine.then(resolve, reject).finally(() => signal?.removeEventListener("abort", giveUp));
    });
  }

  /** Ends the session's jails and the command in them, if any. */
  stop(sessionId: string): void {
    this.#lanes.get(sessionId)?.jail?.kill("aborted");
    this.#lanes.get(besides(sessionId))?.jail?.kill("aborted");
  }

  /** True when a session could start a jail without waiting or pushing another out. */
  get hasRoom(): boolean {
    return this.#running < this.#limits.maxJails;
  }

  async #start(key: string, lane: Lane): Promise<Jail> {
    while (!this.hasRoom) {
      const gone = new Promise<void>((resolve) => this.#queue.push(resolve));
      this.#evict();
      await gone;
    }
    const jail = new Jail(this.#settingsOf(lane.sessionId), () => {
      if (lane.jail === jail) lane.jail = undefined;
      if (lane.waiting === 0 && this.#lanes.get(key) === lane) this.#lanes.delete(key);
      this.#running -= 1;
      this.#queue.shift()?.();
    });
    this.#running += 1;
    return jail;
  }

  #rest(key: string, lane: Lane): void {
    this.#lanes.delete(key);
    if (!lane.jail) return;
    // The map keeps the order of insertion: the lane that has been idle longest comes first.
    this.#lanes.set(key, lane);
    if (this.#queue.length > 0) this.#evict();
    else lane.idle = setTimeout(() => lane.jail?.kill("aborted"), this.#limits.idleMs).unref();
  }

  /** Ends the jail that has been idle longest; its exit wakes the first in the queue. */
  #evict(): void {
    for (const lane of this.#lanes.values()) {
      if (lane.waiting === 0 && lane.jail?.alive) {
        lane.jail.kill("aborted");
        return;
      }
    }
  }
}

/** The lane of those who look: no session's id has a space. */
const besides = (sessionId: string): string => `${sessionId} beside`;
