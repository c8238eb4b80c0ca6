/** The claim on a chat: one run at a time, and no chat that stays blocked. */
import { randomUUID } from "node:crypto";
import { INTRODUCTION } from "@platform/agent/models/embedded-identity";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../support/harness/clients.ts";
import { type Conversation, openConversation } from "../../support/harness/conversation.ts";
import { joinWorkspace, type SharedWorkspace } from "../../support/harness/shared-workspace.ts";
import { stack } from "../../support/harness/stack.ts";
import { expectCompleteTurn, type TurnStream, textOf } from "../../support/harness/turn-stream.ts";
import { startWorkspace } from "../../support/harness/workspace.ts";
import type { World } from "../../support/harness/worlds.ts";

/** @param world the World that runs the turns, in fewer rounds; without one, our own engine. */
export function claimsSuite(world?: World): void {
  let workspace: SharedWorkspace;
  let caller: Client;
  beforeAll(async () => {
    workspace = world ? await startWorkspace({}, world) : await joinWorkspace();
    caller = await workspace.createCaller();
  });
  afterAll(() => workspace.stop());

  const AT_ONCE = 32;
  const ROUNDS = world ? 2 : 3;

  const expectIdle = async (conversation: Conversation) => {
    const { isStreaming, chat } = await conversation.read();
    expect(isStreaming).toBe(false);
    expect(chat.activeStreamId).toBeNull();
  };

  const runIdsOf = (streams: readonly TurnStream[]) =>
    new Set(streams.filter((stream) => stream.status === 200).map((stream) => stream.runId));

  describe(`${AT_ONCE} simultaneous messages on one chat`, () => {
    it("start one run, the rest are 409, round after round", async () => {
      const conversation = await openConversation(caller);
      for (let round = 0; round < ROUNDS; round++) {
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, n) =>
            conversation.send(`round ${round}, message ${n}`),
          ),
        );
        const started = answers.filter((answer) => answer.status === 200);
        const refused = answers.filter((answer) => answer.status === 409);
        await Promise.all(answers.map((answer) => answer.ended));
        // A turn may end while others are still being asked for: then another one starts.
        expect(started.length).toBeGreaterThanOrEqual(1);
        expect(runIdsOf(started).size).toBe(started.length);
        expect(started.length + refused.length).toBe(AT_ONCE);
        for (const stream of started) expectCompleteTurn(stream.frames);
        for (const refusal of refused) {
          expect(JSON.parse(refusal.text)).toEqual({
            status: "error",
            message: "A response is already streaming for this chat",
          });
          expect(refusal.headers.get("x-error-code")).toBe("stream_active");
          const active = refusal.headers.get("x-workflow-run-id");
          if (active !== null) expect([...runIdsOf(started)]).toContain(active);
        }
        await expectIdle(conversation);
      }
      const { messages } = await conversation.read();
      const runs =
        await workspace.sql`select status from turns where chat_id = ${conversation.chatId}`;
      expect(runs.map((run) => run.status)).toEqual(runs.map(() => "completed"));
      expect(messages.filter((message) => message.role === "assistant")).toHaveLength(runs.length);
      expect(messages.filter((message) => message.role === "user")).toHaveLength(runs.length);
    }, 120_000);

    it("with one and the same id are one run, whose stream all of them get", async () => {
      const conversation = await openConversation(caller);
      for (let round = 0; round < ROUNDS; round++) {
        const name = `claim-same-${round}`;
        const { promise: answered, resolve: go } = Promise.withResolvers<void>();
        workspace.model.script(name, async function* () {
          await answered;
          yield { text: `answer ${round}` };
        });
        const message = [{ id: randomUUID(), content: `[script:${name}]` }];
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, () => conversation.send(message)),
        );
        expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
        expect(runIdsOf(answers).size).toBe(1);
        go();
        const whole = await answers[0]?.ended;
        expectCompleteTurn(whole ?? []);
        for (const answer of answers) expect(await answer.ended).toEqual(whole);
        expect(workspace.model.callsOf(name)).toHaveLength(1);
        await expectIdle(conversation);
      }
      expect((await conversation.read()).messages).toHaveLength(2 * ROUNDS);
    }, 120_000);
  });

  describe("a request that died between its claim and its run", () => {
    /** As the claim leaves the database: message and turn stored, no run. */
    const claimOnly = async (
      conversation: Conversation,
      ageSeconds: number,
      more: { readonly claimed_by?: string } = {},
    ) => {
      const turnId = randomUUID();
      const [owner] =
        await workspace.sql`select account_id from chats where id = ${conversation.chatId}`;
      const claim = {
        account_id: owner?.account_id,
        session_id: conversation.sessionId,
        chat_id: conversation.chatId,
        turn_id: turnId,
        message_id: "lost",
        parts: [{ type: "text", text: "lost" }],
        assistant_message_id: randomUUID(),
        default_model_id: "auto",
        credential: "key",
        ...more,
      };
      const [row] = await workspace.sql`
        select claim_turn(${workspace.sql.json(claim)}, 'reject', 0, 0, 0, 0) as answer`;
      expect(row?.answer).toEqual({ outcome: "claimed" });
      await workspace.sql`update chats set claimed_at = now() - make_interval(secs => ${ageSeconds})
      where id = ${conversation.chatId}`;
      return turnId;
    };

    it("holds the chat for a minute", async () => {
      const conversation = await openConversation(caller);
      await claimOnly(conversation, 50);
      const refused = await conversation.send("too early");
      await refused.ended;
      expect(refused.status).toBe(409);
      expect(refused.headers.get("x-workflow-run-id")).toBeNull();
      const { isStreaming, messages } = await conversation.read();
      expect(isStreaming).toBe(true);
      expect(messages.map((message) => message.id)).toEqual(["lost"]);
    });

    it("tells a client that resumes, and one that repeats the message, to come back", async () => {
      const conversation = await openConversation(caller);
      await claimOnly(conversation, 0);
      for (const answer of [
        await conversation.resume(),
        await conversation.send([{ id: "lost", content: "lost" }]),
      ]) {
        await answer.ended;
        expect(answer.status).toBe(503);
        expect(answer.headers.get("x-error-code")).toBe("unavailable");
        expect(answer.headers.get("retry-after")).toBe("1");
      }
    });

    it("no longer counts after a minute: the chat is idle, and the next message runs", async () => {
      const conversation = await openConversation(caller);
      const turnId = await claimOnly(conversation, 61);
      await expectIdle(conversation);
      expect((await conversation.resume()).status).toBe(204);
      expect((await conversation.stop()).body).toEqual({ status: "success", stopped: false });
      const stream = await conversation.send("now then");
      await stream.ended;
      expectCompleteTurn(stream.frames);
      await expectIdle(conversation);
      const { messages } = await conversation.read();
      expect(messages.map((message) => textOf(message))).toEqual([
        "lost",
        "now then",
        "You said: now then",
      ]);
      const [lost] =
        await workspace.sql`select status, finished_at from turns where id = ${turnId}`;
      expect(lost).toMatchObject({ status: "failed", finished_at: expect.any(Date) });
    });

    it("is retried by the same message", async () => {
      const conversation = await openConversation(caller);
      await claimOnly(conversation, 61);
      const stream = await conversation.send([{ id: "lost", content: "lost" }]);
      await stream.ended;
      expectCompleteTurn(stream.frames);
      const { messages } = await conversation.read();
      expect(messages.map((message) => textOf(message))).toEqual(["lost", "You said: lost"]);
    });

    // Only the project's engine detects that a process has died.
    it.skipIf(world)("is started by another process, once its own has died", async () => {
      const conversation = await openConversation(caller);
      const dead = randomUUID();
      // Without the lock that a live process holds.
      await workspace.sql`insert into engine.instances (id) values (${dead})`;
      await claimOnly(conversation, 0, { claimed_by: dead });
      const message = [{ id: "lost", content: "lost" }];
      const streams = await Promise.all([conversation.resume(), conversation.send(message)]);
      for (const stream of streams) {
        await stream.ended;
        expectCompleteTurn(stream.frames);
      }
      expect(runIdsOf(streams).size).toBe(1);
      const { messages } = await conversation.read();
      // Any server of this database may start it, and the other one has a different model.
      expect(["You said: lost", INTRODUCTION]).toContain(textOf(messages[1]));
      expect(messages).toHaveLength(2);
    });

    it("can be stopped before it has a run: its run will find the request", async () => {
      const conversation = await openConversation(caller);
      const turnId = await claimOnly(conversation, 0);
      const answer = await conversation.stop();
      expect(answer.body).toEqual({ status: "success", stopped: true });
      const [row] = await workspace.sql`select load_turn(${turnId}, 'late') as turn`;
      expect(row?.turn).toMatchObject({ outcome: "active", stop_requested: true });
    });
  });

  // Only of our own engine is it known how its data is lost.
  describe.skipIf(world)("a run that is gone while its chat still waits for it", () => {
    it("does not keep the chat: what it had said is stored, and the next message runs", async () => {
      const conversation = await openConversation(caller);
      workspace.model.script("claim-gone", async function* () {
        yield { text: "half" };
        yield { hang: true };
      });
      const stream = await conversation.send("[script:claim-gone]");
      await stream.until((chunk) => chunk.type === "text-delta");
      // As after the loss of the engine's data.
      await workspace.sql`update engine.runs set status = 'failed' where run_id = ${stream.runId}`;
      const next = await fetch(`${stack.url}/api/chat`, {
        method: "POST",
        headers: { ...caller.headers, "content-type": "application/json" },
        body: JSON.stringify({
          sessionId: conversation.sessionId,
          chatId: conversation.chatId,
          messages: [{ id: "next", content: "and now" }],
        }),
      });
      expect(next.status).toBe(200);
      await next.text();
      await expectIdle(conversation);
      const { messages } = await conversation.read();
      expect(messages.map((message) => textOf(message))).toEqual([
        "[script:claim-gone]",
        "half",
        "and now",
        // The other server's model.
        INTRODUCTION,
      ]);
    });
  });
}
