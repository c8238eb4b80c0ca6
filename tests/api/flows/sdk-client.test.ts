/** The AI SDK's own client against the endpoints: what `useChat` does, without React. */
import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { gate } from "../../support/fakes/openai.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import {
  asClientHolds,
  type Conversation,
  openConversation,
} from "../../support/harness/conversation.ts";

const place = provideChatServer();
let caller: Client;
beforeAll(async () => {
  caller = (await createPerson(place.server.url)).withKey;
});

/** The SDK's chat with plain fields for state. */
class PlainChat extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>) {
    super({ ...init, state: new PlainState(init.messages ?? []) });
  }
}

class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[];
  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }
  pushMessage = (message: UIMessage) => void this.messages.push(message);
  popMessage = () => void this.messages.pop();
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages[index] = message;
  };
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

/** With nothing but the address and the credential, as `useChat` sends it. */
const openDefaultChat = (id: string, messages: UIMessage[] = []) =>
  new PlainChat({
    id,
    messages,
    transport: new DefaultChatTransport({
      api: `${place.server.url}/api/chat`,
      headers: { authorization: `Bearer ${caller.headers["x-api-key"]}` },
    }),
    onError: (error) => {
      throw error;
    },
  });

function openChat(
  conversation: Conversation,
  messages: UIMessage[] = [],
  onError = (error: Error): void => {
    throw error;
  },
): PlainChat {
  return new PlainChat({
    id: conversation.chatId,
    messages,
    transport: new DefaultChatTransport({
      api: `${place.server.url}/api/chat`,
      headers: { ...caller.headers },
      prepareSendMessagesRequest: ({ messages: all, id }) => ({
        body: { chatId: id, sessionId: conversation.sessionId, messages: all.slice(-1) },
      }),
      prepareReconnectToStreamRequest: ({ id }) => ({
        api: `${place.server.url}/api/chat/${id}/stream`,
      }),
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onError,
  });
}

/** The client's messages equal the stored ones. */
async function expectInStep(chat: PlainChat, conversation: Conversation): Promise<void> {
  const { messages } = await conversation.read();
  expect(chat.status).toBe("ready");
  expect(JSON.parse(JSON.stringify(chat.messages.filter(isAnswer)))).toEqual(
    messages.map(asClientHolds).filter(isAnswer),
  );
  expect(chat.messages.map(({ id, role }) => [id, role])).toEqual(
    messages.map(({ id, role }) => [id, role]),
  );
}
const isAnswer = (message: UIMessage) => message.role === "assistant";

describe("the AI SDK's chat", () => {
  it("posts turn after turn, with tools, and holds what is stored", async () => {
    const conversation = await openConversation(caller);
    const chat = openChat(conversation);
    await chat.sendMessage({ text: "[tools:3]" });
    await expectInStep(chat, conversation);
    await chat.sendMessage({ text: "[deltas:100]" });
    await expectInStep(chat, conversation);
    expect(chat.messages).toHaveLength(4);
  });

  it("reconnects in the middle of a turn, from a reloaded page", async () => {
    const held = gate();
    place.model.script("sdk-reload", async function* ({ step }) {
      yield { text: `step ${step} ` };
      if (step === 0) yield { tool: "bash", input: { command: "echo hi" } };
      else {
        await held.pass();
        yield { text: "and on" };
      }
    });
    const conversation = await openConversation(caller);
    const left = await conversation.send("[script:sdk-reload]");
    await held.reached;
    left.leave();
    const loaded = (await conversation.read()).messages.map(asClientHolds);
    const chat = openChat(conversation, loaded);
    const resumed = chat.resumeStream();
    // A turn that has ended before the request arrives has no stream.
    await expect.poll(() => chat.messages.length).toBe(2);
    held.open();
    await resumed;
    await expectInStep(chat, conversation);
  });

  it("answers a question, and the turn goes on by itself", async () => {
    place.model.script("sdk-question", function* ({ step, toolResults }) {
      if (step === 0) {
        yield { text: "One moment. " };
        yield {
          tool: "ask_user_question",
          id: "ask",
          input: {
            questions: [
              {
                question: "Sure?",
                header: "Sure",
                options: [
                  { label: "Yes", description: "go" },
                  { label: "No", description: "stop" },
                ],
              },
            ],
          },
        };
      } else yield { text: `Told ${toolResults.at(-1)}` };
    });
    const conversation = await openConversation(caller);
    const chat = openChat(conversation);
    await chat.sendMessage({ text: "[script:sdk-question]" });
    await expectInStep(chat, conversation);
    await chat.addToolOutput({
      tool: "ask_user_question",
      toolCallId: "ask",
      output: { answers: { "Sure?": "Yes" } },
    });
    await expect
      .poll(() => chat.status === "ready" && place.model.callsOf("sdk-question").length === 2)
      .toBe(true);
    await expectInStep(chat, conversation);
    expect(JSON.stringify(chat.messages)).toContain("Told");
  });

  it("receives an error and can continue", async () => {
    place.model.script("sdk-error", function* () {
      yield { text: "so far" };
      yield { fail: 400 };
    });
    const conversation = await openConversation(caller);
    const errors: Error[] = [];
    const chat = openChat(conversation, [], (error) => errors.push(error));
    await chat.sendMessage({ text: "[script:sdk-error]" });
    expect(chat.status).toBe("error");
    expect(errors.map((error) => error.message)).toEqual(["The model failed to answer"]);
    const after = openChat(conversation, (await conversation.read()).messages.map(asClientHolds));
    await after.sendMessage({ text: "hello again" });
    await expectInStep(after, conversation);
  });
});

describe("the default transport, with nothing but a key", () => {
  it("creates the chat with its first message, and continues it", async () => {
    const id = crypto.randomUUID();
    const chat = openDefaultChat(id);
    await chat.sendMessage({ text: "[deltas:3]" });
    await chat.sendMessage({ text: "[deltas:2]" });
    expect(chat.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    const list = z.object({ chats: z.array(z.object({ id: z.string(), sessionId: z.string() })) });
    const [stored] = list.parse((await caller.get("/api/chats?limit=1")).body).chats;
    const path = `/api/sessions/${stored?.sessionId}/chats/${stored?.id}`;
    const view = z.object({ messages: z.array(z.unknown()) }).parse((await caller.get(path)).body);
    expect(view.messages).toMatchObject(chat.messages.map(({ id, role }) => ({ id, role })));

    await chat.regenerate();
    expect(chat.messages).toHaveLength(4);
    const after = z.object({ messages: z.array(z.object({ id: z.string() })) });
    const { messages } = after.parse((await caller.get(path)).body);
    expect(messages.map((message) => message.id)).toEqual(chat.messages.map(({ id }) => id));
    expect((await caller.get(`${path}/branches`)).body).toMatchObject({ branches: [{}] });
  });

  it("finds the chat again by any id, of the account alone, and resumes it by a UUID", async () => {
    const held = gate();
    place.model.script("resumed", async function* () {
      yield { text: "before " };
      await held.pass();
      yield { text: "after" };
    });
    const id = crypto.randomUUID();
    const first = openDefaultChat(id);
    const sending = first.sendMessage({ text: "[script:resumed]" });
    await held.reached;
    const second = openDefaultChat(id);
    const resuming = second.resumeStream();
    // The turn must not end before it is resumed.
    await expect.poll(() => second.messages.length).toBeGreaterThan(0);
    held.open();
    await Promise.all([sending, resuming]);
    expect(second.messages.at(-1)?.parts).toEqual(first.messages.at(-1)?.parts);

    const named = await caller.post("/api/chat", {
      id: "my chat",
      messages: [{ id: "m1", content: "hello" }],
    });
    const location = named.headers.get("location") ?? "";
    expect(named.status).toBe(200);
    const again = await caller.post("/api/chat", {
      id: "my chat",
      messages: [{ id: "m2", content: "hello" }],
    });
    expect(again.headers.get("location")).toBe(location);
    const { withKey: stranger } = await createPerson(place.server.url);
    const foreign = await stranger.post("/api/chat", {
      id: location.split("/").at(-1),
      messages: [{ id: "m1", content: "hello" }],
    });
    expect(foreign.status).toBe(200);
    expect(foreign.headers.get("location")).not.toBe(location);
  });

  it("keeps no chat whose first message was refused, and makes one of two at once", async () => {
    const person = (await createPerson(place.server.url)).withKey;
    const refused = await person.post("/api/chat", {
      id: "empty",
      messages: [{ id: "m1", content: " " }],
    });
    expect(refused.status).toBe(400);
    expect((await person.get("/api/chats")).body).toMatchObject({ chats: [] });
    const request = { id: "both", messages: [{ id: "m1", content: "[deltas:1]" }] };
    const both = await Promise.all([1, 2].map(() => person.post("/api/chat", request)));
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect((await person.get("/api/chats")).body).toMatchObject({ chats: [{}] });
  });

  it("answers a repeated message although its turn ends at the same moment", async () => {
    const person = (await createPerson(place.server.url)).withKey;
    for (let chat = 0; chat < 20; chat++) {
      const request = { id: `chat ${chat}`, messages: [{ id: "m1", content: "[deltas:1]" }] };
      const answers = await Promise.all([1, 2, 3].map(() => person.post("/api/chat", request)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    }
  });
});
