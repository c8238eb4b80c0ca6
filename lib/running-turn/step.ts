/**
 * One step of a turn as its systems see it. A system reads the findings of earlier systems, adds its own,
 * and may end the turn, let it wait, or end the step. `lib/turns/turn-step.ts` has their list.
 */

import type { FailedCall } from "@platform/agent/call-model";
import type { ContextState } from "@platform/agent/context";
import type { StepResult, ToolCall } from "@platform/agent/step-result";
import { storableJson } from "@platform/agent/tools/make-storable";
import { type UntrustedSource, withSources } from "@platform/endpoint/contract/approvals";
import { record } from "@platform/kit/telemetry/metrics";
import type { ModelMessage, ToolModelMessage, UIMessageChunk } from "ai";
import type { TurnLog } from "../engine/port.ts";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import { hasStopped } from "./calls.ts";
import type { MeasuredStep, StepMeasure } from "./measure-step.ts";
import type { ModelCall } from "./model-call.ts";
import type { StreamProgress } from "./read-chunks.ts";
import type { ActiveTurn, KnownCall, Reservation, TurnEnd } from "./state.ts";
import type { LoadedTurnKey } from "./turn-key.ts";

/** The durable step in which model calls are made. */
export interface ModelSteps {
  readonly turnId: string;
  readonly runId: string;
  readonly credential?: RunCredentialForm;
  /** The model calls of the turn that were committed before this durable step, or more. */
  readonly index: number;
  /** Counts from 1. It is more than 1 after a crash or a failure of the infrastructure. */
  readonly attempt: number;
  /** Whether no other step of the turn, nor another attempt at this one, can have started before. */
  readonly isFirst: boolean;
  /** The limit for the model calls of the turn. */
  readonly maxModelCalls: number;
  /** The trace to continue. */
  readonly traceparent?: string;
}

/** How the tools of a turn have used the files of its sandbox. */
export type WorkspaceUse = "none" | "read" | "write";

/** The state of a turn for its next step. */
export interface RunningTurn {
  readonly turn: ActiveTurn;
  /** The results of the steps that are committed. */
  readonly steps: readonly StepResult[];
  readonly log: TurnLog;
  /** Whether the turn was loaded, and the next step may have started before. */
  readonly mayRepeat?: boolean;
  /** How this load of the turn has used the workspace. Default: none. */
  readonly workspaceUse?: WorkspaceUse | undefined;
  /** The model call of the next step, where it has started before the step. */
  readonly call?: ModelCall;
  /**
   * The tool calls of the last step were recorded as started together with it, so they must run in this
   * durable step. Contains the calls that had been recorded before.
   */
  readonly knownCalls?: readonly KnownCall[];
}

/** Ends the turn. */
export interface End {
  readonly end: TurnEnd;
  /** The error text for the client. Absent unless the turn has failed. */
  readonly error?: string;
  readonly finishReason: string;
  /** The step that ends it, if that has called a model. */
  readonly lastStep?: MeasuredStep | null;
  /** The answer of this step, if any. */
  readonly answer?: StepResult;
  readonly output?: { readonly value: unknown } | undefined;
}

/** Lets the turn wait for its client, without a process. */
export interface Wait {
  /** The calls that the client is to answer; none while it waits for approvals. */
  readonly waitsFor: readonly ToolCall[];
  readonly maxSeconds: number;
}

/** Ends the step; the turn continues with the next one. */
export interface Continue {
  readonly next: RunningTurn;
}

/** Decides what becomes of the turn; with undefined, the next system follows. */
export type System<App> = (step: Step<App>) => Decision | Promise<Decision>;
export type Decision = End | Wait | Continue | undefined;

/** Why calls must not run, by the ids of the calls, and whether a person has denied them. */
export type Denials = ReadonlyMap<string, { readonly error: string; readonly isAnswer: boolean }>;

/**
 * The stream of a turn is kept in memory while the turn runs, and is parsed, assembled and stored as
 * one message: a turn whose stream gets longer ends.
 */
const MAX_TURN_CHARS = 32 * 1024 * 1024;

export const CANCELLED: End = { end: "cancelled", finishReason: "interrupted" };
export const failed = (error: string): End => ({ end: "failed", error, finishReason: "error" });

export class Step<App> {
  readonly app: App;
  readonly at: ModelSteps;
  /** Number of the step in its turn, from 0. */
  readonly index: number;
  /** The logged progress of this step when it is repeated after a failure. */
  readonly progress: StreamProgress | undefined;
  /** Whether the step had started to stream before the failure. */
  readonly isRestarted: boolean;
  readonly stop: AbortSignal;
  /** When the durable step ends after this model call, in the time of `performance.now()`. */
  readonly deadline: number;
  readonly reservation: Reservation;
  /** The turn, which systems replace as it changes. */
  current: RunningTurn;

  /** Calls that a person has yet to approve. */
  unanswered: ReadonlySet<string> = new Set();
  denials: Denials = new Map();
  /** Calls that the client has yet to answer. */
  openCalls: readonly ToolCall[] = [];
  /** Of the tools that the last answer has called. */
  results: ToolModelMessage | null = null;
  /** The end of the request, after the steps until now: results, and notes of the platform. */
  added: ModelMessage[] = [];
  /** The output that the last step has submitted. */
  output: { readonly value: unknown } | undefined;
  /** False once tools have ended just now without a message that waits to steer the turn. */
  maySteer = true;
  /** The part of the conversation that the model gets. */
  context: ContextState = {};
  /** The answer of the model, or the refusal of the call. */
  answer: StepResult | FailedCall | undefined;
  /** Absent if the model was not called. */
  measure: StepMeasure | undefined;
  /** Ids of the compactions that the stream shows. */
  readonly shownCompactions: Set<number>;

  readonly #tooLong = new AbortController();
  /** The length of the turn's stream. */
  #chars = 0;
  #awaitsFirstDelta: boolean;

  constructor(
    app: App,
    at: ModelSteps,
    current: RunningTurn,
    progress: StreamProgress | undefined,
    stop: AbortSignal,
    deadline: number,
  ) {
    this.app = app;
    this.at = at;
    this.current = current;
    this.index = current.steps.length;
    this.progress = progress;
    this.isRestarted = progress !== undefined && progress.steps > this.index;
    this.stop = stop;
    this.deadline = deadline;
    this.#count(current.log.committed().reduce((sum, chunk) => sum + chunk.length, 0));
    // Only a step that is repeated has to show a compaction that was made before it.
    const earlier = current.turn.compaction;
    this.shownCompactions = new Set(progress?.compactions ?? (earlier ? [earlier.id] : []));
    this.#awaitsFirstDelta = this.index === 0 && progress === undefined;
    this.reservation = current.turn.calls.open(AbortSignal.any([stop, current.log.failed]));
  }

  get key(): LoadedTurnKey {
    const { account_id: accountId, load } = this.current.turn;
    return { accountId, turnId: this.at.turnId, load };
  }

  /** The answer before this step, whose tools it runs. */
  get previous(): StepResult | undefined {
    return this.current.steps.at(-1);
  }

  /** Whether the turn has made all model calls that it may. */
  get isOver(): boolean {
    return this.index >= this.at.maxModelCalls;
  }

  /** Whether the tools of the answer before run: after the last model call only where they can end the turn. */
  get runsTools(): boolean {
    if (!this.isOver || this.current.turn.output_schema) return true;
    return this.previous !== undefined && hasStopped(this.previous);
  }

  get chars(): number {
    return this.#chars;
  }

  /** Aborts when the stream is longer than a turn's may be. */
  get tooLong(): AbortSignal {
    return this.#tooLong.signal;
  }

  change(turn: Partial<RunningTurn["turn"]>): void {
    this.current = { ...this.current, turn: { ...this.current.turn, ...turn } };
  }

  /** Adds content of strangers that the turn has read. */
  addSources(sources: readonly UntrustedSource[]): void {
    const { untrusted: before } = this.current.turn;
    const untrusted = withSources(before, sources);
    if (untrusted !== before) this.change({ untrusted });
  }

  write(chunk: UIMessageChunk): void {
    const { turn, log } = this.current;
    if (this.#awaitsFirstDelta && isAnswer(chunk)) {
      this.#awaitsFirstDelta = false;
      const waitedMs = Math.max(0, Date.now() - Date.parse(turn.created_at));
      record("agent_platform.turn.first_delta", waitedMs / 1_000);
    }
    const text = storableJson(chunk);
    log.append([text]);
    this.#count(text.length);
  }

  #count(chars: number): void {
    this.#chars += chars;
    if (this.#chars > MAX_TURN_CHARS) this.#tooLong.abort();
  }
}

/** Returns whether a chunk has something of the model's answer. */
const isAnswer = ({ type }: UIMessageChunk): boolean =>
  type === "text-delta" || type === "reasoning-delta" || type === "tool-input-start";
