/** Messages that the console's chat transport sends: provisioning, refusals, leaving. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiError } from "@/packages/client/src/api-error.ts";
import { gate } from "../support/fakes/openai.ts";
import { createSession } from "../support/fixtures/sessions.ts";
import {
  collect,
  expectCompleteTurn,
  openTransport,
  sendThrough,
  userMessage,
} from "../support/harness/chat-transport.ts";
import type { Client } from "../support/harness/clients.ts";
import { Conversation, openConversation } from "../support/harness/conversation.ts";
import { textOf } from "../support/harness/turn-stream.ts";
import { startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let workspace: Workspace;
let caller: Client;
beforeAll(async () => {
  workspace = await startWorkspace();
  caller = await workspace.createCaller();
});
afterAll(() => workspace.stop());

const transportOf = (conversation: Conversation, options?: Parameters<typeof openTransport>[2]) =>
  openTransport(
    { origin: workspace.server.url, headers: () => caller.headers },
    conversation,
    options,
  );

describe("a message", () => {
  it("to a session without a sandbox provisions one first", async () => {
    const { session, chat } = await createSession(caller);
    const conversation = new Conversation(caller, session.id, chat.id);
    const chunks = await collect(
      await sendThrough(transportOf(conversation), conversation, userMessage("[deltas:3]")),
    );
    await expectCompleteTurn(chunks, conversation);
  });

  it("while another turn runs is refused, and says why", async () => {
    const held = gate();
    workspace.model.script("busy", async function* () {
      yield { text: "busy" };
      await held.pass();
    });
    const conversation = await openConversation(caller);
    const running = await conversation.send("[script:busy]");
    await held.reached;
    const refusal = await sendThrough(
      transportOf(conversation),
      conversation,
      userMessage("me too"),
    ).catch((e) => e);
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal).toMatchObject({ status: 409, code: "stream_active" });
    held.open();
    await running.ended;
  });

  it.each([
    ["a sandbox that cannot be provisioned", 502, "upstream_error"],
    ["too many requests", 429, "rate_limited"],
  ])("that meets %s is refused at once", async (_, status, code) => {
    const { session, chat } = await createSession(caller);
    const conversation = new Conversation(caller, session.id, chat.id);
    const mine = transportOf(conversation, {
      answer: (path) =>
        path === "/api/sandbox"
          ? Response.json({ error: "Told so" }, { status, headers: { "x-error-code": code } })
          : null,
    });
    const refusal = await sendThrough(mine, conversation, userMessage("hello")).catch(
      (error) => error,
    );
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal).toMatchObject({ status, code, message: "Told so" });
    expect(mine.reported.connections).not.toContain("lost");
  });

  it("that is given up stops the reading, and nothing else", async () => {
    const held = gate();
    workspace.model.script("left", async function* () {
      yield { text: "half" };
      await held.pass();
      yield { text: " whole" };
    });
    const conversation = await openConversation(caller);
    const leave = new AbortController();
    const stream = await sendThrough(
      transportOf(conversation),
      conversation,
      userMessage("[script:left]"),
      leave.signal,
    );
    await collect(stream, (chunk) => {
      if (chunk.type === "text-delta") leave.abort();
    }).catch(() => []);
    const rest = await conversation.resume();
    held.open();
    await rest.ended;
    expect(textOf(await conversation.answer())).toBe("half whole");
  });
});
