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
import { Session, type Sql } from "./database.ts";

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
  /** Lives as long as the process: the lock belongs to it. */
  readonly #session: Session;
  /** The session in which this process holds its lock. */
  #registeredIn: Sql | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#session = new Session(options.databaseUrl);
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
    const sql = await this.#session.open();
    if (sql !== this.#registeredIn) {
      await this.#register(sql);
      this.#registeredIn = sql;
    }
    const others = await sql`select id, lock_key from engine.instances where id <> ${this.id}`;
    for (const other of others) {
      await this.#buryIfDead(sql, String(other.id), Number(other.lock_key));
    }
  }

  async #register(sql: Sql): Promise<void> {
    for (let first = this.#registeredIn === undefined; ; first = false) {
      // One statement: nobody sees this process without its sign of life.
      const rows = await sql`
        with added as (
          insert into engine.instances (id) values (${this.id}) on conflict do nothing
          returning lock_key)
        select true as added, pg_advisory_lock(${LOCK_SPACE}::int, lock_key::int) from added
        union all
        select false, pg_advisory_lock(${LOCK_SPACE}::int, lock_key::int)
        from engine.instances where id = ${this.id}`;
      if (rows[0]?.added === true && !first) this.#options.onLost();
      // While this process waited for its lock, another may have been burying it.
      const [row] = await sql`select id from engine.instances where id = ${this.id}`;
      if (row) return;
      await sql`select pg_advisory_unlock_all()`;
    }
  }

  async #buryIfDead(sql: Sql, other: string, lockKey: number): Promise<void> {
    const [lock] = await sql`
      select pg_try_advisory_lock(${LOCK_SPACE}::int, ${lockKey}::int) as free`;
    if (lock?.free !== true) return;
    try {
      // The lock may have been free because another survivor has just finished with it.
      const [still] = await sql`select id from engine.instances where id = ${other}`;
      if (!still) return;
      const runs = await this.#options.onDeath(other);
      await sql`delete from engine.instances where id = ${other}`;
      this.#options.onTakenOver(runs);
    } finally {
      await sql`select pg_advisory_unlock(${LOCK_SPACE}::int, ${lockKey}::int)`;
    }
  }
}
