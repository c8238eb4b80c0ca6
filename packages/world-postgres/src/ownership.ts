/**
 * Leases: which process owns which run.
 *
 * A process is alive while its database session holds the advisory lock of its row in `engine.instances`.
 * When it dies, PostgreSQL ends the session and releases the lock; the process that acquires the lock next
 * clears the owner of the dead one's runs. All live processes then adopt these runs in small portions,
 * which spreads them. When the sessions ended with the database itself, the owners may all be alive, so the
 * first process that is back waits for the others, and so does one that starts while several have no
 * session. No clocks are compared, and two processes cannot both win. A process that loses its session and
 * then finds its row deleted was fenced: it has lost its runs, and the `owner` in the predicate of its late
 * writes rejects them. Until it has a row again it gets no run, and its new runs have no owner.
 */
import { randomUUID } from "node:crypto";
import { Session, type Sql, unlessUnavailable } from "./database.ts";
import type { Measurements } from "./measurements.ts";

export interface OwnershipOptions {
  readonly databaseUrl: string;
  /** Adopts and continues at most `limit` runs without an owner; resolves with their number. */
  readonly adopt: (limit: number) => Promise<number>;
  /** This process was fenced: another one has taken over its runs. */
  readonly onLost: () => void;
  readonly onError: (error: unknown) => void;
  readonly measurements: Measurements;
}

const REAP_INTERVAL_MS = 1_000;
/** How long owners have to come back after the database has restarted, or has closed the session of this process. */
const GRACE_SECONDS = 5;
/** Runs that are adopted at a time: few, because processes that adopt at the same time should share them. */
const PORTION = 4;
/** The first key of the two-key advisory locks of this table. */
const LOCK_SPACE = 20_261;

export class Ownership {
  readonly id = randomUUID();
  readonly #options: OwnershipOptions;
  /** Held for the life of the process, because the lock belongs to the session. */
  readonly #session: Session;
  /** The session in which this process holds its lock; undefined before the first one. */
  #registeredIn: Sql | undefined;
  /** When this process replaced a lost session. */
  #returnedAt = Number.NEGATIVE_INFINITY;
  #adoption: Promise<void> | undefined;
  #adoptAgain = false;
  #leaving = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#session = new Session(options.databaseUrl);
  }

  /**
   * Registers this process, and reaps dead ones and adopts runs, now and every second: during an outage, as soon as
   * it has passed.
   */
  async start(): Promise<void> {
    await unlessUnavailable(this.#reap(), this.#options.onError);
    this.#scheduleReap();
  }

  /** Adopts all runs without an owner, unless another process adopts them first. */
  adopt(): Promise<void> {
    // Runs that became free after the last statement of an adoption in progress are for the next one.
    this.#adoptAgain = true;
    this.#adoption ??= this.#adoptAll().finally(() => {
      this.#adoption = undefined;
    });
    return this.#adoption;
  }

  /** Adopts nothing from now on. Resolves when an adoption in progress has ended. */
  async retire(): Promise<void> {
    this.#leaving = true;
    await this.#adoption?.catch(() => {});
  }

  async #adoptAll(): Promise<void> {
    while (this.#adoptAgain && !this.#leaving) {
      this.#adoptAgain = false;
      if ((await this.#options.adopt(PORTION)) === PORTION) this.#adoptAgain = true;
    }
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
      if (this.#registeredIn || (await this.#countGone(sql)) > 1) {
        this.#returnedAt = performance.now();
      }
      this.#registeredIn = sql;
    }
    const graceLeft = GRACE_SECONDS * 1_000 + this.#returnedAt - performance.now();
    const dead = await sql`
      with others as materialized (
        select id, lock_key from engine.instances
        where id <> ${this.id} and ${graceLeft <= 0}
          and pg_postmaster_start_time() < now() - make_interval(secs => ${GRACE_SECONDS}))
      select id, lock_key from others where pg_try_advisory_lock(${LOCK_SPACE}::int, lock_key::int)`;
    for (const { id, lock_key } of dead) {
      await removeDead(sql, String(id), this.#options.measurements).catch(this.#options.onError);
      await sql`select pg_advisory_unlock(${LOCK_SPACE}::int, ${Number(lock_key)}::int)`;
    }
    await this.adopt();
  }

  /** Returns how many other processes have no session: one has died, several have lost it with the database or a pooler. */
  async #countGone(sql: Sql): Promise<number> {
    const [gone] = await sql`
      select count(*) from engine.instances i where id <> ${this.id} and not exists (
        select from pg_locks where locktype = 'advisory' and granted and objsubid = 2
          and classid = ${LOCK_SPACE}::oid and objid = i.lock_key::oid
          and database = (select oid from pg_database where datname = current_database()))`;
    return Number(gone?.count);
  }

  async #register(sql: Sql): Promise<void> {
    for (let first = this.#registeredIn === undefined; ; first = false) {
      // One statement: no other process may see the row without its lock.
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
}

async function removeDead(sql: Sql, id: string, measurements: Measurements): Promise<void> {
  // The subquery sees the runs as they were before the call.
  const [before] = await sql`
    select engine.remove_instance(${id}),
      (select count(*) from engine.runs where owner = ${id} and status = 'running') as runs`;
  measurements.count("runs.freed", Number(before?.runs));
}
