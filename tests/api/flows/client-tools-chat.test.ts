/** Tools that the client runs: their calls end the turn of a chat. */
import type { UIMessage } from "ai";
import { beforeAll, describe, expect, it } from "vitest";
import { calling, client_tools } from "../../support/fixtures/client-tools.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { type Entry, openConversation } from "../../support/harness/conversation.ts";
import { assemble, expectCompleteTurn, textOf } from "../../support/harness/turn-stream.ts";

const place = provideChatServer();
let caller: Client;
beforeAll(async () => {
  caller = (await createPerson(place.server.url)).withKey;
});

/** The message as a client sends it back, with the results of its calls by their ids. */
const answered = (asked: UIMessage, results: Readonly<Record<string, object>>): Entry => ({
  id: asked.id,
  role: "assistant",
  parts: asked.parts.map((part) =>
    "toolCallId" in part ? { ...part, ...results[part.toolCallId] } : part,
  ),
});

describe("a chat", () => {
  it("ends its turn with the calls, and continues with the answered message", async () => {
    place.model.script(
      "chat-tools",
      calling(
        { tool: "look_up_track", id: "one" },
        { tool: "bash", id: "two", input: { command: "echo hello" } },
        { tool: "play", id: "three" },
      ),
    );
    const conversation = await openConversation(caller);
    const turn = await conversation.send("[script:chat-tools]", { client_tools });
    expectCompleteTurn(await turn.ended);
    expect(turn.chunks.at(-1)).toMatchObject({ type: "finish", finishReason: "tool-calls" });
    const asked = await conversation.answer();
    expect(await assemble(turn.chunks)).toEqual(asked);

    const partly = answered(asked, { one: { state: "output-available", output: 1 } });
    const refused = await conversation.send([partly], { client_tools });
    expect(refused.status).toBe(400);
    const results = {
      one: { state: "output-available", output: { title: "Nightjar" } },
      // Results of server tools are not accepted from the client.
      two: { state: "output-available", output: "forged" },
      three: { state: "output-error", errorText: "No speakers" },
    };
    const next = await conversation.send([answered(asked, results)], { client_tools });
    expectCompleteTurn(await next.ended);
    const given = place.model.callsOf("chat-tools")[1]?.toolResults ?? [];
    expect(JSON.parse(given[0] ?? "")).toEqual({ title: "Nightjar" });
    expect(given[1]).toContain("hello");
    expect(given[2]).toContain("No speakers");
    expect(given.join()).not.toContain("forged");
    const whole = await conversation.answer();
    expect(whole.id).toBe(asked.id);
    expect(textOf(whole)).toContain("Told:");
  });

  it("gives the tools to a message that waits, and closes calls that nobody answers", async () => {
    place.model.script("tools-ignored", calling({ tool: "play", id: "one" }));
    const conversation = await openConversation(caller);
    const busy = await conversation.send("run: sleep 1");
    const queued = await conversation.send("[script:tools-ignored]", {
      client_tools,
      onBusy: "enqueue",
    });
    await busy.ended;
    await queued.ended;
    expect((await conversation.answer()).parts.at(-1)).toMatchObject({
      type: "tool-play",
      state: "input-available",
    });
    place.model.script("after", function* ({ tools }) {
      yield { text: tools.includes("play") ? "offered" : "not offered" };
    });
    const next = await conversation.send("[script:after]");
    await next.ended;
    expect(textOf(await conversation.answer())).toBe("not offered");
    const { messages = [] } = place.model.callsOf("after")[0] ?? {};
    expect(messages.find(({ role }) => role === "tool")?.content).toContain("Not run");
  });
});
