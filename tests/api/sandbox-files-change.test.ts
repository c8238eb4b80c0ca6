import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { removeSandboxFileContract, writeSandboxFileContract } from "../../lib/sandbox/contract.ts";
import { createSandbox, writeSandboxFile } from "../support/fixtures/sessions.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { setting } from "../support/harness/stack.ts";

const contentPath = (sessionId: string, path: string) =>
  `/api/sandbox/files/content?${new URLSearchParams({ sessionId, path })}`;
const filesPath = (sessionId: string, path: string) =>
  `/api/sandbox/files?${new URLSearchParams({ sessionId, path })}`;
const folderOf = (sessionId: string) => join(setting("DATA_DIR"), "sandboxes", sessionId);

async function put(caller: Client, sessionId: string, path: string, body: BodyInit) {
  const response = await fetch(caller.url + contentPath(sessionId, path), {
    method: "PUT",
    headers: caller.headers,
    body,
    ...(body instanceof ReadableStream && { duplex: "half" }),
  } as RequestInit);
  const parsed: unknown = await response.json();
  return { status: response.status, headers: response.headers, body: parsed };
}

const refusal = (error: string) => ({ status: "error", error });

describe("PUT /api/sandbox/files/content 201", () => {
  test("the bytes become a new file, as they are read back", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    const bytes = Buffer.from([0, 1, 2, 0xff, 0xfe, 10, 13]);
    const answer = await put(withKey, sessionId, "in/üb er.bin", bytes);
    expect(answer.status).toBe(201);
    expect(writeSandboxFileContract.responses[201].schema.parse(answer.body).file).toEqual({
      path: "/home/agent/in/üb er.bin",
      size: 7,
      modified_at: expect.stringMatching(/Z$/),
    });
    const read = await fetch(withKey.url + contentPath(sessionId, "in/üb er.bin"), {
      headers: withKey.headers,
    });
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test("a body of unknown length is taken, and an empty one", async () => {
    const { withBearer } = await createPerson();
    const sessionId = await createSandbox(withBearer);
    const stream = new Blob(["streamed"]).stream();
    expect(await put(withBearer, sessionId, "a.txt", stream)).toMatchObject({ status: 201 });
    expect(await put(withBearer, sessionId, "b.txt", "")).toMatchObject({ status: 201 });
    const { text } = await withBearer.get(contentPath(sessionId, "a.txt"));
    expect(text).toBe("streamed");
  });
});

describe("PUT /api/sandbox/files/content 200", () => {
  test("a file is replaced", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    await writeSandboxFile(sessionId, "a.txt", "a long first version");
    const answer = await put(withKey, sessionId, "/home/agent/a.txt", "second");
    expect([answer.status, answer.body]).toMatchObject([200, { file: { size: 6 } }]);
    expect((await withKey.get(contentPath(sessionId, "a.txt"))).text).toBe("second");
  });
});

describe("PUT /api/sandbox/files/content, refused", () => {
  test("400 for a path that is not a file of the sandbox, wherever it leads", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    await writeSandboxFile(sessionId, "in/a.txt", "a");
    const paths = ["in", "in/a.txt/b", ".", "/", "/tmp", "/etc/motd", "../../../x", "/dev/x"];
    for (const path of [...paths, "x".repeat(300)]) {
      const answer = await put(withKey, sessionId, path, "x");
      expect([path, answer.status, answer.body]).toEqual([
        path,
        400,
        refusal("path cannot be written"),
      ]);
    }
    expect(await readdir(folderOf(sessionId))).toEqual(["home", "tmp"]);
  });

  test.each([
    [`?sessionId=${randomUUID()}`, "path is required"],
    ["?path=a", "sessionId is required"],
    [`?sessionId=${randomUUID()}&path=a%00b`, "path must be well-formed Unicode without NUL"],
  ])("400 for %s", async (query, error) => {
    const { withKey } = await createPerson();
    const answer = await withKey.request("PUT", `/api/sandbox/files/content${query}`);
    expect([answer.status, answer.body]).toEqual([400, refusal(error)]);
  });

  test("413 for more than 100 MiB, declared", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    const status = await beginUpload(withKey, sessionId, 100 * 1024 * 1024 + 1, "x");
    expect(status).toContain(" 413 ");
    expect(await readdir(folderOf(sessionId))).toEqual(["home", "tmp"]);
  });

  test("413 for more than 100 MiB, found while it is read, and 100 MiB arrive whole", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    const piece = new Uint8Array(1024 * 1024);
    const body = (last: number) =>
      new Blob([...Array(100).fill(piece), piece.slice(0, last)]).stream();
    const large = await put(withKey, sessionId, "a.bin", body(1));
    expect([large.status, large.body]).toEqual([413, refusal("Request body too large")]);
    expect(await readdir(join(folderOf(sessionId), "home"))).toEqual([]);
    const whole = await put(withKey, sessionId, "a.bin", body(0));
    expect([whole.status, whole.body]).toMatchObject([201, { file: { size: 104_857_600 } }]);
  });

  test("a client that goes away leaves nothing behind", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    await writeSandboxFile(sessionId, "a.txt", "before");
    const half = sendHalf(withKey, sessionId);
    await expect.poll(() => readdir(folderOf(sessionId))).toHaveLength(3);
    half.destroy();
    await expect.poll(() => readdir(folderOf(sessionId))).toEqual(["home", "tmp"]);
    expect((await withKey.get(contentPath(sessionId, "a.txt"))).text).toBe("before");
  });
});

describe("DELETE /api/sandbox/files", () => {
  const remove = (caller: Client, sessionId: string, path: string) =>
    caller.delete(filesPath(sessionId, path));

  test("200 removes a file, and a folder with all that is in it", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    await writeSandboxFile(sessionId, "a.txt", "a");
    await writeSandboxFile(sessionId, "in/deep/b.txt", "b");
    for (const path of ["a.txt", "/home/agent/in"]) {
      const answer = await remove(withKey, sessionId, path);
      expect(answer.status, answer.text).toBe(200);
      removeSandboxFileContract.responses[200].schema.parse(answer.body);
    }
    expect(await readdir(join(folderOf(sessionId), "home"))).toEqual([]);
  });

  test("400 for the home and for files outside of the sandbox", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    for (const path of [".", "/", "/home", "/tmp", "/bin", "../../.."]) {
      const answer = await remove(withKey, sessionId, path);
      expect([path, answer.status, answer.body]).toEqual([
        path,
        400,
        refusal("path cannot be removed"),
      ]);
    }
  });

  test("404 for a missing file", async () => {
    const { withKey } = await createPerson();
    const sessionId = await createSandbox(withKey);
    const answer = await remove(withKey, sessionId, "missing");
    expect([answer.status, answer.body]).toEqual([404, refusal("File not found")]);
  });
});

function open(caller: Client, sessionId: string, contentLength: number, start: string) {
  const { hostname, port } = new URL(caller.url);
  const socket = connect(Number(port), hostname);
  const headers = Object.entries({ ...caller.headers, "content-length": contentLength });
  const lines = [
    `PUT ${contentPath(sessionId, "a.txt")} HTTP/1.1`,
    `host: ${hostname}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${start}`);
  return socket;
}

/** Sends half of a body, and leaves the connection open. */
const sendHalf = (caller: Client, sessionId: string) =>
  open(caller, sessionId, 200, "x".repeat(100));

/** Resolves with the status line that comes before the body has been sent. */
async function beginUpload(caller: Client, sessionId: string, bytes: number, start: string) {
  const socket = open(caller, sessionId, bytes, start);
  for await (const data of socket) {
    socket.destroy();
    return String(data).split("\r\n")[0];
  }
  throw new Error("The server closed the connection without an answer");
}
