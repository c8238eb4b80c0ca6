import type { Context } from "./example-recorder.ts";

/** Records the operations on a sandbox's files, which has `hello.txt`. */
export async function recordSandboxFiles({ record }: Context, sessionId: string): Promise<void> {
  await record("listSandboxFiles", { query: { sessionId } });
  await record("readSandboxFile", { query: { sessionId, path: "hello.txt" } });
  const statement = { sessionId, path: "in/statement.csv" };
  await record("writeSandboxFile", { query: statement, body: "track,units\nHarbor,1204\n" });
  await record("archiveSandbox", { query: { sessionId, path: "in" } });
  await record("removeSandboxFile", { query: statement });
}
