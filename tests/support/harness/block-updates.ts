/** Holds writes back where a test wants it, as if their process were slow or dead. */
import postgres from "postgres";

/** Makes updates of a table, or inserts, wait. @param when the condition on the row that would be, `new` */
export async function blockUpdates(
  databaseUrl: string,
  blocked: { lock: number; table: string; when: string; change?: "update" | "insert" },
) {
  const { lock, table, when, change = "update" } = blocked;
  const holder = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await holder`select pg_advisory_lock(${lock})`;
  await holder.unsafe(`
    create function block_${lock}() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(${lock}); return new; end $$;
    create trigger block_${lock} before ${change} on ${table}
      for each row when (${when}) execute function block_${lock}()`);
  const waiting = () => holder`
    select pid from pg_locks where locktype = 'advisory' and objid = ${lock} and not granted`;
  const remove = async () => {
    await holder.unsafe(`drop trigger block_${lock} on ${table}; drop function block_${lock}()`);
    await holder.end();
  };
  return {
    /** Returns how many writes are waiting. */
    waiting: async () => (await waiting()).length,
    /** Lets the writes happen. */
    async release() {
      await holder`select pg_advisory_unlock(${lock})`;
      await remove();
    },
    /** The writes never happen, as if their process had died right before them. */
    async drop() {
      for (const { pid } of await waiting()) await holder`select pg_terminate_backend(${pid})`;
      await remove();
    },
  };
}
