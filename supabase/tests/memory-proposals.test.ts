/** The queue of memories that are nearly full: who gets a job, and the usage of a lost lease. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { rolledBack, type Transaction } from "./transaction.ts";

const jobs = z.array(z.looseObject({ id: z.string(), leaseId: z.string(), accountId: z.string() }));

class Memory {
  readonly transaction: Transaction;
  readonly account: string;

  constructor(transaction: Transaction, account: string) {
    this.transaction = transaction;
    this.account = account;
  }

  /** Stores a memory of so many characters. */
  async write(chars: number) {
    const place = { account_id: this.account, artist_id: null };
    const content = { sha256: randomUUID().replaceAll("-", "").repeat(2), bytes: chars };
    const reserved = Object(
      await this.transaction.call("reserve_workspace_content", {
        ...{ ...place, ...content, limit_bytes: 1_000_000 },
      }),
    );
    await this.transaction.call("change_workspace_file", {
      ...{ ...place, path: "MEMORY.md", content_id: reserved.content.id, text: "x".repeat(chars) },
      ...{ run_id: null, expected: null, conflict_of: null, max_files: 9, max_versions: 9 },
    });
  }

  async claim() {
    const args = { limit: 1_000, lease_seconds: 60, max_attempts: 2 };
    return jobs
      .parse(await this.transaction.call("claim_memory_proposals", args))
      .filter(({ accountId }) => accountId === this.account);
  }

  end(job: { id: string; leaseId: string } | undefined, text: string | null, mayAccept = false) {
    const call = { step: 1, tool: -1, call: 0, model_id: "m", input_tokens: 7, cost_usd: 1 };
    return this.transaction.call("end_memory_proposal", {
      ...{ account_id: this.account, id: job?.id ?? "", lease_id: job?.leaseId ?? "" },
      ...{ artist_id: null, text, diff: "", may_accept: mayAccept, retry_seconds: 0 },
      usage: [call],
    });
  }

  async expireLease() {
    await this.transaction.sql`
      update memory_proposals set due_at = now() - interval '1 second'
      where account_id = ${this.account} and due_at is not null`;
  }

  async states() {
    const rows = await this.transaction.sql`select state from memory_proposals
      where account_id = ${this.account} order by base_version`;
    return rows.map(({ state }) => state);
  }
}

const withMemory = (work: (memory: Memory) => Promise<void>) =>
  rolledBack(async (transaction) => work(new Memory(transaction, await transaction.account())));

test("only a memory that is nearly full is due, and only its newest version", () =>
  withMemory(async (memory) => {
    for (const chars of [6_000, 32_001, 6_001, 32_000]) await memory.write(chars);
    expect(await memory.claim()).toMatchObject([{ attempt: 1, text: null }]);
    expect(await memory.states()).toEqual(["failed", "due"]);
  }));

test("one process has the lease; after its death another one has, and its usage counts", () =>
  withMemory(async (memory) => {
    await memory.write(7_000);
    const [lost] = await memory.claim();
    expect(await memory.claim()).toEqual([]);
    await memory.expireLease();
    const [next] = await memory.claim();
    expect(next).toMatchObject({ id: lost?.id, attempt: 2 });
    await memory.end(lost, "late");
    expect(await memory.states()).toEqual(["due"]);
    const [usage] = await memory.transaction.sql`
      select input_tokens::int as tokens from usage_entries where source = ${String(lost?.id)}`;
    expect(usage).toEqual({ tokens: 7 });
    // A memory with which processes die is given up.
    await memory.expireLease();
    expect(await memory.claim()).toEqual([]);
    expect(await memory.states()).toEqual(["failed"]);
  }));

test("nothing is written for an account that has spent its budget, or reserved the rest", () =>
  withMemory(async (memory) => {
    const { sql } = memory.transaction;
    await memory.write(7_000);
    await sql`update accounts set monthly_budget_usd = 1 where id = ${memory.account}`;
    const [job] = await memory.claim();
    const reserve = (estimate_usd: number | null) =>
      memory.transaction.call("reserve_call", {
        ...{ account_id: memory.account, id: job?.leaseId ?? "", load: null, estimate_usd },
        ...{ released_usd: null, spent_usd: 0, in_flight: 0 },
      });
    expect(await reserve(null)).toBe("unpriced_model");
    expect(await reserve(0.7)).toBe("reserved");
    expect(await reserve(0.7)).toBe("budget_reached");
    const unspent = () => memory.transaction.call("unspent_budget", { account_id: memory.account });
    expect(Number(await unspent())).toBeCloseTo(0.3);
    await memory.end(job, null);
    expect(Number(await unspent())).toBe(0);
    await memory.expireLease();
    expect(await memory.claim()).toEqual([]);
    expect(await memory.states()).toEqual(["due"]);
  }));

test("a text is accepted automatically only while the account allows it", () =>
  withMemory(async (memory) => {
    const allow = (allowed: boolean) => memory.transaction.sql`
      update accounts set auto_accept_memory = ${allowed} where id = ${memory.account}`;
    await memory.write(7_000);
    await allow(true);
    await memory.end((await memory.claim())[0], "shorter", true);
    expect(await memory.claim()).toMatchObject([{ text: "shorter", attempt: 1 }]);
    await allow(false);
    await memory.expireLease();
    expect(await memory.claim()).toEqual([]);
    expect(await memory.states()).toEqual(["proposed"]);
  }));

test("an account that may no longer act for the artist pays for no memory of it", () =>
  withMemory(async (memory) => {
    const { sql } = memory.transaction;
    await memory.write(7_000);
    const artist = randomUUID();
    await sql`insert into accounts (id, kind, name) values (${artist}, 'artist', 'a')`;
    await sql`insert into workspaces (id) values (${artist})`;
    await sql`update workspace_contents set workspace_id = ${artist}
      where workspace_id = ${memory.account}`;
    await sql`update workspace_files set workspace_id = ${artist}
      where workspace_id = ${memory.account}`;
    expect(await memory.claim()).toEqual([]);
    expect(await memory.states()).toEqual(["failed"]);
  }));
