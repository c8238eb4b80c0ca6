/** Runs the commands of a plan, and checks the invariants after each. */
import { openConversation } from "../../support/harness/conversation.ts";
import { setPolicy } from "./approvals.ts";
import type { Cluster } from "./cluster.ts";
import { execute } from "./commands.ts";
import { expectInvariants } from "./invariants.ts";
import { Model } from "./model.ts";
import type { Plan } from "./plan.ts";
import { settle } from "./settle.ts";

/** The last one must be asked for its commands. */
const CHATS = 4;
/** Only ends what hangs: first with its history, then without. */
const HANG_MS = 270_000;
export const TIMEOUT_MS = 300_000;

/**
 * @param replay the command that repeats the simulation
 * @throws Error with `replay` and the history, when an invariant is broken or nothing happens.
 */
export async function simulate(cluster: Cluster, plan: Plan, replay: string): Promise<void> {
  const history: string[] = [];
  const hang = Promise.withResolvers<never>();
  const timer = setTimeout(() => hang.reject(new Error("It hangs")), HANG_MS);
  try {
    await Promise.race([play(cluster, plan, history), hang.promise]);
  } catch (error) {
    const message = `${replay} fails:\n${history.join("\n")}\n${error}\n${cluster.logs()}`;
    throw new Error(message, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** @param history takes each command and what came of it */
async function play(cluster: Cluster, plan: Plan, history: string[]): Promise<void> {
  cluster.heal();
  await cluster.resize(plan.servers);
  history.push(`${plan.servers} servers`);
  const model = await openModel(cluster);
  for (const [place, command] of plan.commands.entries()) {
    const started = performance.now();
    history.push(JSON.stringify(command));
    const outcome = await execute(model, command);
    history.push(`  ${outcome} after ${Math.round(performance.now() - started)} ms`);
    await expectInvariants(model, await cluster.pick(place));
  }
  history.push("the end");
  await settle(model);
}

async function openModel(cluster: Cluster): Promise<Model> {
  const { server } = await cluster.pick(0);
  const caller = await cluster.workspace.createCaller(server.url);
  const chats = await Promise.all(Array.from({ length: CHATS }, () => openConversation(caller)));
  const [row] = await cluster.workspace.sql`
    select account_id from chats where id = ${chats[0]?.chatId ?? ""}`;
  const model = new Model(cluster, caller, String(row?.account_id), chats);
  await setPolicy(model, await cluster.pick(0), "ask");
  return model;
}
