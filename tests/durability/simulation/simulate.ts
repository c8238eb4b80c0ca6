/** Runs the commands of one seed, and checks the invariants after each. */
import { openConversation } from "../../support/harness/conversation.ts";
import type { Cluster } from "./cluster.ts";
import { execute } from "./commands.ts";
import { expectInvariants } from "./invariants.ts";
import { Model } from "./model.ts";
import { planOf } from "./plan.ts";
import { settle } from "./settle.ts";

const CHATS = 3;
/** Only ends what hangs. */
export const TIMEOUT_MS = 300_000;

/** @throws Error with the seed and the history, when an invariant is broken. */
export async function simulate(cluster: Cluster, seed: number): Promise<void> {
  const history: string[] = [];
  try {
    await cluster.heal();
    const model = await openModel(cluster);
    for (const command of planOf(seed)) {
      const started = performance.now();
      history.push(JSON.stringify(command));
      const outcome = await execute(model, command);
      history.push(`  ${outcome} after ${Math.round(performance.now() - started)} ms`);
      await expectInvariants(model, await cluster.pick(seed));
    }
    history.push("the end");
    await settle(model);
  } catch (error) {
    const message = `Seed ${seed} fails:\n${history.join("\n")}\n${error}`;
    throw new Error(message, { cause: error });
  }
}

async function openModel(cluster: Cluster): Promise<Model> {
  const { server } = await cluster.pick(0);
  const caller = await cluster.workspace.createCaller(server.url);
  const chats = [];
  for (let chat = 0; chat < CHATS; chat++) chats.push(await openConversation(caller));
  const [row] = await cluster.workspace.sql`
    select account_id from chats where id = ${chats[0]?.chatId ?? ""}`;
  return new Model(cluster, caller, String(row?.account_id), chats);
}
