/**
 * Leases: which process owns which run.
 *
 * A process is alive while its database session holds the advisory lock of its row in
 * `engine.instances`. When it dies for any reason, PostgreSQL ends the session and releases the
 * lock; the process that acquires the lock next takes over the runs. No clocks are compared, and
 * two processes cannot both win. A process that loses its session to the network and then finds its
 * row deleted was fenced: it has lost its runs, and the `owner` in the predicate of its late writes
 * rejects them.
 */
import { randomUUID } from "node:crypto";
import type { WorkflowRun } from "@workflow/world";
import { Session, type Sql } from "./database.ts";

export interface OwnershipOptions {
  readonly databaseUrl: string;
  /** Takes over the runs of a dead process. */
  readonly onDeath: (formerOwner: string) => Promise<WorkflowRun[]>;
  /** Continues the runs that were taken over, after the takeover is committed. */
  readonly onTakenOver: (runs: readonly WorkflowRun[]) => void;
  /** This process was fenced: another one has taken over its runs. */
  readonly onLost: () => void;
  readonly onError: (error: unknown) => void;
}

const REAP_INTERVAL_MS = 1_000;
/** The first key of the two-key advisory locks of this table. */
const LOCK_SPACE = 20_261;

export class Ownership {
  readonly id = randomUUID();
  readonly #options: OwnershipOptions;
  /** Held for the life of the process, because the lock belongs to the session. */
  readonly #session: Session;
  /** The session in which this process holds its lock; undefined before the first one. */
  #registeredIn: Sql | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#session = new Session(options.databaseUrl);
  }

  /** Registers this process and takes over the runs of dead ones, now and every second. */
  async start(): Promise<void> {
    await this.#reap();
    this.#scheduleReap();
  }

  #scheduleReap(): void {
    setTimeout(async () => {
      await this.#reap().catch(this.#options.onError);
      this.#scheduleReap();
    }, REAP_INTERVAL_MS).unref();
  }

  async #reap(): Promise<void> {
    const sql = await this.#session.open();
    if (sql !== this.#registeredIn) {
      await this.#register(sql);
      this.#registeredIn = sql;
    }
    const others = await sql`select id, lock_key from engine.instances where id <> ${this.id}`;
    for (const other of others) {
      await this.#reapIfDead(sql, String(other.id), Number(other.lock_key));
    }
  }

  async #register(sql: Sql): Promise<void> {
    for (let first = this.#registeredIn === undefined; ; first = false) {
      // One statement, so that no other process sees the row without its lock.
      const rows = await sql`
        with added as (
          insert into engine.instances (id) values (${this.id}) on conflict do nothing
          returning lock_key)
        select true as added, pg_advisory_lock(${LOCK_SPACE}::int, lock_key::int) from added
        union all
        select false, pg_advisory_lock(${LOCK_SPACE}::int, lock_key::int)
        from engine.instances where id = ${this.id}`;
      if (rows[0]?.added === true && !first) this.#options.onLost();
      // Another process may have reaped this one while it waited for its lock.
      const [row] = await sql`select id from engine.instances where id = ${this.id}`;
      if (row) return;
      await sql`select pg_advisory_unlock_all()`;
    }
  }

  async #reapIfDead(sql: Sql, other: string, lockKey: number): Promise<void> {
    const [lock] = await sql`
      select pg_try_advisory_lock(${LOCK_SPACE}::int, ${lockKey}::int) as free`;
    if (lock?.free !== true) return;
    try {
      // The lock may be free because another process has just reaped this instance.
      const [instance] = await sql`select id from engine.instances where id = ${other}`;
      if (!instance) return;
      const runs = await this.#options.onDeath(other);
      await sql`delete from engine.instances where id = ${other}`;
      this.#options.onTakenOver(runs);
    } finally {
      await sql`select pg_advisory_unlock(${LOCK_SPACE}::int, ${lockKey}::int)`;
    }
  }
}
