import { symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { createSandbox, writeSandboxFile } from "../support/fixtures/sessions.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { setting } from "../support/harness/stack.ts";

const archivePath = (sessionId: string, path?: string) =>
  `/api/sandbox/archive?${new URLSearchParams({ sessionId, ...(path !== undefined && { path }) })}`;
const homeOf = (sessionId: string) => join(setting("DATA_DIR"), "sandboxes", sessionId, "home");

async function download(caller: Client, sessionId: string, path?: string) {
  const response = await fetch(caller.url + archivePath(sessionId, path), {
    headers: caller.headers,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { response, files: unzipSync(bytes) };
}

const refusal = (error: string) => ({ status: "error", error });

describe("200", () => {
  test("has every file and folder, links left out, hidden ones and old ones included", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    const large = Buffer.alloc(3 * 1024 * 1024 + 1, 7);
    await writeSandboxFile(sessionId, "in/largé.bin", large);
    await writeSandboxFile(sessionId, "in/.hidden", "h");
    await writeSandboxFile(sessionId, "old.txt", "old");
    await utimes(join(homeOf(sessionId), "old.txt"), 0, 0);
    await symlink("/etc/passwd", join(homeOf(sessionId), "in", "passwd"));
    const { response, files } = await download(withKey, sessionId);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/zip");
    expect(response.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
    expect(response.headers.get("content-disposition")).toBe(
      "attachment; filename*=UTF-8''files.zip",
    );
    expect(Object.keys(files).sort()).toEqual(["in/", "in/.hidden", "in/largé.bin", "old.txt"]);
    expect(Buffer.from(files["in/largé.bin"] ?? "").equals(large)).toBe(true);
    expect(strFromU8(files["old.txt"] ?? new Uint8Array())).toBe("old");
  });

  test("has one folder, under the names inside it, and is called after it", async () => {
    const { withBearer } = await createPerson();
    const sessionId = await createSandbox(withBearer);
    await writeSandboxFile(sessionId, "in/deep/a.txt", "a");
    await writeSandboxFile(sessionId, "b.txt", "b");
    const { response, files } = await download(withBearer, sessionId, "/home/agent/in");
    expect(Object.keys(files)).toEqual(["deep/", "deep/a.txt"]);
    expect(response.headers.get("content-disposition")).toContain("in.zip");
  });

  test("an empty home is an empty archive", async () => {
    const { withKey } = await createPerson();
    const { files } = await download(withKey, await createSandbox(withKey));
    expect(files).toEqual({});
  });
});

test("400 for a file", async () => {
  const { withKey } = await createPerson();
  const sessionId = await createSandbox(withKey);
  await writeSandboxFile(sessionId, "a.txt", "a");
  const file = await withKey.get(archivePath(sessionId, "a.txt"));
  expect([file.status, file.body]).toEqual([400, refusal("path is not a folder")]);
});

test("404 for a missing folder", async () => {
  const { withKey } = await createPerson();
  const sessionId = await createSandbox(withKey);
  for (const path of ["missing", "/etc", "../../../etc"]) {
    const answer = await withKey.get(archivePath(sessionId, path));
    expect([answer.status, answer.body]).toEqual([404, refusal("Folder not found")]);
  }
});
