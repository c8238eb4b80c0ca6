/** The mark of a request that an agent makes itself: for exactly this request, its effects, one call, once. */
import { randomUUID } from "node:crypto";
import type { ApprovalCategory } from "@platform/endpoint/contract/approvals";
import { beforeEach, describe, expect, it } from "vitest";
import { APPROVED_CALL, markOf } from "../../lib/identity/keys/approved-call.ts";
import { sentenceOf } from "../support/fixtures/shapes.ts";
import { client, createPerson } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { sql, stack } from "../support/harness/stack.ts";

Object.assign(process.env, stack.env);

type Run = Awaited<ReturnType<typeof createRunCredential>>;
let run: Run;
beforeEach(async () => {
  run = await aRun();
});

/** A run that asks for files, for images and for other hosts. */
async function aRun(accountId?: string): Promise<Run> {
  const made = await createRunCredential(accountId ?? (await createPerson()).id, "key");
  const options = sql.json({ approvals: { write: "ask", media: "ask", fetch: "ask" } });
  await sql`update turns set options = ${options} where id = ${made.turnId}`;
  return made;
}

async function startCall({ turnId }: Run): Promise<string> {
  const callId = `1 ${randomUUID()}`;
  await sql`insert into tool_runs (turn_id, tool_call_id) values (${turnId}, ${callId})`;
  return callId;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}
const file: Sent = {
  method: "PUT",
  path: "/api/workspace/files/content?path=a.txt",
  body: "Hello",
};
const image: Sent = {
  method: "POST",
  path: "/api/content/image",
  body: '{"prompt":"A cover","images":["https://stranger.example/a.png"]}',
};
const markFor = ({ turnId }: Run, callId: string, sent: Sent, categories: ApprovalCategory[]) => {
  const url = new URL(sent.path, stack.url);
  const body = sent.method === "PUT" ? sent.body : JSON.parse(sent.body);
  return markOf({ turnId, method: sent.method, url, body }, callId, categories);
};
const send = ({ raw }: Run, { method, path, body }: Sent, mark?: string) =>
  client({ key: raw }).request(method, path, {
    body,
    ...(mark !== undefined && { headers: { [APPROVED_CALL]: mark } }),
  });

const refusal =
  "A person must approve this: make the same request with the tool fetch, which asks for it";
async function expectRefused(answer: ReturnType<typeof send>) {
  const { status, body } = await answer;
  expect([status, sentenceOf({ body })]).toEqual([403, refusal]);
}

it("lets the request pass once", async () => {
  const mark = markFor(run, await startCall(run), file, ["write"]);
  expect((await send(run, file, mark)).status).toBe(201);
  await expectRefused(send(run, file, mark));
  const read = await client({ key: run.raw }).get(file.path);
  expect(read.text).toBe(file.body);
});

it("lets one of two pass that come at once", async () => {
  const mark = markFor(run, await startCall(run), file, ["write"]);
  const answers = await Promise.all([send(run, file, mark), send(run, file, mark)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
});

describe("refuses", () => {
  it.each<[string, Sent]>([
    ["another file", { ...file, path: "/api/workspace/files/content?path=b.txt" }],
    ["another content", { ...file, body: "Hallo" }],
    ["no content", { ...file, body: "" }],
    ["a further parameter", { ...file, path: `${file.path}&expected_version=0` }],
    ["another method", { ...file, method: "DELETE" }],
    [
      "another operation",
      { method: "POST", path: "/api/workspace/restore", body: '{"path":"a.txt","version":1}' },
    ],
  ])("the mark for %s", async (_, other) => {
    const mark = markFor(run, await startCall(run), file, ["write"]);
    await expectRefused(send(run, other, mark));
  });

  it.each<[string, ApprovalCategory[]]>([
    ["one of two effects", ["media"]],
    ["the other effect", ["fetch"]],
    ["another effect", ["write"]],
    ["no effect", []],
  ])("a mark for %s", async (_, categories) => {
    await expectRefused(send(run, image, markFor(run, await startCall(run), image, categories)));
  });

  it("a mark of another run of the account", async () => {
    const [turn] = await sql`select account_id from turns where id = ${run.turnId}`;
    const other = await aRun(turn?.account_id);
    await expectRefused(send(run, file, markFor(other, await startCall(other), file, ["write"])));
  });

  it("a mark for a call that was not started, or has ended", async () => {
    await expectRefused(send(run, file, markFor(run, "1 none", file, ["write"])));
    const callId = await startCall(run);
    await sql`update tool_runs set finished = true where tool_call_id = ${callId}`;
    await expectRefused(send(run, file, markFor(run, callId, file, ["write"])));
  });

  it.each(["", ".", "a.b", "1", "W10.x"])("what is no mark: %j", async (mark) => {
    await expectRefused(send(run, file, mark));
  });

  it("a request without a mark, however its URL is named", async () => {
    await expectRefused(send(run, file));
    await expectRefused(
      send(run, {
        ...image,
        body: '{"prompt":"x","referenceImageUrl":"https://stranger.example/?d=SECRET"}',
      }),
    );
    await sql`update turns set options = '{"approvals": {"fetch": "deny"}}' where id = ${run.turnId}`;
    await expectRefused(
      send(run, {
        ...image,
        body: '{"prompt":"x","reference_image_url":"https://stranger.example/?d=SECRET"}',
      }),
    );
  });
});
