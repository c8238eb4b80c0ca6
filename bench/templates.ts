/** The list of agent templates where there are 10,000 of many accounts. */
import { pageArguments } from "@platform/endpoint/contract/pagination";
import postgres from "postgres";
import { bareCall, compareRoutes, endpoint } from "./compare-routes.ts";
import type { Bench } from "./context.ts";
import { accountOf, fillAccounts } from "./fill-accounts.ts";

const TEMPLATES = 10_000;

export const benchTemplates: Bench = async (context) => {
  const sql = postgres(context.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const accountId = await accountOf(sql, context);
    await fillAccounts(sql);
    // One in a hundred is the caller's own, half of all are private.
    await sql`
      insert into agent_templates
        (account_id, title, description, prompt, tags, is_private, created_at)
      select case when n % 100 = 0 then ${accountId}::uuid else a.id end,
        'Template ' || n, 'What the template of the bench is good for', repeat('Do it well. ', 40),
        '{bench,"list of many"}', n % 2 = 0, now() - make_interval(secs => n)
      from generate_series(1, ${TEMPLATES}::int) n
      join accounts a on a.name = 'bench ' || n % 1000`;
    await sql`analyze agent_templates`;
    const args = { accountId, ...pageArguments({ limit: 20 }) };
    await compareRoutes(
      `list of ${TEMPLATES / 1_000}k templates: GET against its call`,
      endpoint(context, "/api/agents/templates"),
      bareCall(context, "list_agent_templates", args),
    );
  } finally {
    await sql.end();
  }
};
