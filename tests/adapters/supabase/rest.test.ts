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
      marker text,
      at timestamptz not null default now()
    );
    alter table public.probe enable row level security;
    grant all on public.probe to anon, authenticated, service_role;

    create function public.probe_raise(code text) returns void language plpgsql as $$
    begin raise exception using errcode = code, message = 'raised'; end $$;

    create function public.probe_one(wanted uuid) returns public.probe
    language sql as $$ select * from public.probe p where p.id = wanted $$;

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
    drop function public.probe_raise, public.probe_one, public.probe_role;
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

describe("errors", () => {
  test("logs name the error and hold nothing of what was sent", async () => {
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
