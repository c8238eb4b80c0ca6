import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { rolledBack, type Transaction } from "./transaction.ts";

async function createAccount({ sql }: Transaction, kind: string, isAdmin = false): Promise<string> {
  const id = randomUUID();
  await sql`insert into accounts (id, kind, is_admin) values (${id}, ${kind}, ${isAdmin})`;
  return id;
}

async function link(
  { sql }: Transaction,
  organization: string,
  account: string,
  role = "member",
): Promise<void> {
  await sql`insert into organization_accounts (organization_id, account_id, role)
    values (${organization}, ${account}, ${role})`;
}

async function createKey({ sql }: Transaction, account: string, scope = "full"): Promise<string> {
  const hash = randomUUID();
  await sql`insert into api_keys (account_id, name, hash, prefix, scope)
    values (${account}, 'own', ${hash}, 'ap_own', ${scope})`;
  return hash;
}

describe("may_act_for", () => {
  test("reaches oneself, organizations and what is linked to them, and no stranger", () =>
    rolledBack(async (transaction) => {
      const [person, stranger] = [await transaction.account(), await transaction.account()];
      const organization = await createAccount(transaction, "organization");
      const artist = await createAccount(transaction, "artist");
      await link(transaction, organization, person);
      await link(transaction, organization, artist);
      const mayActFor = (caller: string, target: string) =>
        transaction.call("may_act_for", { caller, target });
      for (const target of [person, organization, artist]) {
        expect(await mayActFor(person, target)).toBe(true);
      }
      for (const target of [person, organization, artist, randomUUID()]) {
        expect(await mayActFor(stranger, target)).toBe(false);
      }
    }));

  test("reaches nothing for a viewer, who sees all of it", () =>
    rolledBack(async (transaction) => {
      const [viewer, member] = [await transaction.account(), await transaction.account()];
      const artist = await createAccount(transaction, "artist");
      const admins = await createAccount(transaction, "organization", true);
      const organization = await createAccount(transaction, "organization");
      for (const one of [admins, organization]) await link(transaction, one, viewer, "viewer");
      for (const account of [member, artist]) await link(transaction, organization, account);
      for (const target of [organization, artist, member]) {
        expect(await transaction.call("may_act_for", { caller: viewer, target })).toBe(false);
        expect(await transaction.call("may_see", { caller: viewer, target })).toBe(true);
      }
    }));

  test("reaches every account that exists for members of the admin organization", () =>
    rolledBack(async (transaction) => {
      const [person, stranger] = [await transaction.account(), await transaction.account()];
      await link(transaction, await createAccount(transaction, "organization", true), person);
      const mayActFor = (target: string) =>
        transaction.call("may_act_for", { caller: person, target });
      expect([await mayActFor(stranger), await mayActFor(randomUUID())]).toEqual([true, false]);
    }));
});

describe("access_verdicts", () => {
  test("a foreign account and a missing one give the same", () =>
    rolledBack(async (transaction) => {
      const [caller, stranger] = [await transaction.account(), await transaction.account()];
      const verdicts = (id: string) =>
        transaction.call("access_verdicts", {
          caller,
          may_switch: true,
          account_id: id,
          organization_id: id,
          artist_id: id,
        });
      const seen = { account: false, organization: false, artist: false };
      const none = { ...seen, seen };
      expect([await verdicts(stranger), await verdicts(randomUUID())]).toEqual([none, none]);
    }));
});

describe("take_from_bucket", () => {
  test("admits as many requests a minute as it holds, and counts no refused one", () =>
    rolledBack(async (transaction) => {
      const args = { bucket: `test:${randomUUID()}`, per_minute: 2 };
      const admitted = { limit: 2, retry_after: null };
      expect(await transaction.call("take_from_bucket", args)).toMatchObject(admitted);
      expect(await transaction.call("take_from_bucket", args)).toMatchObject(admitted);
      const [before] =
        await transaction.sql`select * from rate_limits where bucket = ${args.bucket}`;
      const refused = { remaining: 0, retry_after: expect.any(Number) };
      expect(await transaction.call("take_from_bucket", args)).toMatchObject(refused);
      const [after] =
        await transaction.sql`select * from rate_limits where bucket = ${args.bucket}`;
      expect(after).toEqual(before);
    }));
});

describe("authenticate_key", () => {
  test("knows a key in force; one that is revoked, expired or missing is unknown", () =>
    rolledBack(async (transaction) => {
      const account = await transaction.account();
      const hash = await createKey(transaction, account);
      expect(await transaction.call("authenticate_key", { hash })).toMatchObject({
        outcome: "known",
        scope: "full",
        account_id: account,
      });
      const unknown = { outcome: "unknown" };
      expect(await transaction.call("authenticate_key", { hash: randomUUID() })).toEqual(unknown);
      await transaction.sql`update api_keys set revoked_at = now() where hash = ${hash}`;
      expect(await transaction.call("authenticate_key", { hash })).toEqual(unknown);
      await transaction.sql`update api_keys set revoked_at = null, expires_at = now()
        where hash = ${hash}`;
      expect(await transaction.call("authenticate_key", { hash })).toEqual(unknown);
    }));

  test("does not know the credential of a run without its turn", () =>
    rolledBack(async (transaction) => {
      const hash = await createKey(transaction, await transaction.account(), "run");
      expect(await transaction.call("authenticate_key", { hash })).toEqual({ outcome: "unknown" });
    }));
});

describe("authenticate_email", () => {
  test("creates an account on first use, and finds it whatever the case of the letters", () =>
    rolledBack(async (transaction) => {
      const email = `${randomUUID()}@example.com`;
      const first = await transaction.call("authenticate_email", { email });
      expect(first).toMatchObject({ outcome: "known", account_id: expect.any(String) });
      expect(await transaction.call("authenticate_email", { email: email.toUpperCase() })).toEqual(
        first,
      );
    }));
});

describe("rotate_key", () => {
  test("replaces a key once", () =>
    rolledBack(async (transaction) => {
      const account_id = await transaction.account();
      const hash = await createKey(transaction, account_id);
      const [key] = await transaction.sql`select id from api_keys where hash = ${hash}`;
      const next = { account_id, id: key?.id, prefix: "ap_new", grace_seconds: 60, max: 9 };
      const fresh = randomUUID();
      await transaction.call("rotate_key", { ...next, hash: fresh });
      for (const either of [hash, fresh]) {
        const answer = await transaction.call("authenticate_key", { hash: either });
        expect(answer).toMatchObject({ outcome: "known", account_id });
      }
      const second = await transaction.call("rotate_key", { ...next, hash: randomUUID() });
      expect(second).toBe("raised PT409");
    }));
});

describe("sign-up codes", () => {
  test("one code works once, and five wrong tries end it", () =>
    rolledBack(async (transaction) => {
      const email = `${randomUUID()}@example.com`;
      const from = { email, address: "192.0.2.1", address_limit: 0 };
      const request = (code_hash: string) =>
        transaction.call("request_signup_code", { ...from, code_hash });
      const verify = (code_hash: string) => {
        const key = { key_name: "own", key_hash: randomUUID(), key_prefix: "ap_own" };
        return transaction.call("verify_signup_code", { ...from, ...key, code_hash });
      };
      expect(await request("right")).toMatchObject({ outcome: "mail" });
      expect(await verify("wrong")).toMatchObject({ outcome: "wrong" });
      expect(await verify("right")).toMatchObject({ outcome: "verified" });
      expect(await verify("right")).toMatchObject({ outcome: "wrong" });
      await request("second");
      for (let tries = 0; tries < 5; tries++) await verify("wrong");
      expect(await verify("second")).toMatchObject({ outcome: "dead" });
    }));
});

describe("has_sign_in_ended", () => {
  test("with the session, with a deletion since, and never where no session can be read", () =>
    rolledBack(async (transaction) => {
      const { sql } = transaction;
      const [user, session_id, identity_hash] = [randomUUID(), randomUUID(), randomUUID()];
      await sql`insert into auth.users (id, email) values (${user}, ${`${user}@example.com`})`;
      await sql`insert into auth.sessions (id, user_id) values (${session_id}, ${user})`;
      const ended = (issuedAt: string | null, session: string | null = session_id) =>
        transaction.call("has_sign_in_ended", {
          session_id: session,
          identity_hash,
          issued_at: issuedAt,
        });
      const issued = "2026-01-05T08:00:00Z";
      expect([await ended(issued), await ended(issued, randomUUID())]).toEqual([false, true]);
      await sql`insert into deleted_identities (hash, deleted_at)
        values (${identity_hash}, '2026-01-05T08:00:00.5Z')`;
      expect([await ended(issued), await ended("2026-01-05T08:00:01Z")]).toEqual([true, false]);
      expect(await ended(null)).toBe(true);
      await sql`alter schema auth rename to another`;
      expect(await ended("2026-01-05T08:00:01Z", randomUUID())).toBe(false);
    }));
});

describe("a key that has ended", () => {
  const ends = {
    revoked: ({ sql }: Transaction, id: string) =>
      sql`update api_keys set revoked_at = now() where id = ${id}`,
    expired: ({ sql }: Transaction, id: string) =>
      sql`update api_keys set expires_at = now() where id = ${id}`,
    "rotated, at the end of its grace time": ({ sql }: Transaction, id: string) =>
      sql`update api_keys set revoked_at = now() - interval '1 second' where id = ${id}`,
  };

  test.each(Object.entries(ends))("%s: leaves no turn and no order of a generation", (_, end) =>
    rolledBack(async (transaction) => {
      const { sql } = transaction;
      const account_id = await transaction.account();
      const turn = await openTurn(transaction, account_id);
      const order = { account_id, run_id: "run_none", credential_id: turn.key };
      const stopped = () => transaction.call("turns_to_stop", { ids: [turn.id] });
      expect(await stopped()).toEqual([]);
      expect(await transaction.call("has_generation_authority", order)).toBe(true);
      await end(transaction, turn.key);
      expect(await stopped()).toEqual([turn.id]);
      expect(await transaction.call("has_generation_authority", order)).toBe(false);
      const late = await openTurn(transaction, account_id, turn.key);
      const [row] = await sql`select stop_requested_at from turns where id = ${late.id}`;
      expect(row?.stop_requested_at).not.toBeNull();
    }),
  );

  test("starts a turn without the artist that its account has lost", () =>
    rolledBack(async (transaction) => {
      const artist = await createAccount(transaction, "artist");
      const turn = await openTurn(transaction, await transaction.account(), null, artist);
      const [row] = await transaction.sql`select artist_id from turns where id = ${turn.id}`;
      expect(row?.artist_id).toBeNull();
    }));
});

/** A turn that a key has started, a new one by default. */
async function openTurn(
  transaction: Transaction,
  account: string,
  key: string | null = null,
  artist: string | null = null,
): Promise<{ id: string; key: string }> {
  const { sql } = transaction;
  const hash = key === null ? await createKey(transaction, account) : null;
  const [made] = await sql`select id from api_keys where hash = ${hash}`;
  const [id, session, chat] = [randomUUID(), randomUUID(), randomUUID()];
  const keyId = key ?? String(made?.id);
  await sql`insert into sessions (id, account_id) values (${session}, ${account})`;
  await sql`insert into chats (id, session_id, account_id) values (${chat}, ${session}, ${account})`;
  await sql`insert into turns (id, account_id, session_id, chat_id, status, message_id,
      assistant_message_id, model_id, caller_key_id, artist_id)
    values (${id}, ${account}, ${session}, ${chat}, 'running', 'm1', 'm2', 'embedded/rules',
      ${keyId}, ${artist})`;
  return { id, key: keyId };
}

test("the many rows of an account are deleted in batches, without sandboxes, active turns and other accounts", () =>
  rolledBack(async (transaction) => {
    const { sql } = transaction;
    const [account_id, other] = [await transaction.account(), await transaction.account()];
    for (const id of [account_id, other]) {
      await sql`insert into sessions (account_id, title, sandbox_state)
        select ${id}, n, case when n = 1 then '{"name": "own"}'::jsonb end from generate_series(1, 60) n`;
      await sql`insert into chats (session_id, account_id, title)
        select id, account_id, 'words of ' || title from sessions where account_id = ${id}`;
      await sql`insert into messages (chat_id, id, role, parts)
        select id, 'm', 'user', '[{"type": "text", "text": "some text"}]' from chats where account_id = ${id}`;
      await sql`insert into turns (id, account_id, session_id, chat_id, message_id,
          assistant_message_id, model_id, finished_at)
        select gen_random_uuid(), account_id, session_id, id, 'm', 'a', 'm',
          case when title <> 'words of 2' then now() end
        from chats where account_id = ${id}`;
      await sql`insert into usage_entries (account_id, source, step, tool, call, kind, model_id)
        select ${id}, n, 0, 0, 0, 'chat', 'm' from generate_series(1, 120) n`;
    }
    let batches = 1;
    while (await transaction.call("delete_account_rows", { account_id, batch: 50 })) batches += 1;
    expect(batches).toBeGreaterThan(10);
    const rows = await sql`
      select a.id, (select array_agg(s.title order by s.title) from sessions s where s.account_id = a.id)
          as sessions,
        (select count(*)::int from usage_entries e where e.account_id = a.id) as entries,
        (select count(*)::int from usage_days e where e.account_id = a.id) as days
      from accounts a where a.id = ${account_id}`;
    expect(rows).toMatchObject([{ sessions: ["1", "2"], entries: 0, days: 0 }]);
    const [kept] = await sql`
      select (select count(*)::int from messages m where m.account_id = ${other}) as messages,
        (select count(*)::int from usage_entries e where e.account_id = ${other}) as entries`;
    expect(kept).toEqual({ messages: 60, entries: 120 });
  }));
