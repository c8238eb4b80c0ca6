/** The knowledge of a simulation's clients, against which the servers are checked. */
import { type Gate, gate } from "../../support/fakes/openai.ts";
import type { Client } from "../../support/harness/clients.ts";
import type { Conversation, Entry } from "../../support/harness/conversation.ts";
import type { Frame, TurnStream } from "../../support/harness/turn-stream.ts";
import type { Cluster } from "./cluster.ts";
import type { TurnPlan } from "./plan.ts";
import { scriptOf } from "./script.ts";

export interface Stored {
  /** Unsure after a request to delete it that got no answer. */
  state: "there" | "unsure" | "deleted";
}

export interface Chat extends Stored {
  readonly conversation: Conversation;
  /** Ids of the user messages that were sent. */
  readonly sent: Set<string>;
  /** Ids of those whose request was answered with a stream. */
  readonly accepted: Set<string>;
  /** Ids of the messages accepted for steering since waiting messages were last dropped. */
  readonly steered: Set<string>;
  /** Ids of the messages that were deliberately regenerated. */
  readonly regenerated: Set<string>;
  /** The runs whose streams were read, in their order. */
  readonly runs: string[];
  newest: Entry | undefined;
  readonly turns: { readonly name: string; readonly gate: Gate }[];
  /** Outlives the chat when only that is deleted. */
  readonly session: Stored;
}

/** Scripts of the model server are never removed, so their names are unique in a process. */
let turns = 0;

export class Model {
  readonly cluster: Cluster;
  /** Its key is replaced from time to time. */
  caller: Client;
  readonly accountId: string;
  readonly chats: readonly Chat[];
  /** Turns whose stop was confirmed before anything failed: nothing can have lost the signal. */
  readonly stopped = new Set<string>();
  hasFailures = false;
  /** When the budget of the account was set, by the clock of the database. */
  budget: { readonly usd: number; readonly since: string } | null = null;
  /** The `contextLimit` of messages that have one, by their id. */
  readonly contextLimits = new Map<string, number>();
  /** The streams that clients read. */
  readonly readers: TurnStream[] = [];
  /** Each chunk that a client has read, by run and index. */
  readonly #chunks = new Map<string, string[]>();
  readonly #recorded = new Map<TurnStream, number>();

  constructor(
    cluster: Cluster,
    caller: Client,
    accountId: string,
    conversations: readonly Conversation[],
  ) {
    this.cluster = cluster;
    this.caller = caller;
    this.accountId = accountId;
    this.chats = conversations.map((conversation) => ({
      conversation,
      sent: new Set(),
      accepted: new Set(),
      steered: new Set(),
      regenerated: new Set(),
      runs: [],
      newest: undefined,
      turns: [],
      session: { state: "there" },
      state: "there",
    }));
  }

  /** The chat whose commands must be approved. */
  get asking(): Chat {
    return this.chat(this.chats.length - 1);
  }

  chat(choice: number): Chat {
    const chat = this.chats[choice % this.chats.length];
    if (!chat) throw new Error("The simulation has no chat");
    return chat;
  }

  newName(): string {
    return `simulated-${++turns}`;
  }

  /** A new user message, which the model will answer as planned. */
  write(chat: Chat, plan: TurnPlan): Entry {
    const name = this.newName();
    const turn = { name, gate: gate() };
    this.cluster.workspace.model.script(name, scriptOf(name, plan, turn.gate));
    chat.turns.push(turn);
    chat.sent.add(name);
    if (plan.contextLimit !== undefined) this.contextLimits.set(name, plan.contextLimit);
    chat.newest = { id: name, content: `[script:${name}]` };
    return chat.newest;
  }

  /**
   * Returns the transcript since the last call.
   * @returns what contradicts an earlier chunk, or leaves one out.
   */
  takeDown(): string[] {
    return this.readers.flatMap((reader) => {
      const { frames, runId } = reader;
      const from = this.#recorded.get(reader) ?? 0;
      this.#recorded.set(reader, frames.length);
      return frames.slice(from).flatMap((frame, place) => {
        const before = frames[from + place - 1];
        const gap = before && frame.id !== before.id + 1 ? [`${runId}: gap at ${frame.id}`] : [];
        return [...gap, ...this.compare(runId, frame)];
      });
    });
  }

  /** How many of a run's chunks are known. */
  length(runId: string): number {
    return this.#chunks.get(runId)?.length ?? 0;
  }

  /** Compares a chunk with the one that a client has read at its index, if any has. */
  compare(runId: string, { id, chunk }: Frame): string[] {
    const chunks = this.#chunks.get(runId) ?? [];
    this.#chunks.set(runId, chunks);
    const text = JSON.stringify(chunk);
    const known = chunks[id];
    chunks[id] = text;
    return known === undefined || known === text
      ? []
      : [`${runId}: chunk ${id} was ${known} and is ${text}`];
  }
}
