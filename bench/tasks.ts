/** The list of an account's task runs, alone and among 100,000 of other accounts. */
import postgres, { type Sql } from "postgres";
import { bareCall, compareRoutes, endpoint } from "./compare-routes.ts";
import { type Bench, type BenchContext, median, report, timed } from "./context.ts";
import { accountOf, fillAccounts } from "./fill-accounts.ts";

const OWN = 1_000;
const RUNS = 100_000;
const ROUNDS = 300;
const WARM_UP = 50;

export const benchTasks: Bench = async (context) => {
  const sql = postgres(context.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const accountId = await accountOf(sql, context);
    await fillAccounts(sql);
    await sql`${fill(sql, OWN)} join accounts a on a.id = ${accountId}`;
    await sql`analyze task_runs`;
    const alone = await readOften(context);
    await sql`${fill(sql, RUNS - OWN)} join accounts a on a.name = 'bench ' || n % 1000`;
    await sql`analyze task_runs`;
    const amongOthers = await readOften(context);
    report(`list of ${OWN} runs, p50: among ${RUNS} against alone`, "ms", amongOthers, alone);

    await compareRoutes(
      `list of ${RUNS / 1_000}k task runs: GET against its call`,
      endpoint(context, "/api/tasks/runs"),
      bareCall(context, "list_task_runs", { accountId, limit: 20 }),
    );
  } finally {
    await sql.end();
  }
};

/** Up to the join that says whose they are. */
const fill = (sql: Sql, count: number) => sql`
  insert into task_runs (id, account_id, status, task_identifier, created_at, started_at,
    finished_at, tags, metadata, payload, output, attempts)
  select 'run_' || replace(gen_random_uuid()::text, '-', ''), a.id, 'COMPLETED', 'generate-video',
    at.at, at.at, at.at, array['account:' || a.id], '{"step": "done"}',
    '{"prompt": "A slow pan over the harbor at dawn", "duration": "8s"}',
    '{"videoSourceUrl": "https://example.com/video.mp4"}',
    jsonb_build_array(jsonb_build_object('id', 'attempt_' || n, 'status', 'COMPLETED'))
  from generate_series(1, ${count}::int) n
  cross join lateral (select now() - make_interval(secs => n) as at) at`;

async function readOften({ url, key }: BenchContext): Promise<number> {
  const times: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const took = await timed(async () => {
      const response = await fetch(`${url}/api/tasks/runs`, { headers: { "x-api-key": key } });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      await response.text();
    });
    if (round >= 0) times.push(took);
  }
  return median(times);
}
