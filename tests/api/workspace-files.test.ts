import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { utils, write } from "@e965/xlsx";
import { describe, expect, test } from "vitest";
import { makeArtist } from "../support/fixtures/people.ts";
import {
  listWorkspaceFiles,
  putFile,
  readWorkspaceFile,
  workspacePath,
  writeWorkspaceFile,
} from "../support/fixtures/workspace-files.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { sql } from "../support/harness/stack.ts";

const refusal = (error: string) => ({ status: "error", error });
const sha256OfA = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

describe("PUT /api/workspace/files/content", () => {
  test("201 for a new file, 200 for a new version, which names its author", async () => {
    const { id, withKey } = await createPerson();
    const created = await putFile(withKey, "contracts/Übersicht.txt", "a");
    const file = {
      path: "contracts/Übersicht.txt",
      version: 1,
      size: 1,
      sha256: sha256OfA,
      deleted: false,
      conflict_of: null,
      author: { account_id: id, run_id: null },
      created_at: expect.stringMatching(/Z$/),
    };
    expect([created.status, created.body]).toEqual([201, { status: "success", file }]);
    const replaced = await putFile(withKey, "contracts/Übersicht.txt", "b");
    expect([replaced.status, replaced.body]).toMatchObject([200, { file: { version: 2 } }]);
    expect(await readWorkspaceFile(withKey, file.path)).toBe("b");
    expect(await readWorkspaceFile(withKey, file.path, { version: "1" })).toBe("a");
  });

  test("200 without a new version for the content that the file has", async () => {
    const { withKey } = await createPerson();
    await putFile(withKey, "a.txt", "a");
    const again = await putFile(withKey, "a.txt", "a");
    expect([again.status, again.body]).toMatchObject([200, { file: { version: 1 } }]);
  });

  test("bytes arrive as they were sent, and one content takes its room once", async () => {
    const { id, withKey } = await createPerson();
    const bytes = Buffer.from([0, 1, 2, 0xff, 0xfe, 10, 13]);
    await putFile(withKey, "a.bin", new Blob([bytes]).stream());
    await putFile(withKey, "b.bin", bytes);
    await putFile(withKey, "empty", "");
    const response = await fetch(
      withKey.url + workspacePath("files/content", { path: "b.bin" }),
      withKey,
    );
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("content-disposition")).toContain("attachment");
    expect(await sql`select bytes::int from workspaces where id = ${id}`).toEqual([{ bytes: 7 }]);
  });

  test("400 for a path that is none, and the normal form of one that is", async () => {
    const { withKey } = await createPerson();
    const paths = ["/a", "a/", "a//b", "..", "a/../b", "./a", "a\tb", "x".repeat(256)];
    for (const path of [...paths, Array(21).fill("a").join("/"), `${"x/".repeat(250)}x`]) {
      const answer = await putFile(withKey, path, "x");
      expect([path, answer.status]).toEqual([path, 400]);
    }
    await putFile(withKey, "u\u0308.txt", "a");
    expect(await listWorkspaceFiles(withKey)).toMatchObject([{ path: "\u00fc.txt" }]);
  });

  test("409 for a version that is not the newest, and for a path that is a folder", async () => {
    const { withKey } = await createPerson();
    expect((await putFile(withKey, "a", "1", { expected_version: "0" })).status).toBe(201);
    for (const expected_version of ["0", "2"]) {
      const answer = await putFile(withKey, "a", "2", { expected_version });
      expect([answer.status, answer.body]).toEqual([409, refusal("The file has another version")]);
    }
    expect((await putFile(withKey, "a", "2", { expected_version: "1" })).status).toBe(200);
    await putFile(withKey, "in/b/c", "1");
    for (const path of ["a/b", "in", "in/b"]) {
      expect([path, (await putFile(withKey, path, "x")).status]).toEqual([path, 409]);
    }
    expect((await putFile(withKey, "in/b0", "x")).status).toBe(201);
  });

  test("of simultaneous changes of one version, one succeeds", async () => {
    const { withKey } = await createPerson();
    const answers = await Promise.all(
      ["1", "2", "3", "4"].map((text) => putFile(withKey, "a", text, { expected_version: "0" })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test("413 for more than 100 MiB, found while it is read", async () => {
    const { withKey } = await createPerson();
    const piece = new Uint8Array(1024 * 1024);
    const body = new Blob([...Array(100).fill(piece), "x"]).stream();
    const answer = await putFile(withKey, "a.bin", body);
    expect([answer.status, answer.body]).toEqual([413, refusal("Request body too large")]);
    expect(await listWorkspaceFiles(withKey)).toEqual([]);
  });

  test("403 in a full workspace, and of two that race for the last room one", async () => {
    const { id, withKey } = await createPerson();
    await putFile(withKey, "a", "a");
    await sql`update workspaces set bytes = 1024 * 1024 * 1024 - 3 where id = ${id}`;
    const answers = await Promise.all([putFile(withKey, "b", "bb"), putFile(withKey, "c", "cc")]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
    const full = "The workspace is full: delete files permanently to make room";
    expect((await putFile(withKey, "d", "dd")).body).toEqual(refusal(full));
    // The content is there already.
    expect((await putFile(withKey, "e", "a")).status).toBe(201);
  });

  test("403 for one file more than 10,000", async () => {
    const { id, withKey } = await createPerson();
    await putFile(withKey, "a", "a");
    await sql`insert into workspace_files (workspace_id, path, content_id, updated_at)
      select ${id}, 'f' || n, c.id, now() from generate_series(1, 9999) n, workspace_contents c
      where c.workspace_id = ${id}`;
    const answer = await putFile(withKey, "b", "b");
    const error = "A workspace has at most 10000 files";
    expect([answer.status, answer.body]).toEqual([403, refusal(error)]);
    expect((await putFile(withKey, "a", "b")).status).toBe(200);
  });
});

describe("GET /api/workspace/files", () => {
  test("lists the newest versions, the last changed first, by prefix and page by page", async () => {
    const { withKey } = await createPerson();
    for (const path of ["a.txt", "in/b.txt", "in/c.txt", "a.txt"]) {
      await putFile(withKey, path, `${path} ${randomUUID()}`);
    }
    const paths = async (query = {}) =>
      (await listWorkspaceFiles(withKey, query)).map(({ path }) => path);
    expect(await paths()).toEqual(["a.txt", "in/c.txt", "in/b.txt"]);
    expect(await paths({ prefix: "in/" })).toEqual(["in/c.txt", "in/b.txt"]);
    const first = await withKey.get(workspacePath("files", { limit: "2" }));
    const next = /<([^>]+)>/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
    expect((await withKey.get(next)).body).toMatchObject({
      files: [{ path: "in/b.txt" }],
      next_cursor: null,
    });
  });
});

describe("DELETE /api/workspace/files/content", () => {
  const remove = (path: string, query = {}) => workspacePath("files/content", { path, ...query });

  test("200, and the file can be restored; 404 for a missing file", async () => {
    const { withKey } = await createPerson();
    await putFile(withKey, "a", "a");
    expect((await withKey.delete(remove("a"))).status).toBe(200);
    expect(await listWorkspaceFiles(withKey)).toEqual([]);
    for (const answer of [await withKey.get(remove("a")), await withKey.delete(remove("a"))]) {
      expect([answer.status, answer.body]).toEqual([404, refusal("File not found")]);
    }
    const restored = await withKey.post("/api/workspace/restore", { path: "a", version: 1 });
    expect([restored.status, restored.body]).toMatchObject([200, { file: { version: 3 } }]);
    expect(await readWorkspaceFile(withKey, "a")).toBe("a");
  });

  test("200 with permanent makes room, and nothing can be restored", async () => {
    const { id, withKey } = await createPerson();
    await putFile(withKey, "a", "first");
    await putFile(withKey, "a", "second");
    await putFile(withKey, "b", "second");
    expect((await withKey.delete(remove("a", { permanent: "true" }))).status).toBe(200);
    expect(await sql`select bytes::int from workspaces where id = ${id}`).toEqual([{ bytes: 6 }]);
    const restore = await withKey.post("/api/workspace/restore", { path: "a", version: 1 });
    expect(restore.status).toBe(404);
    expect((await withKey.delete(remove("a", { permanent: "true" }))).status).toBe(404);
    expect(await readWorkspaceFile(withKey, "b")).toBe("second");
    // Numbers are not used again.
    expect(await writeWorkspaceFile(withKey, "a", "third")).toMatchObject({ version: 4 });
  });
});

describe("the workspace of an artist", () => {
  test("is not the workspace of the account", async () => {
    const [{ withKey }, stranger] = await Promise.all([createPerson(), createPerson()]);
    const artist_id = await makeArtist(withKey);
    await putFile(withKey, "a", "of the artist", { artist_id });
    expect(await listWorkspaceFiles(withKey)).toEqual([]);
    expect(await readWorkspaceFile(withKey, "a", { artist_id })).toBe("of the artist");
    const foreign = await putFile(stranger.withKey, "a", "x", { artist_id });
    expect([foreign.status, foreign.body]).toEqual([404, refusal("Artist not found")]);
    const missing = await putFile(stranger.withKey, "a", "x", { artist_id: randomUUID() });
    expect(missing).toEqual(foreign);
  });

  test("is deleted with the artist", async () => {
    const { withKey } = await createPerson();
    const artist_id = await makeArtist(withKey);
    await putFile(withKey, "a", "a", { artist_id });
    expect((await withKey.delete(`/api/artists/${artist_id}`)).status).toBe(200);
    const left = await sql`select 1 from workspace_contents where workspace_id = ${artist_id}`;
    expect(left).toHaveLength(0);
    const due = await sql`select 1 from removals where owner_id = ${artist_id}`;
    expect(due).toHaveLength(1);
  });
});

describe("the credential of a run", () => {
  test("reads and writes only the workspace of the same session, as its author", async () => {
    const person = await createPerson();
    const artist_id = await makeArtist(person.withKey);
    const run = await createRunCredential(person.id, "key");
    await sql`update turns set artist_id = ${artist_id} where id = ${run.turnId}`;
    const caller = { url: person.withKey.url, headers: run.headers };
    const answer = await putFile(caller, "a", "a", { artist_id });
    expect(answer.body).toMatchObject({ file: { author: { run_id: `wrun_${run.turnId}` } } });
    expect((await putFile(caller, "a", "a")).status).toBe(403);
    const other = await makeArtist(person.withKey);
    expect((await putFile(caller, "a", "a", { artist_id: other })).status).toBe(403);
  });

  test.each([
    ["write", 200, 200, 403],
    ["read", 200, 403, 403],
    ["off", 403, 403, 403],
  ])("may do what `workspace` is: %s", async (workspace, read, remove, purge) => {
    const { id, withKey } = await createPerson();
    await putFile(withKey, "a", "a");
    const run = await createRunCredential(id, "bearer");
    await sql`update turns set options = ${sql.json({ workspace })} where id = ${run.turnId}`;
    const ask = async (method: string, query = {}) =>
      (
        await fetch(withKey.url + workspacePath("files/content", { path: "a", ...query }), {
          method,
          headers: run.headers,
        })
      ).status;
    expect(await ask("GET")).toBe(read);
    expect(await ask("DELETE", { permanent: "true" })).toBe(purge);
    expect(await ask("DELETE")).toBe(remove);
  });
});

describe("GET /api/workspace/files/content?as=document", () => {
  const read = async (caller: Client, path: string, file: Uint8Array<ArrayBuffer> | string) => {
    await putFile(caller, path, file);
    const { status, body } = await caller.get(
      workspacePath("files/content", { path, as: "document" }),
    );
    return [status, body];
  };
  const fixture = (name: string) => readFile(`tests/support/fixtures/documents/${name}`);

  test("200 with the sheets of a workbook, or the pages of a document", async () => {
    const { withKey } = await createPerson();
    const sheet = (cell: string) =>
      utils.aoa_to_sheet([
        ["UPC", "Units"],
        [cell, 12.5],
      ]);
    const book = { SheetNames: ["Q1", "Q2"], Sheets: { Q1: sheet("0012"), Q2: sheet("a,b") } };
    const bytes = new Uint8Array(write(book, { type: "array", bookType: "xlsx" }));
    const sheets = [
      { name: "Q1", rows: 2, csv: "UPC,Units\n0012,12.5\n" },
      { name: "Q2", rows: 2, csv: 'UPC,Units\n"a,b",12.5\n' },
    ];
    const about = "XLSX, 2 sheets.";
    expect(await read(withKey, "q.xlsx", bytes)).toEqual([200, { about, sections: [], sheets }]);
    expect(await read(withKey, "contract.pdf", await fixture("contract.pdf"))).toMatchObject([
      200,
      {
        about: "PDF, 1 page.",
        sections: [{ title: "Page 1", text: expect.stringContaining("18 % of net receipts") }],
        sheets: [],
      },
    ]);
  });

  test("400 with the reason for a file that is not a document, protected or too large", async () => {
    const { withKey } = await createPerson();
    const isNone = "The file is not the document that its name says: download it";
    expect(await read(withKey, "a.pdf", "<script>")).toEqual([400, refusal(isNone)]);
    const isProtected =
      "The file is protected by a password: remove the password, then upload it again";
    const locked = await fixture("protected.pdf");
    expect(await read(withKey, "b.pdf", locked)).toEqual([400, refusal(isProtected)]);
    const isLarge = "The file is larger than 10 MiB: download it, or split it";
    const large = new Uint8Array(10 * 1024 ** 2 + 1);
    expect(await read(withKey, "c.pdf", large)).toEqual([400, refusal(isLarge)]);
  });
});
