import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { codeFor } from "../../support/harness/auth-session.ts";
import { admin, anonymous, setting, sql } from "../../support/harness/stack.ts";

beforeAll(async () => {
  await sql.unsafe(`
    create table public.probe (
      id uuid primary key default gen_random_uuid(),
      note text,
      amount int check (amount < 1000),
      doc jsonb,
      marker text,
      at timestamptz not null default now(),
      local timestamp
    );
    alter table public.probe enable row level security;
    grant all on public.probe to anon, authenticated, service_role;

    create function public.probe_json(doc jsonb, plain json default '{}') returns jsonb
    language sql as $$ select jsonb_build_object('kind', jsonb_typeof(doc), 'doc', doc, 'plain', plain) $$;

    create function public.probe_write_then_raise(id uuid) returns void language plpgsql as $$
    begin
      insert into public.probe (id, note) values (id, 'must not stay');
      raise sqlstate 'PT409' using message = 'taken', detail = 'by another', hint = 'wait';
    end $$;

    create function public.probe_raise(code text) returns void language plpgsql as $$
    begin raise exception using errcode = code, message = 'raised'; end $$;

    create function public.probe_one(wanted uuid) returns public.probe
    language sql as $$ select * from public.probe p where p.id = wanted $$;

    create function public.probe_many(wanted uuid[]) returns setof public.probe
    language sql as $$ select * from public.probe p where p.id = any(wanted) order by p.amount $$;

    create function public.probe_table(a int, b int default 2) returns table (sum int, at timestamptz)
    language sql as $$ select a + b, '2026-01-02T03:04:05.6Z'::timestamptz $$;

    create function public.probe_role() returns text
    language sql as $$ select current_user || ' ' || auth.role() $$;

    grant execute on all functions in schema public to service_role;
    notify pgrst, 'reload schema';
  `);
  // The notice travels beside us: wait until the server has it.
  await vi.waitFor(
    async () => {
      expect((await admin.from("probe").select()).error).toBeNull();
      expect((await admin.rpc("probe_role")).error).toBeNull();
    },
    { timeout: 60_000 },
  );
});

afterAll(async () => {
  await sql.unsafe(`
    drop function public.probe_json, public.probe_write_then_raise, public.probe_raise,
      public.probe_one, public.probe_many, public.probe_table, public.probe_role;
    drop table public.probe;
    notify pgrst, 'reload schema';
  `);
});

async function insertProbe(values: Record<string, unknown> = { note: null }): Promise<string> {
  const { data, error } = await admin.from("probe").insert(values).select("id").single();
  expect(error).toBeNull();
  return data?.id;
}

describe("concurrent writes", () => {
  test("100 parallel compare-and-sets have one winner, round after round", async () => {
    for (let round = 0; round < 5; round++) {
      const id = await insertProbe();
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          admin
            .from("probe")
            .update({ marker: `m${i}` })
            .eq("id", id)
            .is("marker", null)
            .select(),
        ),
      );
      expect(answers.filter((answer) => answer.error !== null)).toEqual([]);
      const winners = answers.flatMap((answer) => answer.data ?? []);
      expect(winners).toHaveLength(1);
      const [row] = await sql`select marker from public.probe where id = ${id}`;
      expect(row?.marker).toBe(winners[0]?.marker);
    }
  });

  test("a call that raises leaves none of its writes", async () => {
    const id = crypto.randomUUID();
    const { error } = await admin.rpc("probe_write_then_raise", { id });
    expect(error).not.toBeNull();
    expect(await sql`select from public.probe where id = ${id}`).toHaveLength(0);
  });
});

describe("row-level security", () => {
  test("the public key never sees a protected row while the service writes", async () => {
    const note = crypto.randomUUID();
    let writing = true;
    const writer = (async () => {
      for (let i = 0; i < 150; i++) await insertProbe({ note });
      writing = false;
    })();
    let seen = 0;
    let reads = 0;
    const reader = async () => {
      while (writing) {
        const { data, error } = await anonymous.from("probe").select();
        expect(error).toBeNull();
        seen += data?.length ?? 0;
        reads += 1;
      }
    };
    await Promise.all([writer, reader(), reader(), reader()]);
    expect(reads).toBeGreaterThan(20);
    expect(seen).toBe(0);
    expect(await sql`select from public.probe where note = ${note}`).toHaveLength(150);
  });

  test("a role does not leak to the next request on the same connection", async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        i % 2 === 0
          ? admin.from("probe").select("id").limit(1)
          : anonymous.from("probe").select("id"),
      ),
    );
    answers.forEach(({ data }, i) => {
      if (i % 2 === 1) expect(data).toEqual([]);
      else expect(data).toHaveLength(1);
    });
  });

  test("a request without a key, or with a made-up one, is refused", async () => {
    const url = `${setting("SUPABASE_URL")}/rest/v1/probe?select=*`;
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { apikey: "sb_secret_guess" } })).status).toBe(401);
    const rpc = `${setting("SUPABASE_URL")}/rest/v1/rpc/probe_role`;
    expect((await fetch(rpc, { method: "POST", body: "{}" })).status).toBe(401);
  });

  test("a service call with a person's token acts as that person, not as the service", async () => {
    const person = createClient(setting("SUPABASE_URL"), setting("SUPABASE_SECRET_KEY"), {
      auth: { persistSession: false, autoRefreshToken: false },
    });
    const email = `${randomUUID()}@example.com`;
    const token = await codeFor(email);
    const { error } = await person.auth.verifyOtp({ type: "email", email, token });
    expect(error).toBeNull();
    const answer = await person.rpc("probe_role");
    // Closed to `authenticated`: the service's rights were not used.
    expect(answer.status).toBe(403);
  });
});

describe("what arrives and what comes back", () => {
  test.each([
    ["an object", { a: [1, "x", { ключ: "значение ☃" }] }, "object"],
    ["a list", [1, 2], "array"],
    ["a number", 3.5, "number"],
    ["true", true, "boolean"],
  ])("a json argument that is %s arrives once-encoded", async (_, doc, kind) => {
    const { data, error } = await admin.rpc("probe_json", { doc, plain: doc });
    expect(error).toBeNull();
    expect(data).toEqual({ kind, doc, plain: doc });
  });

  test("a json column gives back what was put in", async () => {
    const doc = { text: "a\\b'c\"d\n", list: [null, { deep: true }] };
    const id = await insertProbe({ doc });
    const { data } = await admin.from("probe").select("doc").eq("id", id).single();
    expect(data?.doc).toEqual(doc);
    const [row] = await sql`select jsonb_typeof(doc) as kind from public.probe where id = ${id}`;
    expect(row?.kind).toBe("object");
  });

  test("timestamps are ISO 8601, by select and by call", async () => {
    const id = await insertProbe({ at: "2026-01-02T03:04:05.6Z", local: "2026-01-02 03:04:05" });
    const selected = await admin.from("probe").select("at, local").eq("id", id).single();
    expect(selected.data).toEqual({
      at: "2026-01-02T03:04:05.6+00:00",
      local: "2026-01-02T03:04:05",
    });
    const called = await admin.rpc("probe_one", { wanted: id });
    expect(called.data).toMatchObject(selected.data ?? {});
  });

  test("a call answers a row, rows or a value", async () => {
    const ids = [await insertProbe({ amount: 1 }), await insertProbe({ amount: 2 })];
    const call = async (name: string, args: Record<string, unknown>) =>
      (await admin.rpc(name, args).throwOnError()).data;
    expect(await call("probe_one", { wanted: ids[0] })).toMatchObject({ id: ids[0], amount: 1 });
    expect(await call("probe_many", { wanted: ids })).toHaveLength(2);
    expect(await call("probe_many", { wanted: [] })).toEqual([]);
    expect(await call("probe_role", {})).toBe("service_role service_role");
  });

  test("an unknown function and a missing argument are 404 with PostgREST's code", async () => {
    const unknown = await admin.rpc("probe_nowhere", { a: 1 });
    expect([unknown.status, unknown.error?.code]).toEqual([404, "PGRST202"]);
    const missing = await admin.rpc("probe_table", { b: 1 });
    expect([missing.status, missing.error?.code]).toEqual([404, "PGRST202"]);
  });
});

describe("errors", () => {
  test("PT409 arrives as HTTP 409 with its code, message, detail and hint", async () => {
    const { status, error } = await admin.rpc("probe_write_then_raise", {
      id: crypto.randomUUID(),
    });
    expect(status).toBe(409);
    expect(error).toMatchObject({
      code: "PT409",
      message: "taken",
      details: "by another",
      hint: "wait",
    });
  });

  test.each([
    ["P0001", 400],
    ["PT404", 404],
    ["PT422", 422],
    ["23514", 400],
    ["40001", 500],
    ["57014", 500],
    ["53300", 503],
  ])("SQLSTATE %s has PostgREST's status %i", async (code, status) => {
    const answer = await admin.rpc("probe_raise", { code });
    expect([answer.status, answer.error?.code]).toEqual([status, code]);
  });

  test("a broken check is 400, a duplicate 409", async () => {
    const broken = await admin.from("probe").insert({ amount: 5000 });
    expect([broken.status, broken.error?.code]).toEqual([400, "23514"]);
    const id = await insertProbe();
    const twice = await admin.from("probe").insert({ id });
    expect([twice.status, twice.error?.code]).toEqual([409, "23505"]);
  });

  test("logs name the error and contain nothing of the request", async () => {
    const secret = `secret-${crypto.randomUUID()}`;
    await admin.from("probe").insert({ note: secret, amount: 5000 });
    await admin.from("probe").select().eq("id", secret);
    await admin.rpc("probe_one", { wanted: secret });
    await admin.rpc("probe_raise", { code: secret.slice(0, 5) });
    const logs = join(setting("DATA_DIR"), "logs");
    const supabase = readFileSync(join(logs, "supabase.log"), "utf8");
    const postgres = readFileSync(join(logs, "postgres.log"), "utf8");
    expect(supabase).toContain("23514");
    expect(supabase).toContain("22P02");
    expect(supabase + postgres).not.toContain("secret-");
  });
});
