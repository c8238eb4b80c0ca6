/** The six-step turn that crash tests interrupt, and the checks afterwards. */
import { expect } from "vitest";
import { type Gate, gate, type Script, type ScriptPart } from "../support/fakes/openai.ts";
import type { Client } from "../support/harness/clients.ts";
import { type Conversation, openChat, openConversation } from "../support/harness/conversation.ts";
import {
  assemble,
  expectCompleteTurn,
  type Frame,
  type TurnStream,
} from "../support/harness/turn-stream.ts";
import type { Workspace } from "../support/harness/workspace.ts";
import { readStream } from "../support/harness/worlds.ts";

export const STEPS = 6;

/** The output of the commands of all steps, as `effectsOf` returns it. */
export const EFFECTS: readonly string[] = Array.from({ length: STEPS }, (_, step) => String(step));

/** Where a script waits for the test, if it gets there. `step` counts from 0. */
export interface Place {
  readonly step: number;
  readonly where: "before" | "text" | "input" | "called" | "command";
}

export interface PausePoint extends Place {
  readonly gate: Gate;
}

/**
 * Six steps, each with some text and one command that adds its number to a file; then an answer.
 * At `command` the command itself waits in the sandbox, after its effect, until the file `go` is
 * there; other commands of its session wait for it.
 */
export function sixSteps(pause: PausePoint | null, last: Gate, file = "effects"): Script {
  return async function* ({ step }): AsyncGenerator<ScriptPart> {
    const at = async (where: PausePoint["where"]) => {
      if (pause?.step === step && pause.where === where) await pause.gate.pass();
    };
    await at("before");
    yield { text: `Step ${step} ` };
    await at("text");
    yield { text: "goes on. " };
    if (step === STEPS) {
      await last.pass();
      yield { text: "All done." };
      return;
    }
    const waits = pause?.step === step && pause.where === "command";
    yield {
      tool: "bash",
      input: {
        command: waits
          ? `echo ${step} >> ${file}; while [ ! -e go ]; do sleep 0.05; done`
          : `echo ${step} >> ${file}`,
      },
      pieces: 3,
      between: () => at("input"),
    };
    await at("called");
  };
}

export const effectsOf = async (
  workspace: Workspace,
  { sessionId }: Conversation,
  file = "effects",
): Promise<string[]> =>
  (await workspace.readSandboxFile(sessionId, file)).split("\n").filter(Boolean);

/** Opens chats of one session, whose turns share the process of its sandbox. */
export async function openChats(caller: Client, count: number): Promise<Conversation[]> {
  const first = await openConversation(caller);
  const others = Array.from({ length: count - 1 }, () => openChat(first, caller));
  return [first, ...(await Promise.all(others))];
}

/** A turn that stands still. Its commands add their numbers to a file that is named like its script. */
export interface Held {
  readonly script: string;
  readonly pause: PausePoint;
  readonly conversation: Conversation;
  readonly stream: TurnStream;
}

/**
 * Starts a six-step turn for each place and waits until all of them stand there. Their scripts are `<name>-0`,
 * `<name>-1` and further. They share a session, except for turns that stand at a command, which other commands
 * of their session would wait for.
 */
export async function holdTurns(
  workspace: Workspace,
  caller: Client,
  name: string,
  places: readonly Place[],
  last: Gate,
): Promise<Held[]> {
  const shared = await openChats(caller, places.length);
  return Promise.all(
    places.map(async (place, n) => {
      const script = `${name}-${n}`;
      const pause = { ...place, gate: gate() };
      workspace.model.script(script, sixSteps(pause, last, script));
      const own = place.where === "command" ? undefined : shared[n];
      const conversation = own ?? (await openConversation(caller));
      const stream = await conversation.send(`[script:${script}]`);
      if (place.where === "command") {
        await expect
          .poll(() => effectsOf(workspace, conversation, script), {
            timeout: 120_000,
            interval: 20,
          })
          .toContain(String(place.step));
      } else await pause.gate.reached;
      return { script, pause, conversation, stream };
    }),
  );
}

/** Everything that was ever streamed of a chat's newest turn, as the engine keeps it. */
export async function logOf(workspace: Workspace, { chatId }: Conversation): Promise<Frame[]> {
  const [turn] = await workspace.sql`
    select id, run_id from turns where chat_id = ${chatId} order by created_at desc limit 1`;
  if (workspace.world) {
    const texts = await readStream(String(turn?.run_id));
    return texts.map((text, id) => ({ id, chunk: JSON.parse(text) }));
  }
  const rows = await workspace.sql`
    select first_index, count, data from engine.chunks where stream = ${turn?.id}
    order by first_index`;
  return rows.flatMap((row) =>
    Number(row.count) === 0
      ? []
      : String(row.data)
          .split("\n")
          .map((data, offset) => ({
            id: Number(row.first_index) + offset,
            chunk: JSON.parse(data),
          })),
  );
}

export interface Survived {
  readonly conversation: Conversation;
  /** The client's frames before the server died, and after it came back. */
  readonly before: readonly Frame[];
  readonly after: readonly Frame[];
}

/**
 * After any crash: one complete stream without duplicates, and a stored message that equals the one
 * a client assembles.
 */
export async function expectSurvived(
  workspace: Workspace,
  { conversation, before, after }: Survived,
) {
  const whole = await logOf(workspace, conversation);
  expectCompleteTurn(whole);
  const seen = [...before, ...after];
  expect(seen).toEqual(whole.slice(0, seen.length));
  const { isStreaming, chat, messages } = await conversation.read();
  expect(isStreaming).toBe(false);
  expect(chat.activeStreamId).toBeNull();
  expect(messages.map((message) => message.role)).toEqual(["user", "assistant"]);
  const stored = await conversation.answer();
  expect(await assemble(whole.map((frame) => frame.chunk))).toEqual(stored);
  if (seen.length === whole.length) {
    expect(await assemble(seen.map((frame) => frame.chunk))).toEqual(stored);
  }
  const shown = stored.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("");
  const expected = Array.from({ length: STEPS + 1 }, (_, step) => `Step ${step} goes on. `);
  expect(shown).toBe(`${expected.join("")}All done.`);
  expect(stored.parts.filter((part) => part.type === "tool-bash")).toHaveLength(STEPS);
  return { whole, stored };
}
