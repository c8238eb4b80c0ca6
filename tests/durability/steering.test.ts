/** Messages that steer a turn, when servers die while they take them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { assemble, expectCompleteTurn, textOf } from "../support/harness/turn-stream.ts";
import { clientAt } from "../support/harness/workspace.ts";
import { type Cluster, startCluster } from "./simulation/cluster.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  cluster.workspace.model.script("slow-tool", function* ({ step }) {
    if (step > 0) yield { text: "Done." };
    else {
      yield { tool: "bash", input: { command: "while [ ! -e go ]; do sleep 0.05; done" } };
    }
  });
});
afterAll(() => cluster.stop());

/** A turn of one server that runs a tool, and a message to it through another server. */
async function steeredTurn(script: string) {
  cluster.heal();
  await cluster.resize(2);
  const node = await cluster.pick(0);
  const caller = await cluster.workspace.createCaller(node.server.url);
  const conversation = await openConversation(caller);
  const elsewhere = async (): Promise<Conversation> =>
    conversation.through(clientAt((await cluster.pick(1)).server.url, caller));
  const turn = await conversation.send([{ id: "first", content: "[script:slow-tool]" }]);
  await turn.until(({ type }) => type === "tool-input-available");
  const message = [{ id: "venue", content: `[script:${script}] Name the venue` }];
  const steer = async () => (await elsewhere()).send(message, { onBusy: "steer" });
  expect((await steer()).status).toBe(200);
  const home = join(
    cluster.workspace.env.DATA_DIR ?? "",
    "sandboxes",
    conversation.sessionId,
    "home",
  );
  return {
    node,
    turn,
    steer,
    proceed: () => writeFile(join(home, "go"), ""),
    /** The turn was answered once, and every client sees where the message took effect. */
    async expectSteered() {
      const other = await elsewhere();
      const whole = await (await other.resume({ runId: turn.runId })).ended;
      expectCompleteTurn(whole);
      const chunks = whole.map(({ chunk }) => chunk);
      expect(chunks.filter(({ type }) => type === "steering-message")).toHaveLength(1);
      const answer = await other.answer();
      expect(answer).toEqual(await assemble(chunks));
      expect(answer.parts.map(({ type }) => type)).toEqual([
        ...["step-start", "tool-bash", "steering-message", "step-start", "text"],
      ]);
      expect(textOf(answer)).toBe("The venue.");
      expect((await other.read()).messages).toHaveLength(2);
      expect(await (await steer()).ended).toEqual(whole);
      for (const { messages } of cluster.workspace.model.callsOf(script)) {
        expect(messages.map(({ role }) => role)).toEqual([
          ...["system", "user", "assistant", "tool", "user"],
        ]);
      }
    },
  };
}

describe("a message that steers a turn", () => {
  it.each(["before", "after"] as const)(
    "is taken once when the server dies %s it takes it",
    async (phase) => {
      const script = `steered-${phase}`;
      cluster.workspace.model.script(script, () => [{ text: "The venue." }]);
      const { proceed, expectSteered } = await steeredTurn(script);
      cluster.faults.arm({ point: "steer", phase, effect: "crash" });
      await proceed();
      await expectSteered();
    },
  );

  it("reaches the repeated model call when the server dies during the first", async () => {
    const held = gate();
    cluster.workspace.model.script("steered-held", async function* () {
      yield { text: "The " };
      await held.pass();
      yield { text: "venue." };
    });
    const { node, proceed, expectSteered } = await steeredTurn("steered-held");
    await proceed();
    await held.reached;
    await cluster.crash(node);
    held.open();
    await expectSteered();
    expect(cluster.workspace.model.callsOf("steered-held")).toHaveLength(2);
  });
});
