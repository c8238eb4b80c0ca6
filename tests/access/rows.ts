import { z } from "zod";
import type { Client, Person } from "../support/clients.ts";
import { writeSandboxFile } from "../support/sessions.ts";
import { insertRun, plainRun } from "../support/task-runs.ts";
import { createTemplate } from "../support/templates.ts";

/** Ids of the owner's things, under the names that path, query and body use. */
export type Ids = Readonly<Record<string, string>>;

export interface Row {
  /** Makes the owner's thing and gives its ids. Another account may never reach it. */
  readonly arrange: (owner: Person) => Promise<Ids>;
  readonly query?: (ids: Ids) => Record<string, string>;
  /** A body that the owner's own request succeeds with. */
  readonly body?: (ids: Ids) => unknown;
}

const idIn = async (
  answer: ReturnType<Client["post"]>,
  ...path: readonly string[]
): Promise<string> => {
  let value: unknown = (await answer).body;
  for (const name of path) value = z.record(z.string(), z.unknown()).parse(value)[name];
  return z.uuid().parse(value);
};

const aKey = async (owner: Person): Promise<Ids> => ({
  id: await idIn(owner.withBearer.post("/api/keys", { key_name: "theirs" }), "id"),
});
const aSession = async (owner: Person): Promise<Ids> => ({
  sessionId: await idIn(owner.withKey.post("/api/sessions", {}), "session", "id"),
});
const aChat = async (owner: Person): Promise<Ids> => {
  const answer = owner.withKey.post("/api/sessions", {});
  return {
    sessionId: await idIn(answer, "session", "id"),
    chatId: await idIn(answer, "chat", "id"),
  };
};
const aTemplate = async (owner: Person): Promise<Ids> => ({
  id: (await createTemplate(owner.withKey, { is_private: true })).id,
});
const aTaskRun = async (owner: Person): Promise<Ids> => {
  const run = plainRun(owner.id);
  await insertRun(owner.id, run);
  return { runId: run.id };
};
const aReadyChat = async (owner: Person): Promise<Ids> => {
  const ids = await aChat(owner);
  await owner.withKey.post("/api/sandbox", { sessionId: ids.sessionId });
  return ids;
};
const aSandboxFile = async (owner: Person): Promise<Ids> => {
  const ids = await aSession(owner);
  await owner.withKey.post("/api/sandbox", ids);
  await writeSandboxFile(ids.sessionId ?? "", "notes.txt", "theirs");
  return ids;
};
const aRun = async (owner: Person): Promise<Ids> => {
  const answer = await owner.withKey.post("/api/chat/runs", { prompt: "hello" });
  return z.object({ runId: z.string() }).parse(answer.body);
};
const inBody = ({ sessionId }: Ids) => ({ sessionId });
const inQuery = ({ sessionId = "" }: Ids) => ({ sessionId });

/** One row for each endpoint that takes the id of something an account owns. */
export const rows: Readonly<Record<string, Row>> = {
  "DELETE /api/keys/{id}": { arrange: aKey },
  "POST /api/keys/{id}/rotate": { arrange: aKey, body: () => ({}) },
  "GET /api/sessions/{sessionId}": { arrange: aSession },
  "PATCH /api/sessions/{sessionId}": { arrange: aSession, body: () => ({ title: "mine now" }) },
  "DELETE /api/sessions/{sessionId}": { arrange: aSession },
  "GET /api/sessions/{sessionId}/chats": { arrange: aSession },
  "POST /api/sessions/{sessionId}/chats": { arrange: aSession, body: () => ({}) },
  "GET /api/sessions/{sessionId}/chats/{chatId}": { arrange: aChat },
  "PATCH /api/sessions/{sessionId}/chats/{chatId}": {
    arrange: aChat,
    body: () => ({ title: "mine now" }),
  },
  "DELETE /api/sessions/{sessionId}/chats/{chatId}": { arrange: aChat },
  "GET /api/agents/templates/{id}": { arrange: aTemplate },
  "PATCH /api/agents/templates/{id}": {
    arrange: aTemplate,
    body: () => ({ title: "mine now", is_private: true }),
  },
  "DELETE /api/agents/templates/{id}": { arrange: aTemplate },
  "PUT /api/agents/templates/{id}/favorite": {
    arrange: aTemplate,
    body: () => ({ is_favourite: true }),
  },
  "GET /api/tasks/runs": { arrange: aTaskRun, query: ({ runId = "" }) => ({ runId }) },
  "POST /api/chat": {
    arrange: aReadyChat,
    body: (ids) => ({ ...ids, messages: [{ id: "m1", content: "hello" }] }),
  },
  "GET /api/chat/{chatId}/stream": { arrange: aChat },
  "POST /api/chat/{chatId}/stop": { arrange: aChat },
  "GET /api/chat/runs/{runId}": { arrange: aRun },
  "POST /api/sandbox": { arrange: aSession, body: inBody },
  "GET /api/sandbox": { arrange: aSession, query: inQuery },
  "DELETE /api/sandbox": { arrange: aSession, query: inQuery },
  "GET /api/sandbox/files": { arrange: aSandboxFile, query: inQuery },
  "GET /api/sandbox/files/content": {
    arrange: aSandboxFile,
    query: (ids) => ({ ...inQuery(ids), path: "notes.txt" }),
  },
};
