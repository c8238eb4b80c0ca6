import { describe, expect, test } from "vitest";
import { z } from "zod";
import { listSandboxFilesContract, sandboxFile } from "../../lib/sandbox/contract.ts";
import {
  createPersonWithSession,
  createSandbox,
  writeSandboxFile,
} from "../support/fixtures/sessions.ts";
import { type Client, createPerson, type Person } from "../support/harness/clients.ts";
import { startEndlessTurn } from "../support/harness/conversation.ts";

const listed = z.strictObject({
  ...listSandboxFilesContract.responses[200].schema.shape,
  entries: z.array(z.strictObject(sandboxFile.shape)),
});

const filesPath = (sessionId: string, path?: string) =>
  `/api/sandbox/files?${new URLSearchParams({ sessionId, ...(path !== undefined && { path }) })}`;
const contentPath = (sessionId: string, path: string) =>
  `/api/sandbox/files/content?${new URLSearchParams({ sessionId, path })}`;

async function list(caller: Client, sessionId: string, path?: string) {
  const answer = await caller.get(filesPath(sessionId, path));
  if (answer.status !== 200) throw new Error(`GET /api/sandbox/files: ${answer.text}`);
  return listed.parse(answer.body);
}

const refusal = (error: string) => ({ status: "error", error });

describe("GET /api/sandbox/files 200", () => {
  test("lists the home, and any folder by the path of its entry", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    await writeSandboxFile(sessionId, "notes.txt", "zwölf");
    await writeSandboxFile(sessionId, "src/deep/a.ts", "a");

    const home = await list(withKey, sessionId);
    expect(home).toMatchObject({ sessionId, truncated: false });
    expect(home.entries).toMatchObject([
      { name: "notes.txt", path: `${home.path}/notes.txt`, type: "file", size: 6 },
      { name: "src", path: `${home.path}/src`, type: "directory", size: 0 },
    ]);
    const [, src] = home.entries;
    const inner = await list(withKey, sessionId, src?.path);
    expect(inner.path).toBe(src?.path);
    expect(inner.entries.map(({ name, type }) => [name, type])).toEqual([["deep", "directory"]]);
    expect(await list(withKey, sessionId, "src")).toEqual(inner);
  });

  test("answers while a turn runs a command, with the other credential too", async () => {
    const { person, session, chat } = await createPersonWithSession();
    const ids = { sessionId: session.id, chatId: chat.id };
    const { stream } = await startEndlessTurn(person.withKey, ids);
    await writeSandboxFile(session.id, "meanwhile.txt", "seen");
    const { entries } = await list(person.withBearer, session.id);
    // The turn may have made the workspace's folder by now.
    const files = entries.filter(({ name }) => name !== "workspace");
    expect(files).toMatchObject([{ name: "meanwhile.txt", size: 4 }]);
    const content = await person.withBearer.get(contentPath(session.id, "meanwhile.txt"));
    expect(content.text).toBe("seen");
    await person.withKey.post(`/api/chat/${chat.id}/stop`);
    await stream;
  });
});

describe("GET /api/sandbox/files/content 200", () => {
  const fetchFile = async ({ withKey }: Person, sessionId: string, path: string) => {
    const response = await fetch(withKey.url + contentPath(sessionId, path), {
      headers: withKey.headers,
    });
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test.each([
    ["text", "notes.txt", "zwölf €😀\n", "text/plain; charset=utf-8"],
    ["an empty file", "empty", "", "text/plain; charset=utf-8"],
    ["a page", "page.html", "<script>alert(1)</script>", "text/plain; charset=utf-8"],
    ["a picture with script", "x.svg", "<svg onload='alert(1)'/>", "text/plain; charset=utf-8"],
    ["bytes", "raw.bin", Buffer.from([0xff, 0xd8, 0, 1, 2]), "application/octet-stream"],
    ["text with NUL", "zero.txt", "a\0b", "application/octet-stream"],
  ])(
    "%s comes byte for byte as a type that no browser runs",
    async (_what, name, content, type) => {
      const person = await createPerson();
      const sessionId = await createSandbox(person.withKey);
      await writeSandboxFile(sessionId, name, content);
      const { response, bytes } = await fetchFile(person, sessionId, name);
      expect(response.status).toBe(200);
      expect(bytes.equals(Buffer.from(content))).toBe(true);
      expect(response.headers.get("content-type")).toBe(type);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
      expect(response.headers.get("content-disposition")).toBe(
        `attachment; filename*=UTF-8''${name}`,
      );
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("x-request-id")).toBeTruthy();
    },
  );

  test("a name with quotes, line ends and letters of any script stays one header and one file name", async () => {
    const person = await createPerson();
    const sessionId = await createSandbox(person.withKey);
    const name = `it's "ü"\r\nx-evil: 1 (*).txt`;
    await writeSandboxFile(sessionId, `a/${name}`, "named");
    const { response, bytes } = await fetchFile(person, sessionId, `a/${name}`);
    expect([response.status, bytes.toString()]).toEqual([200, "named"]);
    expect(response.headers.get("x-evil")).toBeNull();
    expect(response.headers.get("content-disposition")).toBe(
      "attachment; filename*=UTF-8''it%27s%20_%C3%BC___x-evil_%201%20%28_%29.txt",
    );
  });

  test("10 MiB come whole, one byte more is refused", async () => {
    const person = await createPerson();
    const sessionId = await createSandbox(person.withKey);
    const most = Buffer.alloc(10 * 1024 * 1024, 7);
    await writeSandboxFile(sessionId, "most.bin", most);
    const { bytes } = await fetchFile(person, sessionId, "most.bin");
    expect(bytes.equals(most)).toBe(true);
    await writeSandboxFile(sessionId, "more.bin", Buffer.concat([most, Buffer.from("x")]));
    const answer = await person.withKey.get(contentPath(sessionId, "more.bin"));
    expect([answer.status, answer.body]).toEqual([
      400,
      refusal("File is larger than 10485760 bytes"),
    ]);
  });
});

describe("400", () => {
  test("a file is no folder, and a folder no file", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    await writeSandboxFile(sessionId, "src/a.ts", "a");
    const asFolder = await withKey.get(filesPath(sessionId, "src/a.ts"));
    expect([asFolder.status, asFolder.body]).toEqual([400, refusal("path is not a folder")]);
    const asFile = await withKey.get(contentPath(sessionId, "src"));
    expect([asFile.status, asFile.body]).toEqual([400, refusal("path is not a file")]);
  });
});

describe("404", () => {
  test("a missing path is 404, wherever it leads", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    for (const path of ["missing", "a/b", "../../../../etc/passwd", "/etc/passwd"]) {
      const folder = await withKey.get(filesPath(sessionId, path));
      expect([folder.status, folder.body]).toEqual([404, refusal("Folder not found")]);
      const file = await withKey.get(contentPath(sessionId, path));
      expect([file.status, file.body]).toEqual([404, refusal("File not found")]);
    }
  });
});
