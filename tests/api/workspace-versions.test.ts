import { describe, expect, test } from "vitest";
import { putFile, readWorkspaceFile, workspacePath } from "../support/fixtures/workspace-files.ts";
import { createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const missing = { status: "error", error: "File not found" };

describe("GET /api/workspace/versions", () => {
  test("lists all versions of a file, newest first; 404 for a file that never was", async () => {
    const [{ withKey }, stranger] = await Promise.all([createPerson(), createPerson()]);
    await putFile(withKey, "a", "1");
    await putFile(withKey, "a", "22");
    await withKey.delete(workspacePath("files/content", { path: "a" }));
    const path = workspacePath("versions", { path: "a" });
    expect((await withKey.get(path)).body).toMatchObject({
      versions: [
        { version: 3, deleted: true, size: null, sha256: null },
        { version: 2, deleted: false, size: 2 },
        { version: 1, deleted: false, size: 1 },
      ],
      next_cursor: null,
    });
    for (const answer of [
      await stranger.withKey.get(path),
      await withKey.get(workspacePath("versions", { path: "b" })),
    ]) {
      expect([answer.status, answer.body]).toEqual([404, missing]);
    }
  });

  test("keeps the newest 100", async () => {
    const { id, withKey } = await createPerson();
    await putFile(withKey, "a", "1");
    await sql`update workspace_files set version = 100 where workspace_id = ${id}`;
    await putFile(withKey, "a", "2");
    const { body } = await withKey.get(workspacePath("versions", { path: "a" }));
    expect(body).toMatchObject({ versions: [{ version: 101 }] });
    const restored = await withKey.post("/api/workspace/restore", { path: "a", version: 1 });
    expect([restored.status, restored.body]).toEqual([404, missing]);
  });
});

describe("POST /api/workspace/restore", () => {
  test("200 makes the version the newest, once", async () => {
    const { withKey } = await createPerson();
    await putFile(withKey, "a", "1");
    await putFile(withKey, "a", "2");
    for (let time = 1; time <= 2; time++) {
      const answer = await withKey.post("/api/workspace/restore", { path: "a", version: 1 });
      expect([answer.status, answer.body]).toMatchObject([200, { file: { version: 3, size: 1 } }]);
    }
    expect(await readWorkspaceFile(withKey, "a")).toBe("1");
  });

  test("409 while a folder has the name", async () => {
    const { withKey } = await createPerson();
    await putFile(withKey, "a", "1");
    await withKey.delete(workspacePath("files/content", { path: "a" }));
    await putFile(withKey, "a/b", "2");
    const answer = await withKey.post("/api/workspace/restore", { path: "a", version: 1 });
    expect(answer.status).toBe(409);
  });
});

describe("GET /api/workspace/search", () => {
  test("finds the texts of current files by all words, with a plain snippet", async () => {
    const [{ withKey }, stranger] = await Promise.all([createPerson(), createPerson()]);
    await putFile(withKey, "deal.md", "The <b>advance</b> for Harbor is 20,000 EUR.");
    await putFile(withKey, "old.md", "The advance for Harbor is 10,000 EUR.");
    await putFile(withKey, "old.md", "Nothing.");
    await putFile(withKey, "a.bin", Buffer.from("\0 advance Harbor"));
    for (const q of ["harbor adv", "harbro advanse"]) {
      expect((await withKey.get(workspacePath("search", { q }))).body).toEqual({
        status: "success",
        results: [
          { path: "deal.md", version: 1, snippet: "The advance for Harbor is 20,000 EUR." },
        ],
      });
    }
    for (const [caller, q] of [
      [stranger.withKey, "harbor"],
      [withKey, "-- !!"],
    ] as const) {
      expect((await caller.get(workspacePath("search", { q }))).body).toMatchObject({
        results: [],
      });
    }
  });
});
