/** A write that waits where a test wants it to, as if its process were slow there, or dead. */
import postgres from "postgres";

export interface BlockedUpdates {
  /** Writes that wait now. */
  waiting(): Promise<number>;
  /** The writes happen after all. */
  release(): Promise<void>;
  /** The writes never happen: their process died right before them. */
  drop(): Promise<void>;
}

/** Makes updates of a kind wait. @param what.when a condition on the row that would be, `new` */
export async function blockUpdates(
  databaseUrl: string,
  what: { readonly lock: number; readonly table: string; readonly when: string },
): Promise<BlockedUpdates> {
  const { lock, table, when } = what;
  const holder = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await holder`select pg_advisory_lock(${lock})`;
  await holder.unsafe(`
    create function block_${lock}() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(${lock}); return new; end $$;
    create trigger block_${lock} before update on ${table}
      for each row when (${when}) execute function block_${lock}()`);
  const waiting = () => holder`
    select pid from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted`;
  const remove = async () => {
    await holder.unsafe(`drop trigger block_${lock} on ${table}; drop function block_${lock}()`);
    await holder.end();
  };
  return {
    waiting: async () => (await waiting()).length,
    async release() {
      await holder`select pg_advisory_unlock(${lock})`;
      await remove();
    },
    async drop() {
      for (const { pid } of await waiting()) await holder`select pg_terminate_backend(${pid})`;
      await remove();
    },
  };
}
