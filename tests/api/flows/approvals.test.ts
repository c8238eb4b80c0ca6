/** Approvals over HTTP. This file is long because it follows whole runs and chats. */
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Script, ScriptPart } from "../../support/fakes/openai.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, client, createPerson } from "../../support/harness/clients.ts";
import { type Conversation, openConversation } from "../../support/harness/conversation.ts";
import {
  answerApproval as answer,
  conversationOf,
  readRun,
  startRun,
  waitForApprovals,
  waitForRun,
} from "../../support/harness/runs.ts";
import { sql } from "../../support/harness/stack.ts";
import {
  assemble,
  expectCompleteTurn,
  type TurnStream,
} from "../../support/harness/turn-stream.ts";
import { registerSecret } from "../../support/secrets/register.ts";

const place = provideChatServer();
let caller: Client;
beforeAll(async () => {
  caller = (await createPerson(place.server.url)).withKey;
});

/** Writes two files at once, then says how it went. */
const writing: Script = function* ({ step, toolResults }) {
  if (step === 0) {
    yield { tool: "write", id: "one", input: { filePath: "one.txt", content: "1" } };
    yield { tool: "bash", id: "two", input: { command: "echo ran >> two.txt; cat two.txt" } };
  } else yield { text: `Told: ${toolResults.join(" | ")}` };
};

/** The message as a client holds it, with these answers, as `addToolApprovalResponse` gives them. */
async function answered(stream: TurnStream, approved: boolean) {
  const message = await assemble(stream.chunks);
  const parts = message.parts.map((part) =>
    "approval" in part && part.state === "approval-requested"
      ? { ...part, state: "approval-responded", approval: { ...part.approval, approved } }
      : part,
  );
  return [{ id: message.id, role: "assistant" as const, parts }];
}

const setApprovals = (conversation: Conversation, approvals: object) =>
  caller.patch(`/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`, {
    approvals,
  });

describe("a headless run", () => {
  it("waits for approvals without a process, and runs exactly what was approved", async () => {
    place.model.script("approved", writing);
    const approvals = { bash: "ask", write: "ask" };
    const run = await startRun(caller, { prompt: "[script:approved]", approvals });
    const asked = await waitForApprovals(caller, run);
    expect(asked).toMatchObject([
      {
        tool: "write",
        category: "write",
        input: { filePath: "one.txt", content: "1" },
        sources: [],
      },
      { tool: "bash", effect: [{ label: "Command", value: "echo ran >> two.txt; cat two.txt" }] },
    ]);
    const [written, ran] = asked;
    const [active] = await sql`
      select count_active_turns(account_id)::int as turns from turns where run_id = ${run.runId}`;
    expect(active).toEqual({ turns: 0 });

    // A reader is not kept waiting.
    const reader = await conversationOf(caller, run).resume();
    await reader.ended;
    expect(reader.chunks.at(-1)).toMatchObject({ type: "tool-approval-request" });

    expect((await answer(caller, run, written?.id, { approved: true })).body).toMatchObject({
      status: "requires_action",
    });
    // Others see nothing of it, and a second answer changes nothing.
    const stranger = (await createPerson(place.server.url)).withKey;
    expect((await answer(stranger, run, ran?.id, { approved: true })).status).toBe(404);
    expect((await answer(caller, run, written?.id, { approved: false })).status).toBe(409);
    const denial = { approved: false, reason: "Not in this folder" };
    const last = await answer(caller, run, ran?.id, denial);
    expect(last.body).toMatchObject({ status: "running", required_action: null });
    expect((await answer(caller, run, ran?.id, denial)).status).toBe(200);

    expect(await waitForRun(caller, run)).toMatchObject({ status: "completed", error: null });
    expect(place.model.callsOf("approved")[1]?.toolResults).toEqual([
      expect.stringContaining("one.txt"),
      expect.stringContaining("denied this: Not in this folder"),
    ]);
    const stream = await conversationOf(caller, run).resume({ runId: run.runId });
    expectCompleteTurn(await stream.ended);
    const stored = await conversationOf(caller, run).answer();
    expect(await assemble(stream.chunks)).toEqual(stored);
    expect(stored.parts).toMatchObject([
      { type: "step-start" },
      { type: "tool-write", state: "output-available", approval: { approved: true } },
      { type: "tool-bash", state: "output-denied", approval: { reason: "Not in this folder" } },
      { type: "step-start" },
      { type: "text" },
    ]);
    const { body } = await caller.get("/api/approvals?state=denied");
    expect(body).toMatchObject({
      approvals: [{ id: ran?.id, run_id: run.runId, reason: "Not in this folder" }],
    });
  });

  it.each(["cancel", "expiry"])("ends the wait with a %s", async (how) => {
    place.model.script(`over-${how}`, writing);
    const approvals = { bash: "ask" };
    const run = await startRun(caller, { prompt: `[script:over-${how}]`, approvals });
    const [asked] = await waitForApprovals(caller, run);
    if (how === "cancel") await caller.post(`/api/chat/runs/${run.runId}/cancel`);
    else {
      await sql`update approvals set expires_at = now() where id = ${asked?.id ?? ""}`;
      await sql`update required_actions set wakes_at = now() - interval '1 hour'
        where turn_id = (select id from turns where run_id = ${run.runId})`;
    }
    const ended = await waitForRun(caller, run);
    expect(ended.status).toBe(how === "cancel" ? "cancelled" : "completed");
    const state = how === "cancel" ? "cancelled" : "expired";
    const part = (await conversationOf(caller, run).answer()).parts.at(2);
    expect(part).toMatchObject({ type: "tool-bash", state: "output-denied" });
    expect(await sql`select state from approvals where id = ${asked?.id ?? ""}`).toEqual([
      { state },
    ]);
    expect((await answer(caller, run, asked?.id, { approved: true })).status).toBe(409);
  });

  it("does not go on after the grace time of its key, whoever approves", async () => {
    place.model.script("ended-key", writing);
    const { url } = place.server;
    const person = await createPerson(url);
    const created = await person.withKey.post("/api/keys", { key_name: "old" });
    const old = z.object({ id: z.string(), key: z.string() }).parse(created.body);
    registerSecret(old.key, "API key");
    const starter = client({ key: old.key }, url);
    const approvals = { bash: "ask", write: "ask" };
    const run = await startRun(starter, { prompt: "[script:ended-key]", approvals });
    const [written, ran] = await waitForApprovals(starter, run);
    const rotated = await starter.post(`/api/keys/${old.id}/rotate`, { grace_seconds: 600 });
    registerSecret(z.object({ key: z.string() }).parse(rotated.body).key, "API key");
    // Within the grace time it counts.
    expect((await answer(starter, run, written?.id, { approved: true })).status).toBe(200);
    // Time passes, and no trigger is run.
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`update api_keys set revoked_at = now() - interval '1 second' where id = ${old.id}`;
    });
    const refused = await answer(person.withKey, run, ran?.id, { approved: true });
    expect([refused.status, refused.headers.get("x-error-code")]).toEqual([409, "run_stopped"]);
    expect(await waitForRun(person.withKey, run)).toMatchObject({ status: "cancelled" });
    expect(place.model.callsOf("ended-key")).toHaveLength(1);
    const { sessionId } = run;
    const files = await person.withKey.get(`/api/sandbox/files?sessionId=${sessionId}`);
    expect(files.text).not.toContain("one.txt");
    expect(files.text).not.toContain("two.txt");
  });

  it("is denied what its policy denies, without a question", async () => {
    place.model.script("never", writing);
    const approvals = { bash: "deny" };
    const run = await startRun(caller, { prompt: "[script:never]", approvals });
    expect(await waitForRun(caller, run)).toMatchObject({ status: "completed" });
    expect(place.model.callsOf("never")[1]?.toolResults[1]).toContain("approvals.bash");
  });
});

describe("files that are changed through the API", () => {
  const path = "/api/workspace/files/content?path=plan.txt";
  const url = () => place.server.url + path;
  /** Tries to write a file by a command and by the agent's own request. */
  function* changing({ step }: { readonly step: number }): Generator<ScriptPart> {
    const command = `echo own > own.txt; cat own.txt; echo all > a.txt; curl -sS -X PUT --data-binary @a.txt -H "$AGENT_API_AUTH_HEADER" "$AGENT_API_URL${path}"`;
    if (step === 0) yield { tool: "bash", id: "command", input: { command } };
    else if (step === 1) {
      yield { tool: "fetch", id: "request", input: { url: url(), method: "PUT", body: "agreed" } };
    } else yield { text: "Done" };
  }

  it("stay as they are where a policy denies it, whichever way it is tried", async () => {
    const input = { filePath: "a.txt", oldString: "a", newString: "b" };
    place.model.script("denied-files", function* (given) {
      if (given.step === 2) yield { tool: "edit", id: "edit", input };
      else yield* changing(given);
    });
    const approvals = { write: "deny" };
    const run = await startRun(caller, { prompt: "[script:denied-files]", approvals });
    expect(await waitForRun(caller, run)).toMatchObject({ status: "completed" });
    const results = place.model.callsOf("denied-files").at(-1)?.toolResults ?? [];
    const [command, request, edit] = results;
    expect(command).toContain("own");
    expect(command).toContain("A person must approve this");
    expect(request).toContain("denies this (approvals.write)");
    expect(edit).toContain("denies this (approvals.write)");
    expect((await caller.get(path)).status).toBe(404);
  });

  it("are written as they were approved, and asked for each time they are deleted", async () => {
    place.model.script("asked-files", function* (given) {
      if (given.step < 2) yield* changing(given);
      else if (given.step === 2) {
        yield { tool: "fetch", id: "removal", input: { url: url(), method: "DELETE" } };
      } else yield { text: "Done" };
    });
    const approvals = { write: "ask" };
    const run = await startRun(caller, { prompt: "[script:asked-files]", approvals });
    const [write] = await waitForApprovals(caller, run);
    expect(write).toMatchObject({
      category: "write",
      effect: [
        { label: "Request", value: `PUT ${path}` },
        { label: "Characters", value: "6" },
        { label: "Content", value: "agreed" },
      ],
      is_memorable: true,
    });
    await answer(caller, run, write?.id, { approved: true, remember: "chat" });
    await expect.poll(async () => (await waitForApprovals(caller, run))[0]?.id).not.toBe(write?.id);
    expect((await caller.get(path)).text).toBe("agreed");

    const [removal] = await waitForApprovals(caller, run);
    expect(removal).toMatchObject({ category: "write", is_memorable: false });
    const remembered = await answer(caller, run, removal?.id, { approved: true, remember: "chat" });
    expect([remembered.status, remembered.text]).toEqual([
      400,
      expect.stringContaining("remember must not be provided"),
    ]);
    await answer(caller, run, removal?.id, { approved: true });
    expect(await waitForRun(caller, run)).toMatchObject({ status: "completed" });
    expect((await caller.get(path)).status).toBe(404);
  });
});

describe("a result that is to be mailed", () => {
  const mailed = async (approvals: object) => {
    place.model.script("mailed", () => [{ text: "All figures." }]);
    const me = await caller.get("/api/accounts/me");
    const deliver = [{ kind: "email", to: [Object(me.body).account.email] }];
    const run = await startRun(caller, { prompt: "[script:mailed]", approvals, deliver });
    await waitForRun(caller, run);
    return run;
  };

  it("waits for the approval of its recipients, and is then mailed once", async () => {
    const run = await mailed({ delivery: "ask" });
    expect(await readRun(caller, run)).toMatchObject({
      delivery: "withheld",
      delivery_reason: "It waits for an approval",
    });
    const { body } = await caller.get("/api/approvals?state=requested&limit=1");
    const [asked] = z
      .object({ approvals: z.array(z.object({ id: z.string() }).loose()) })
      .parse(body).approvals;
    expect(asked).toMatchObject({ run_id: run.runId, category: "delivery" });
    for (const _ of [1, 2]) {
      expect((await answer(caller, run, asked?.id, { approved: true })).status).toBe(200);
    }
    await expect.poll(async () => (await readRun(caller, run)).delivery).toBe("sent");
    const { body: sent } = await caller.get(`/api/chat/runs/${run.runId}/deliveries`);
    // The owner was notified that it waits.
    expect(
      Object(sent)
        .deliveries.map(({ kind }: { kind: string }) => kind)
        .sort(),
    ).toEqual(["email", "notice"]);
  });

  it("is not mailed if a policy denies it", async () => {
    const run = await readRun(caller, await mailed({ delivery: "deny" }));
    expect(run).toMatchObject({ delivery: "withheld" });
    expect(run.delivery_reason).toContain("approvals.delivery");
  });
});

describe("a chat", () => {
  it("ends its stream at the question, and continues with the answer in the message", async () => {
    place.model.script("in-chat", writing);
    const conversation = await openConversation(caller);
    await setApprovals(conversation, { bash: "ask" });
    const asking = await conversation.send("[script:in-chat]");
    const before = await asking.ended;
    expect(asking.isDone).toBe(true);
    expect(asking.chunks.at(-1)).toMatchObject({ type: "tool-approval-request" });

    const message = await answered(asking, true);
    const forged = structuredClone(message);
    for (const part of forged[0]?.parts ?? []) {
      if (part.type === "tool-bash") Object.assign(part, { input: { command: "rm -rf ." } });
    }
    const refused = await conversation.send(forged);
    expect(refused.status).toBe(400);
    const rest = await conversation.send(message);
    expect(rest.status).toBe(200);
    const whole = [...before, ...(await rest.ended)];
    expectCompleteTurn(whole);
    expect(rest.runId).toBe(asking.runId);
    expect(await assemble(whole.map(({ chunk }) => chunk))).toEqual(await conversation.answer());
    expect(place.model.callsOf("in-chat")[1]?.toolResults[1]).toContain("ran");

    // The same answer again streams the same rest.
    const again = await conversation.send(message);
    expect(await again.ended).toEqual(whole.slice(before.length));
  });

  it("asks for what only the message has restricted, and the approval changes no options", async () => {
    place.model.script("restricted", writing);
    const conversation = await openConversation(caller);
    await setApprovals(conversation, { bash: "auto" });
    const options = { approvals: { bash: "ask" }, model: "fake-small" } as const;
    const asking = await conversation.send("[script:restricted]", options);
    const before = await asking.ended;
    expect(asking.chunks.at(-1)).toMatchObject({ type: "tool-approval-request" });
    expect(place.model.callsOf("restricted")).toMatchObject([{ model: "fake-small" }]);
    const message = await answered(asking, true);
    const refused = await conversation.send(message, { approvals: { write: "deny" } });
    expect(refused.status).toBe(409);
    const rest = await conversation.send(message, options);
    expect(rest.status).toBe(200);
    expectCompleteTurn([...before, ...(await rest.ended)]);
    expect(place.model.callsOf("restricted")[1]).toMatchObject({ model: "fake-small" });
    // The next turn has the chat's options.
    const next = await conversation.send("[script:restricted]");
    await next.ended;
    expect(next.chunks.at(-1)).toMatchObject({ type: "finish" });
    expect(place.model.callsOf("restricted").at(-1)?.model).not.toBe("fake-small");
  });

  it("is answered by another message, which denies the call", async () => {
    place.model.script("other", writing);
    place.model.script("next", () => [{ text: "Next" }]);
    const conversation = await openConversation(caller);
    await setApprovals(conversation, { bash: "ask" });
    await (await conversation.send("[script:other]")).ended;
    const next = await conversation.send("[script:next]");
    await next.ended;
    expect(next.isDone).toBe(true);
    const { messages } = await conversation.read();
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(messages[1]?.parts).toContainEqual(
      expect.objectContaining({ type: "tool-bash", state: "output-denied" }),
    );
    expect(place.model.callsOf("other")).toHaveLength(1);
  });

  it("remembers an approval for calls of the same kind, until it is forgotten", async () => {
    const run = (name: string, command: string): Script => {
      place.model.script(name, function* ({ step }) {
        if (step === 0) yield { tool: "bash", id: name, input: { command } };
        else yield { text: "Done" };
      });
      return () => [];
    };
    const conversation = await openConversation(caller);
    await setApprovals(conversation, { bash: "ask" });
    const send = async (name: string, command: string) => {
      run(name, command);
      const stream = await conversation.send(`[script:${name}]`);
      await stream.ended;
      return stream;
    };
    const first = await send("remember", "echo same");
    const [asked] =
      (await waitForApprovals(caller, {
        runId: first.runId ?? "",
        chatId: conversation.chatId,
        sessionId: conversation.sessionId,
      })) ?? [];
    const remember = { approved: true, remember: "chat" };
    const wrong = { approved: true, remember: "task" };
    expect((await answer(caller, { runId: first.runId ?? "" }, asked?.id, wrong)).status).toBe(400);
    await answer(caller, { runId: first.runId ?? "" }, asked?.id, remember);
    await (await conversation.resume({ runId: first.runId ?? "" })).ended;

    expect((await send("again", "echo same")).chunks.at(-1)).toMatchObject({ type: "finish" });
    expect((await send("else", "echo other")).chunks.at(-1)).toMatchObject({
      type: "tool-approval-request",
    });
    const { body } = await caller.get("/api/approval-rules");
    const [rule] = z
      .object({ rules: z.array(z.object({ id: z.string(), chat_id: z.string() }).loose()) })
      .parse(body).rules;
    expect(rule).toMatchObject({ tool: "bash", fields: { command: "echo same" } });
    expect((await caller.delete(`/api/approval-rules/${rule?.id}`)).status).toBe(200);
    expect((await send("forgotten", "echo same")).chunks.at(-1)).toMatchObject({
      type: "tool-approval-request",
    });
  });
});
