/** Messages that a running turn takes: `onBusy: "steer"` of `POST /api/chat`. */
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { queuedMessages } from "../../../lib/turns/queue-contract.ts";
import { gate } from "../../support/fakes/openai.ts";
import { oneQuestion } from "../../support/fixtures/questions.ts";
import { writeSandboxFile } from "../../support/fixtures/sessions.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { createPerson, type Person } from "../../support/harness/clients.ts";
import { type Conversation, openConversation } from "../../support/harness/conversation.ts";
import { expectAsSent } from "../../support/harness/model-calls.ts";
import { assemble, expectCompleteTurn, textOf } from "../../support/harness/turn-stream.ts";

const place = provideChatServer();
let person: Person;
beforeAll(async () => {
  person = await createPerson(place.server.url);
  place.model.script("slow-tool", function* ({ step }) {
    if (step > 0) yield { text: "Done." };
    else
      yield {
        tool: "bash",
        input: { command: "while [ ! -e go ]; do sleep 0.05; done; echo went" },
      };
  });
  place.model.script("steered", function* ({ userText }) {
    yield { text: `You said: ${userText}` };
  });
});

/** A chat whose turn runs a tool until `proceed` is called. */
async function withSlowTool() {
  const conversation = await openConversation(person.withKey);
  const turn = await conversation.send([{ id: "first", content: "[script:slow-tool]" }]);
  await turn.until(({ type }) => type === "tool-input-available");
  const proceed = () => writeSandboxFile(conversation.sessionId, "go", "");
  return { conversation, turn, proceed };
}

/** The newest text of the user chooses the script. */
const entry = (id: string, text: string) => ({ id, content: `[script:steered] ${text}` });

const steer = (conversation: Conversation, id: string, text: string) =>
  conversation.send([entry(id, text)], { onBusy: "steer" });

const shownAs = (id: string, text: string) => ({
  ...{ type: "steering-message", id },
  parts: [{ type: "text", text: entry(id, text).content }],
});

const queueOf = async ({ chatId }: Conversation) =>
  queuedMessages
    .parse((await person.withKey.get(`/api/chat/${chatId}/queue`)).body)
    .messages.map(({ id }) => id);

const idsOf = async (conversation: Conversation) =>
  (await conversation.read()).messages.map(({ id, role }) => (role === "user" ? id : role));

/** The newest request whose user text contains this. */
const requestWith = (text: string) =>
  place.model.callsOf("steered").findLast(({ userText }) => userText.includes(text))?.messages ??
  [];

describe("a message that steers a running turn", () => {
  it("reaches the next model call after the tools in progress, and shows in every stream where it did", async () => {
    const { conversation, turn, proceed } = await withSlowTool();
    const venue = await steer(conversation, "venue", "Name the venue");
    const city = await steer(conversation, "city", "And the city");
    expect([venue.status, venue.runId]).toEqual([200, ""]);
    expect(await queueOf(conversation)).toEqual(["venue", "city"]);
    await proceed();
    const whole = await turn.ended;
    expectCompleteTurn(whole);
    const types = turn.chunks.map(({ type }) => type);
    const from = types.indexOf("tool-output-available");
    expect(types.slice(from, from + 6)).toEqual([
      ...["tool-output-available", "finish-step", "steering-message", "steering-message"],
      ...["start-step", "text-start"],
    ]);
    expect(turn.chunks.filter(({ type }) => type === "steering-message")).toEqual([
      shownAs("venue", "Name the venue"),
      shownAs("city", "And the city"),
    ]);
    const roles = ["system", "user", "assistant", "tool", "user"];
    expect(requestWith("And the city").map(({ role }) => role)).toEqual(roles);
    expect(requestWith("And the city").at(-1)?.content).toMatch(
      /^\[script:steered\] Name the venue\n\n/,
    );
    const sent = ["slow-tool", "steered"].flatMap((script) => place.model.callsOf(script));
    await expectAsSent(person.withKey, conversation, sent);

    // The sender reads the turn that took its message, even after a repetition.
    for (const stream of [
      venue,
      city,
      await steer(conversation, "venue", "Name the venue"),
      await conversation.send([entry("city", "And the city")]),
      await conversation.resume({ runId: turn.runId }),
    ]) {
      expect(await stream.ended).toEqual(whole);
      expect(stream.isDone).toBe(true);
    }
    const other = await steer(conversation, "venue", "Name the label");
    expect(other.status).toBe(409);
    expect(await idsOf(conversation)).toEqual(["first", "assistant"]);
    expect(await queueOf(conversation)).toEqual([]);
    expect(await conversation.answer()).toEqual(await assemble(turn.chunks));

    await (await conversation.send("[script:steered] What was asked?")).ended;
    const later = requestWith("What was asked?");
    expect(later.slice(0, roles.length)).toEqual(requestWith("And the city"));
    expect(later.map(({ role }) => role)).toEqual([...roles, "assistant", "user"]);
  });

  it("waits for the next turn if it has options, which the running turn cannot take", async () => {
    const { conversation, turn, proceed } = await withSlowTool();
    const options = { onBusy: "steer", model: "fake-small" } as const;
    const waiting = await conversation.send([entry("own", "Name the key")], options);
    expect((await steer(conversation, "own", "Name the key")).status).toBe(200);
    const other = { onBusy: "steer", effort: "low" } as const;
    expect((await conversation.send([entry("own", "Name the key")], other)).status).toBe(409);
    await proceed();
    expectCompleteTurn(await turn.ended);
    expectCompleteTurn(await waiting.ended);
    expect(turn.chunks.map(({ type }) => type)).not.toContain("steering-message");
    expect(await idsOf(conversation)).toEqual(["first", "assistant", "own", "assistant"]);
    const sent = place.model.callsOf("steered").filter(({ userText }) => /key/.test(userText));
    expect(sent.map(({ model }) => model)).toEqual(["fake-small"]);
  });

  it("starts the next turn when it comes too late", async () => {
    const held = gate();
    place.model.script("last-call", async function* () {
      yield { text: "Almost " };
      await held.pass();
      yield { text: "done." };
    });
    const conversation = await openConversation(person.withKey);
    const turn = await conversation.send([{ id: "first", content: "[script:last-call]" }]);
    await held.reached;
    const late = await steer(conversation, "late", "Name the venue");
    held.open();
    expect(turn.chunks.map(({ type }) => type)).not.toContain("steering-message");
    expectCompleteTurn(await turn.ended);
    expectCompleteTurn(await late.ended);
    expect(await idsOf(conversation)).toEqual(["first", "assistant", "late", "assistant"]);
    expect(textOf(await conversation.answer())).toBe("You said: [script:steered] Name the venue");
    const again = await steer(conversation, "late", "Name the venue");
    expect(await again.ended).toEqual(late.frames);
  });

  it("waits for a turn of its own with parentId, and goes before what waits once it is repeated without", async () => {
    const { conversation, turn, proceed } = await withSlowTool();
    const branch = await conversation.send([entry("branch", "Say it otherwise")], {
      onBusy: "steer",
      parentId: "first",
    });
    const waiting = await conversation.send([entry("waiting", "Name the venue")], {
      onBusy: "enqueue",
    });
    const repeated = await steer(conversation, "waiting", "Name the venue");
    await proceed();
    expect(await waiting.ended).toEqual(await turn.ended);
    expect(await repeated.ended).toEqual(turn.frames);
    expectCompleteTurn(await branch.ended);
    expect(await idsOf(conversation)).toEqual(["first", "branch", "assistant"]);
  });

  it("is dropped by a stop, and answered when it is sent again after that", async () => {
    const { conversation, turn } = await withSlowTool();
    const dropped = await steer(conversation, "venue", "Name the venue");
    expect((await conversation.stop()).body).toEqual({ status: "success", stopped: true });
    await turn.ended;
    expect((await dropped.ended).map(({ chunk }) => chunk.type)).toEqual(["error", "finish"]);
    expectCompleteTurn(await (await steer(conversation, "venue", "Name the venue")).ended);
    expect(await idsOf(conversation)).toEqual(["first", "assistant", "venue", "assistant"]);
  });

  it("stays in the answer when the turn fails after it, and is answered when it is sent again", async () => {
    let calls = 0;
    place.model.script("fails-once", function* () {
      calls += 1;
      if (calls === 1) yield { fail: 400 };
      else yield { text: "Answered." };
    });
    const { conversation, turn, proceed } = await withSlowTool();
    const message = [{ id: "venue", content: "[script:fails-once]" }];
    await conversation.send(message, { onBusy: "steer" });
    await proceed();
    await turn.ended;
    expect(turn.chunks.map(({ type }) => type)).toContain("error");
    expect((await conversation.answer()).parts.map(({ type }) => type)).toContain(
      "steering-message",
    );
    expectCompleteTurn(await (await conversation.send(message, { onBusy: "steer" })).ended);
    expect(await idsOf(conversation)).toEqual(["first", "assistant", "venue", "assistant"]);
    const again = await conversation.send(message);
    expect(textOf(await assemble((await again.ended).map(({ chunk }) => chunk)))).toBe("Answered.");
    expect(calls).toBe(2);
  });

  it("has files, which the stream and the model get from the sandbox", async () => {
    const { conversation, turn, proceed } = await withSlowTool();
    const file = { type: "file", mediaType: "text/csv", filename: "dates.csv" };
    const text = { type: "text", text: "[script:steered] Add these dates" };
    const parts = [{ ...file, url: "data:text/csv,Berlin" }, text];
    await conversation.send([{ id: "dates", parts }], { onBusy: "steer" });
    await proceed();
    await turn.ended;
    const url = "sandbox:/home/agent/uploads/dates.csv";
    expect(turn.chunks.find(({ type }) => type === "steering-message")).toEqual({
      ...{ type: "steering-message", id: "dates" },
      parts: [{ ...file, url }, text],
    });
    const shown = JSON.stringify(requestWith("Add these dates").at(-1));
    expect(shown).toContain("uploads/dates.csv");
    await (await conversation.send("[script:steered] Whose?")).ended;
    expect(JSON.stringify(requestWith("Whose?"))).toContain(shown);
  });

  it("is part of a conversation that a client sends back as it has received it", async () => {
    const { conversation, turn, proceed } = await withSlowTool();
    await steer(conversation, "venue", "Name the venue");
    await proceed();
    await turn.ended;
    const held = [
      { id: "first", role: "user" as const, parts: [{ type: "text", text: "Hello" }] },
      { ...(await conversation.answer()), role: "assistant" as const },
      entry("next", "With all before"),
    ];
    expectCompleteTurn(await (await conversation.send(held)).ended);
    expect(requestWith("With all before").map(({ role }) => role)).toEqual([
      ...["system", "user", "assistant", "tool", "user", "assistant", "user"],
    ]);
    const posing = await conversation.send([
      { id: "posing", parts: [...(shownAs("x", "x").parts as object[]), shownAs("x", "x")] },
    ]);
    expect(posing.status).toBe(400);
  });

  it("starts a turn when none runs, even if the last one has asked a question", async () => {
    place.model.script("asks", function* () {
      yield { tool: "ask_user_question", input: oneQuestion };
    });
    const conversation = await openConversation(person.withKey);
    const asked = await conversation.send([{ id: "first", content: "[script:asks]" }], {
      onBusy: "steer",
    });
    expect(asked.runId).not.toBe("");
    expectCompleteTurn(await asked.ended);
    const next = await steer(conversation, "venue", "Name the venue");
    expect(next.runId).not.toBe("");
    expectCompleteTurn(await next.ended);
    expect(await idsOf(conversation)).toEqual(["first", "assistant", "venue", "assistant"]);
  });

  it("is found by the search, and exported and shared where it took effect", async () => {
    const { conversation, turn, proceed } = await withSlowTool();
    await steer(conversation, "venue", "Elbphilharmonie");
    await proceed();
    await turn.ended;
    const found = await person.withKey.get("/api/chats?search=elbphilharmonie");
    expect(found.text).toContain(conversation.chatId);
    const path = `/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`;
    const exported = (await person.withKey.get(`${path}/export`)).text.replace(/_.*UTC_\n\n/g, "");
    const text = entry("venue", "Elbphilharmonie").content;
    expect(exported).toContain(
      `## Agent\n\n_Used bash_\n\n## You\n\n> ${text}\n\n## Agent\n\n> You said: ${text}\n`,
    );
    const { body } = await person.withKey.request("PUT", `${path}/share`);
    const { share } = z.object({ share: z.object({ url: z.string() }) }).parse(body);
    const shared = await person.withKey.get(`/api/shares/${share.url.split("/").at(-1)}`);
    expect(shared.body).toMatchObject({
      messages: [
        { role: "user" },
        { role: "assistant", parts: [{ type: "tool", name: "bash" }] },
        { role: "user", parts: [{ type: "text", text }] },
        { role: "assistant" },
      ],
    });
  });
});
