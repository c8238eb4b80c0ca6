import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { rolledBack } from "./transaction.ts";

const page = {
  limit: 25,
  after_at: "9999-12-31T23:59:59Z",
  after_id: "ffffffff-ffff-ffff-ffff-ffffffffffff",
};
const none = { status_class: null, route: null, credential: null, api_key_id: null };

test("a page of a long log reads no more rows than it has, with each filter", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account_id = await transaction.account();
    const apiKeyId = randomUUID();
    await sql`insert into requests (account_id, method, route, status, duration_ms, credential,
        api_key_id, request_id, created_at)
      select ${account_id}, 'GET', case when n % 5000 = 1 then '/api/rare' else '/api/keys' end,
        case when n % 5000 = 2 then 500 else 200 end, 1,
        case when n % 5000 = 3 then 'api_key' else 'bearer' end,
        case when n % 5000 = 3 then ${apiKeyId}::uuid end, 'r', now() - n * interval '1 second'
      from generate_series(1, 50000) n`;
    await sql`analyze public.requests`;
    const list = (filters: object) => () =>
      transaction.call("list_requests", { account_id, ...page, ...none, ...filters });
    for (const [filters, count] of [
      // One more than the page, which shows that there is another page.
      [{}, 26],
      [{ status_class: 2 }, 26],
      [{ status_class: 5 }, 10],
      [{ route: "/api/rare" }, 10],
      [{ credential: "api_key" }, 10],
      [{ api_key_id: apiKeyId }, 10],
      [{ api_key_id: apiKeyId, status_class: 5 }, 0],
    ] as const) {
      const read = await transaction.rowsRead("requests", list(filters));
      expect({ filters, isFew: read < 100, read }).toMatchObject({ isFew: true });
      expect(await list(filters)()).toHaveLength(count);
    }
  });
});

test("requests are deleted when they are old enough, and a batch at a time", async () => {
  await rolledBack(async (transaction) => {
    const { sql } = transaction;
    const account_id = await transaction.account();
    await sql`insert into requests (account_id, method, route, status, duration_ms, credential,
        request_id, created_at)
      select ${account_id}, 'GET', '/api/keys', 200, 1, 'bearer', n::text,
        now() - interval '100 years' + n * interval '1 day'
      from generate_series(1, 5) n`;
    const left = () => sql`select from requests where account_id = ${account_id}`;
    expect(await transaction.call("sweep_rows", { kind: "requests", batch: 3, days: 36_600 })).toBe(
      0,
    );
    expect(await transaction.call("sweep_rows", { kind: "requests", batch: 3, days: 36_500 })).toBe(
      3,
    );
    expect(await left()).toHaveLength(2);
  });
});

test("requests of an account that is deleted meanwhile are left out, the others are not", async () => {
  await rolledBack(async (transaction) => {
    const account_id = await transaction.account();
    const request = {
      ...{ method: "GET", route: "/api/keys", status: 200, duration_ms: 12.34 },
      ...{ credential: "bearer", api_key_id: null, request_id: "r", created_at: new Date() },
    };
    const requests = [
      { ...request, account_id: randomUUID() },
      { ...request, account_id },
    ];
    await transaction.call("record_requests", { requests });
    const listed = await transaction.call("list_requests", { account_id, ...page, ...none });
    expect(listed).toMatchObject([{ request_id: "r", duration_ms: 12.34 }]);
    await transaction.sql`delete from accounts where id = ${account_id}`;
    const rows = await transaction.sql`select from requests where account_id = ${account_id}`;
    expect(rows).toHaveLength(0);
  });
});
