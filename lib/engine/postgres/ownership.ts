/**
 * Which process owns which run.
 *
 * A process is alive as long as its database session holds the advisory lock of its row in
 * `engine.instances`. When it dies, however it dies, PostgreSQL ends the session and frees the
 * lock; whoever gets that lock next owns the dead one's runs. No clocks are compared, and two
 * survivors cannot both win. A process that lost its session to the network and finds its row gone
 * lost its runs as well, and its late writes are refused by the `owner` in their predicate.
 */
import { randomUUID } from "node:crypto";
import type { WorkflowRun } from "@workflow/world";
import postgres, { type Sql } from "postgres";

export interface OwnershipOptions {
  readonly databaseUrl: string;
  /** Takes over the runs of a dead process. */
  readonly onDeath: (formerOwner: string) => Promise<WorkflowRun[]>;
  /** Goes on with the runs that were taken over, after the claim on them is committed. */
  readonly onTakenOver: (runs: readonly WorkflowRun[]) => void;
  /** Another process took this one for dead: forget all that was owned. */
  readonly onLost: () => void;
  readonly onError: (error: unknown) => void;
}

const LOOK_AROUND_MS = 1_000;
/** The first key of the two-key advisory locks of this table. */
const LOCK_SPACE = 20_261;

export class Ownership {
  readonly id = randomUUID();
  readonly #options: OwnershipOptions;
  readonly #session: Sql;
  /** The database session in which this process holds its lock. */
  #registeredIn: string | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    // One connection that lives as long as the process: the lock belongs to its session. The
    // keepalives let the server notice within seconds when this machine vanishes altogether.
    this.#session = postgres(options.databaseUrl, {
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      onnotice: () => {},
      connection: {
        tcp_keepalives_idle: 5,
        tcp_keepalives_interval: 2,
        tcp_keepalives_count: 3,
      },
    });
  }

  /** Registers this process, takes over what dead ones left, and goes on looking for such. */
  async start(): Promise<void> {
    await this.#lookAround();
    this.#scheduleNextLook();
  }

  #scheduleNextLook(): void {
    setTimeout(async () => {
      await this.#lookAround().catch(this.#options.onError);
      this.#scheduleNextLook();
    }, LOOK_AROUND_MS).unref();
  }

  async #lookAround(): Promise<void> {
    // Not the process id alone: a database that restarts counts from the beginning.
    const [session] = await this.#session`
      select concat(pid, ' ', backend_start) as id from pg_stat_activity
      where pid = pg_backend_pid()`;
    const id = String(session?.id);
    if (id !== this.#registeredIn) {
      await this.#register();
      this.#registeredIn = id;
    }
    const others = await this
      .#session`select id, lock_key from engine.instances where id <> ${this.id}`;
    for (const other of others) await this.#buryIfDead(String(other.id), Number(other.lock_key));
  }

  async #register(): Promise<void> {
    for (let first = this.#registeredIn === undefined; ; first = false) {
      // Row and lock appear together, so that nobody sees this process without its sign of life.
      const added = await this.#session.begin(async (transaction) => {
        const rows = await transaction`
          insert into engine.instances (id) values (${this.id}) on conflict do nothing returning id`;
        await transaction`
          select pg_advisory_lock(${LOCK_SPACE}, lock_key::int)
          from engine.instances where id = ${this.id}`;
        return rows.length > 0;
      });
      if (added && !first) this.#options.onLost();
      // While this process waited for its lock, another may have been burying it.
      const [row] = await this.#session`select id from engine.instances where id = ${this.id}`;
      if (row) return;
    }
  }

  async #buryIfDead(other: string, lockKey: number): Promise<void> {
    const [lock] = await this
      .#session`select pg_try_advisory_lock(${LOCK_SPACE}, ${lockKey}) as free`;
    if (lock?.free !== true) return;
    try {
      // The lock may have been free because another survivor has just finished with it.
      const [still] = await this.#session`select id from engine.instances where id = ${other}`;
      if (!still) return;
      const runs = await this.#options.onDeath(other);
      await this.#session`delete from engine.instances where id = ${other}`;
      this.#options.onTakenOver(runs);
    } finally {
      await this.#session`select pg_advisory_unlock(${LOCK_SPACE}, ${lockKey})`;
    }
  }
}
