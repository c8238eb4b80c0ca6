/** The cost of making one row durable on this machine: the lower bound for any stored turn. */
import postgres from "postgres";
import { quantile, timed } from "../context.ts";
import { AT_ONCE } from "./measure.ts";

const ROUNDS = 500;
const WARM_UP = 50;

/** Prints how long a committed insert takes, and how many there are a second on many connections. */
export async function reportCommits(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: AT_ONCE });
  try {
    await sql`create table public.bench_commits (value text not null)`;
    const insert = () => sql`insert into public.bench_commits values (${"x".repeat(200)})`;
    const times: number[] = [];
    for (let n = -WARM_UP; n < ROUNDS; n++) {
      const took = await timed(insert);
      if (n >= 0) times.push(took);
    }
    const burst = () => Promise.all(Array.from({ length: 20 * AT_ONCE }, insert));
    await burst();
    const rate = (20 * AT_ONCE * 1000) / (await timed(burst));
    const [p50, p95] = [0.5, 0.95].map((q) => quantile(times, q).toFixed(2));
    console.log(
      `One committed insert in PostgreSQL: p50 ${p50} ms, p95 ${p95} ms; ` +
        `${rate.toFixed(0)} a second on ${AT_ONCE} connections.`,
    );
  } finally {
    await sql`drop table if exists public.bench_commits`;
    await sql.end();
  }
}
