import { describe, expect, test } from "vitest";
import {
  condensedMemory,
  fullMemory,
  listProposals,
  proposalFor,
} from "../support/fixtures/memory.ts";
import { makeArtist } from "../support/fixtures/people.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { fireTasks } from "../support/fixtures/tasks.ts";
import {
  listWorkspaceFiles,
  putFile,
  readWorkspaceFile,
} from "../support/fixtures/workspace-files.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const pathOf = (id: string, decision: "accept" | "reject") =>
  `/api/workspace/memory/proposals/${id}/${decision}`;
const accept = (caller: Client, id: string) => caller.post(pathOf(id, "accept"));
const stateOf = (proposal: unknown) => ({ status: "success", proposal });

describe("a memory that is nearly full", () => {
  test("gets a shorter text, which replaces it once it is accepted", async () => {
    const { id: account, withKey } = await createPerson();
    const artist_id = await makeArtist(withKey);
    await putFile(withKey, "MEMORY.md", fullMemory, { artist_id });
    const proposal = await proposalFor(withKey, 1, `?artist_id=${artist_id}`);
    expect(proposal).toMatchObject({ artist_id, state: "proposed", text: condensedMemory });
    expect(proposal.diff).toContain("\n-- 2026-10-01: Fact 0 about");
    expect(proposal.diff).toMatch(/^--- a\/MEMORY\.md/m);
    expect(await readWorkspaceFile(withKey, "MEMORY.md", { artist_id })).toBe(fullMemory);

    const accepted = { ...proposal, state: "accepted" };
    // Twice at once, and again.
    const answers = await Promise.all([accept(withKey, proposal.id), accept(withKey, proposal.id)]);
    expect([...answers, await accept(withKey, proposal.id)].map(({ body }) => body)).toEqual(
      Array(3).fill(stateOf(accepted)),
    );
    const files = await listWorkspaceFiles(withKey, { artist_id });
    const author = { account_id: account, run_id: null };
    expect(files).toMatchObject([{ path: "MEMORY.md", version: 2, author }]);
    expect(await readWorkspaceFile(withKey, "MEMORY.md", { artist_id })).toBe(condensedMemory);
    expect(await readWorkspaceFile(withKey, "MEMORY.md", { artist_id, version: "1" })).toBe(
      fullMemory,
    );
    expectError(
      await withKey.post(pathOf(proposal.id, "reject")),
      409,
      "error",
      "The proposal is accepted: restore the earlier version of MEMORY.md",
    );
    expect(await listProposals(withKey)).toEqual([]);
    const usage = await sql`select kind, artist_id from usage_entries
      where account_id = ${account} and source = ${proposal.id} and input_tokens > 1000`;
    expect(usage).toEqual([{ kind: "chat", artist_id }]);
  });

  test("keeps its newer version, which gets another proposal", async () => {
    const { withKey } = await createPerson();
    await putFile(withKey, "MEMORY.md", fullMemory);
    const { id } = await proposalFor(withKey, 1);
    const newer = `${fullMemory}- 2026-11-03: The tour starts in Oslo.\n`;
    await putFile(withKey, "MEMORY.md", newer);
    expectError(
      await accept(withKey, id),
      409,
      "error",
      "MEMORY.md has changed since the proposal: list the proposals again, its newest version gets one of its own if it is nearly full",
    );
    expect(await readWorkspaceFile(withKey, "MEMORY.md")).toBe(newer);
    const next = await proposalFor(withKey, 2);
    expect(next).toMatchObject({ state: "proposed", text: expect.stringContaining("Oslo") });
    expect((await listProposals(withKey)).map(({ state }) => state)).toEqual(["proposed", "stale"]);
    const rejected = await withKey.post(pathOf(next.id, "reject"));
    expect(rejected.body).toEqual(stateOf({ ...next, state: "rejected" }));
    expectError(
      await accept(withKey, next.id),
      409,
      "error",
      "The proposal was rejected: edit MEMORY.md, or wait for the next one",
    );
  });

  test("is replaced automatically for an account that allows it, unless much would be lost", async () => {
    const { id, withKey } = await createPerson();
    await withKey.patch("/api/accounts/me", { auto_accept_memory: true });
    await putFile(withKey, "MEMORY.md", fullMemory);
    await expect
      .poll(async () => (await proposalFor(withKey, 1)).state, { timeout: 90_000 })
      .toBe("accepted");
    expect(await readWorkspaceFile(withKey, "MEMORY.md")).toBe(condensedMemory);
    await putFile(withKey, "MEMORY.md", "- The same fact, noted over and over.\n".repeat(200));
    const { text, state } = await proposalFor(withKey, 3);
    expect([text, state]).toEqual(["- The same fact, noted over and over.\n", "proposed"]);
    expect(
      await sql`select due_at from memory_proposals where account_id = ${id} and text = ${text}`,
    ).toEqual([{ due_at: null }]);
  });

  test("gets none if the model writes nothing shorter, and loses it with its versions", async () => {
    const { id, withKey } = await createPerson();
    await putFile(withKey, "MEMORY.md", condensedMemory + "x".repeat(3_000));
    const states = async () => {
      await fireTasks();
      const rows = await sql`select p.state from memory_proposals p where p.account_id = ${id}`;
      return rows.map(({ state }) => state);
    };
    await expect.poll(states, { timeout: 90_000 }).toEqual(["failed"]);
    expect(await listProposals(withKey)).toEqual([]);
    await withKey.delete("/api/workspace/files/content?path=MEMORY.md&permanent=true");
    expect(await states()).toEqual([]);
  });
});
