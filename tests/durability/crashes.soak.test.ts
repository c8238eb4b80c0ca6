/**
 * kill -9 at random moments, many times over: alone and with a second server that survives.
 * `SOAK_ROUNDS` and `SOAK_SEED` repeat a run.
 */
import { randomInt } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import type { Client } from "../support/harness/clients.ts";
import { type Conversation, openConversation } from "../support/harness/conversation.ts";
import { expectCompleteTurn, type Frame, type TurnStream } from "../support/harness/turn-stream.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";
import { effectsOf, expectSurvived, STEPS, sixSteps } from "./six-steps.ts";

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 40);
const SEED = Number(process.env.SOAK_SEED ?? randomInt(1_000_000));
const TURNS = 6;
/** About as many chunks as a six-step turn has. */
const CHUNKS = 75;

let workspace: Workspace;
let caller: Client;
beforeAll(async () => {
  workspace = await startWorkspace();
  caller = await workspace.createCaller();
});
afterAll(() => workspace.stop());

/** The same numbers for the same seed. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state >>> 8) % 1_000_003) % below;
  };
}

async function expectExact(
  conversation: Conversation,
  before: readonly Frame[],
  after: readonly Frame[],
) {
  const { stored } = await expectSurvived(workspace, { conversation, before, after });
  const effects = await effectsOf(workspace, conversation);
  expect(new Set(effects).size).toBe(effects.length);
  const unknown = stored.parts.filter((part) =>
    JSON.stringify(part).includes("outcome is unknown"),
  );
  expect(unknown.length).toBeGreaterThanOrEqual(STEPS - effects.length);
  expect(unknown.length).toBeLessThanOrEqual(1);
}

describe(`seed ${SEED}`, () => {
  const random = randomNumbers(SEED);
  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    "round %i",
    async (round) => {
      const name = `soak-${round}`;
      const held = gate();
      workspace.model.script(name, sixSteps(null, held));
      const doomed = await workspace.startServer();
      const survivor = random(2) === 0 ? await workspace.startServer() : null;
      caller = clientAt(doomed.url, caller);
      const turns: { conversation: Conversation; stream: TurnStream }[] = await Promise.all(
        Array.from({ length: TURNS }, async () => {
          const conversation = await openConversation(caller);
          return { conversation, stream: await conversation.send(`[script:${name}]`) };
        }),
      );
      const watched = turns[random(TURNS)];
      const chunk = random(CHUNKS);
      // A turn that is held before its end has fewer chunks than this may ask for.
      const last = (one: Frame["chunk"]) =>
        one.type === "text-delta" && one.delta === "goes on. " && stepsIn(watched) > STEPS;
      await watched?.stream.until((one, { id }) => id >= chunk || last(one));
      const readers = survivor
        ? await Promise.all(
            turns.map(({ conversation }) =>
              conversation.through(clientAt(survivor.url, caller)).resume(),
            ),
          )
        : [];
      await crash(doomed);
      const { url } = survivor ?? (await workspace.startServer());
      const here = clientAt(url, caller);
      const rests = await Promise.all(
        turns.map(async ({ conversation, stream }, n) => {
          const before = await stream.ended;
          const lastEventId = before.at(-1)?.id;
          const back = conversation.through(here);
          const rest = await back.resume(lastEventId === undefined ? {} : { lastEventId });
          return { back, before, rest, reader: readers[n] };
        }),
      );
      held.open();
      for (const { back, before, rest, reader } of rests) {
        expect(rest.status).toBe(200);
        await expectExact(back, before, await rest.ended);
        if (reader) expectCompleteTurn(await reader.ended);
      }
      await survivor?.stop();
      await workspace.server.stop();
    },
    120_000,
  );
});

const stepsIn = (turn: { stream: TurnStream } | undefined): number =>
  turn?.stream.chunks.filter((chunk) => chunk.type === "start-step").length ?? 0;
