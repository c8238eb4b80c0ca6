/**
 * One step of a turn. It runs the tools that the last answer called, then makes the next model call. In
 * this order it can be repeated safely: each answer is committed before its tool calls start, so each of
 * them is either recorded under its id or was never started. This file is long because a step is read from
 * top to bottom.
 */

import type { FailedCall } from "@platform/agent/call-model";
import type { ContextState } from "@platform/agent/context";
import { describeFailure } from "@platform/agent/describe-failure";
import { budgetRefusalIn } from "@platform/agent/models/budget-refusal";
import { limitNoteFor } from "@platform/agent/prompt";
import type { StepResult, ToolCall } from "@platform/agent/step-result";
import { isServerTool } from "@platform/agent/tools/client-tools";
import { storableJson } from "@platform/agent/tools/make-storable";
import { mcpToolOf } from "@platform/agent/tools/mcp-tool";
import { sourcesOf } from "@platform/agent/tools/web-search";
import { type UntrustedSource, withSources } from "@platform/endpoint/contract/approvals";
import type { Outcome } from "@platform/endpoint/contract/run-options";
import { drain } from "@platform/kit/drain";
import { isQueueRefusal } from "@platform/kit/fair-queue";
import { record } from "@platform/kit/telemetry/metrics";
import type { ModelMessage, ToolModelMessage, UIMessageChunk } from "ai";
import type { RunCredentialForm } from "../identity/keys/derive-run-credential.ts";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import { approvalIdOf, decideOn, effectOf, requestChunk } from "./approve-calls.ts";
import {
  type EndParts,
  finishStream,
  partsBefore,
  steeringChunks,
  turnMetadata,
} from "./finish-stream.ts";
import { type ContextParts, callWithinContext, fitContext } from "./fit-context.ts";
import {
  feedbackOf,
  type GivenVerdict,
  judgeTurn,
  outcomeChunkOf,
  textOf,
  verdictsIn,
} from "./judge-turn.ts";
import type { MeasuredStep, StepMeasure } from "./measure-step.ts";
import { ModelCall, resultsWithImages } from "./model-call.ts";
import { closeCalls, type StreamProgress } from "./read-chunks.ts";
import type { Verdict } from "./run-contract.ts";
import { recordIds, runToolCalls, type ToolCalls } from "./run-tool-calls.ts";
import type { RunningTurn } from "./running-turns.ts";
import { steerTurn } from "./steer-turn.ts";
import { type ApprovalRequest, askApprovals } from "./store/approvals.ts";
import {
  type LoadedTurnKey,
  noteLimit,
  type Reservation,
  reservesCalls,
} from "./store/model-calls.ts";
import {
  completeModelCall,
  findFinishedTools,
  markUntrusted,
  suspendTurn,
  type TurnEnd,
} from "./store/turns.ts";
import {
  hasStopped,
  NOT_SUBMITTED,
  OUTPUT_REQUEST,
  repeatsOutput,
  submissionIn,
} from "./structured-output.ts";
import { titleChat } from "./title-chat.ts";
import { openSandbox } from "./turn-sandbox.ts";
import { prepareWorkspace, storeWorkspace } from "./turn-workspace.ts";

/** The parts of the service that a step uses. */
export type StepParts = ContextParts & EndParts & Parts<"contents" | "pdfInspections">;

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

/**
 * The stream of a turn is kept in memory while the turn runs, and is parsed, assembled and stored as
 * one message: a turn whose stream gets longer ends.
 */
const MAX_TURN_CHARS = 32 * 1024 * 1024;
/** The tools of a turn with a longer stream no longer show their progress. */
const MAX_CHARS_WITH_PROGRESS = 4 * 1024 * 1024;
const TOO_LONG = "The turn reached its limit of output";
const TOO_MANY_CALLS = "The turn reached its limit of model calls";
/** How long a headless run waits for its client. Then the calls have failed, and the agent continues. */
const MAX_WAIT_S = 7 * 24 * 60 * 60;
const DAY_S = 24 * 60 * 60;

interface Called {
  readonly answer: StepResult | FailedCall;
  /** Absent if the model was not called. */
  readonly measure: StepMeasure | undefined;
}

/** One model call of a turn, in phases: run the tools of the answer before, call the model, commit. */
export class TurnStep {
  readonly #app: StepParts;
  readonly #step: ModelSteps;
  #current: RunningTurn;
  readonly #index: number;
  /** The logged progress of this step when it is repeated after a failure. */
  readonly #progress: StreamProgress | undefined;
  readonly #isRestarted: boolean;
  readonly #stop: AbortSignal;
  readonly #tooLong = new AbortController();
  /** The length of the turn's stream. */
  #chars: number;
  #awaitsFirstDelta: boolean;
  /** Ids of the compactions that the stream shows. */
  readonly #shownCompactions: Set<number>;
  /** The one that is part of the present step, with which it is reset. */
  #shownInStep: UIMessageChunk | undefined;
  readonly #reservation: Reservation;
  /** False once tools have ended just now without a message that waits to steer the turn. */
  #maySteer = true;

  constructor(
    app: StepParts,
    step: ModelSteps,
    current: RunningTurn,
    progress: StreamProgress | undefined,
    stop: AbortSignal,
  ) {
    this.#app = app;
    this.#step = step;
    this.#current = current;
    this.#index = current.steps.length;
    this.#progress = progress;
    this.#isRestarted = progress !== undefined && progress.steps > this.#index;
    this.#stop = stop;
    this.#chars = current.log.committed().reduce((sum, chunk) => sum + chunk.length, 0);
    // Only a step that is repeated has to show a compaction that was made before it.
    const earlier = current.turn.compaction;
    this.#shownCompactions = new Set(progress?.compactions ?? (earlier ? [earlier.id] : []));
    this.#awaitsFirstDelta = this.#index === 0 && progress === undefined;
    this.#reservation = current.turn.calls.open(AbortSignal.any([stop, current.log.failed]));
  }

  /**
   * Returns the turn for its next step, null when it has none, and `waiting` when its client is to continue it.
   * @param deadline when the durable step ends after this model call, as of `performance.now()`
   */
  async run(deadline: number): Promise<RunningTurn | "waiting" | null> {
    const { turn, steps, call } = this.#current;
    const previous = steps[this.#index - 1];
    const isOver = this.#index >= this.#step.maxModelCalls;
    // The tools of the last answer are run only where it can end the turn.
    const runsTools = !isOver || turn.output_schema || (previous && hasStopped(previous));
    const open = previous ? await this.#openCalls(previous) : [];
    const asks = previous && runsTools && !this.#stop.aborted;
    const denials = asks ? await this.#askFor(ownCalls(previous)) : new Map();
    if (denials === "waiting") return denials;
    const results = previous && runsTools ? await this.#runTools(previous, open, denials) : null;
    // A call that has started is recorded with its usage, also when it is cancelled at once.
    if (this.#stop.aborted && !call) return this.#end("cancelled", null, "interrupted");
    if (open.length > 0) {
      return turn.headless ? this.#suspend(open) : this.#end("completed", null, "tool-calls");
    }
    const { outcome } = turn.options;
    const verdicts = outcome ? verdictsIn(this.#current.log.committed()) : [];
    const earlier = verdicts.filter(({ index }) => index < this.#index);
    const submitted =
      turn.output_schema && submissionIn(turn.output_schema, steps, results, earlier.length);
    if (previous && submitted && (!outcome || "error" in submitted)) {
      return this.#endWithOutput(submitted, previous.finishReason);
    }
    const added = await resultsWithImages(this.#app, turn, results, steps);
    if (outcome && previous && (submitted || (!turn.output_schema && hasStopped(previous)))) {
      const output = submitted && "output" in submitted ? submitted.output : undefined;
      const known = verdicts.find(({ index }) => index === this.#index);
      const verdict = known?.verdict ?? (await this.#judge(outcome, earlier, output));
      if (!verdict) return this.#end("cancelled", null, "interrupted");
      const { verdict: judged, iteration } = verdict;
      const isLastTry = iteration >= outcome.max_iterations || repeatsOutput(steps);
      if (judged !== "unsatisfied" || isLastTry) {
        return this.#end("completed", null, previous.finishReason, null, undefined, output);
      }
      added.push(feedbackOf(verdict));
    }
    if (isOver) return this.#end("failed", TOO_MANY_CALLS, "error");
    if (this.#index === 0 && turn.sandbox_state === null) {
      call?.cancel();
      return this.#end("failed", "sandbox_missing: Sandbox not initialized", "error");
    }
    if (this.#chars > MAX_TURN_CHARS) return this.#end("failed", TOO_LONG, "error");

    if (this.#index === 0 && !this.#progress?.started) {
      this.#write({ type: "start", messageId: turn.assistant_message_id });
    }
    // A call that has started cannot be steered, and one that is repeated gets the same messages.
    if (!call && !this.#isRestarted && this.#maySteer) await this.#steer();
    if (turn.output_schema && previous && hasStopped(previous)) added.push(OUTPUT_REQUEST);
    const { answer, measure } = await this.#answer(await this.#withNote(added));
    const endWithout = async (end: TurnEnd, error: string | null, reason: string) =>
      this.#end(end, error, reason, (await measure?.fail(reason, sentOf(answer))) ?? null);
    if (this.#stop.aborted) return endWithout("cancelled", null, "interrupted");
    if (this.#tooLong.signal.aborted) return endWithout("failed", TOO_LONG, "error");
    if ("error" in answer) return endWithout("failed", answer.error, "error");
    if (!measure) throw new Error("A call has an answer and no measure");
    const measured = await measure.complete(answer);
    const isLast =
      !answer.hasInvalidCall &&
      (turn.headless ? answer.calls.length === 0 : ownCalls(answer).length === 0);
    // A model that has stopped is asked once for its output, and the work of a turn with an outcome is judged.
    const goesOn = turn.output_schema
      ? !steps.some(hasStopped)
      : outcome !== undefined && hasStopped(answer);
    if (!isLast || goesOn) return this.#commit(answer, measured, deadline);
    const [end, error] = turn.output_schema
      ? (["failed", NOT_SUBMITTED] as const)
      : (["completed", null] as const);
    return this.#end(end, error, answer.finishReason, measured, measured.result);
  }

  /** Returns the calls of the answer before that the client has yet to answer. */
  async #openCalls(previous: StepResult): Promise<readonly ToolCall[]> {
    const calls = clientCalls(previous);
    if (calls.length === 0 || !this.#current.turn.headless) return calls;
    const ids = recordIds(this.#index, calls);
    const finished = new Set(await findFinishedTools(this.#step.turnId, ids));
    return calls.filter((_, place) => !finished.has(ids[place] ?? ""));
  }

  /** A call that is stopped while a person has yet to approve it counts as denied. */
  #withoutAnswer(chunk: UIMessageChunk): readonly UIMessageChunk[] {
    if (chunk.type !== "tool-output-error" || !this.#progress) return [chunk];
    const { toolCallId, errorText } = chunk;
    const isOpen = ({ toolCallId: id }: { toolCallId: string }) => id === toolCallId;
    return closeCalls(this.#progress, this.#progress.openCalls.filter(isOpen), errorText);
  }

  #meet(sources: readonly UntrustedSource[]): void {
    const { turn } = this.#current;
    const untrusted = withSources(turn.untrusted, sources);
    if (untrusted !== turn.untrusted) {
      this.#current = { ...this.#current, turn: { ...turn, untrusted } };
    }
  }

  /** Returns whether the policies of the turn let the call run. */
  async #mayRun(call: ToolCall): Promise<boolean> {
    const asked = await effectOf(this.#app, call, this.#current.turn);
    return asked === null || decideOn(asked, this.#current.turn).decision === "run";
  }

  /**
   * Asks for the calls whose policy says so, all of them before any call of the step runs.
   * @returns why calls must not run, or `waiting` while a person has yet to decide
   */
  async #askFor(calls: readonly ToolCall[]): Promise<ToolCalls["denials"] | "waiting"> {
    const { turn, log } = this.#current;
    const { turnId } = this.#step;
    const denials = new Map<string, { error: string; isAnswer: boolean }>();
    const asked = new Map<string, { call: ToolCall; chunk: UIMessageChunk }>();
    const requests: ApprovalRequest[] = [];
    for (const call of calls) {
      const found = await effectOf(this.#app, call, turn);
      if (!found) continue;
      const { category, decision } = decideOn(found, turn);
      if (decision === "run") continue;
      if (decision === "deny") {
        const error = `The policy of the account denies this (approvals.${category})`;
        denials.set(call.id, { error, isAnswer: false });
        continue;
      }
      const [call_id = ""] = recordIds(this.#index, [call]);
      const id = approvalIdOf(turnId, call_id);
      const { categories, effect, fields } = found;
      const request = { category, effect, is_memorable: await found.isMemorable() };
      asked.set(id, { call, chunk: requestChunk(id, this.#step.runId, call, request, turn) });
      const { name: tool, input } = call;
      const named = { id, call_id, tool_call_id: call.id, tool, input };
      requests.push({ ...named, ...request, categories, fields });
    }
    if (requests.length === 0) return denials;

    const shown = this.#progress?.approvals ?? new Map();
    await log.flushed();
    const decisions = await askApprovals(this.#key, requests, log.committed().length);
    let isOpen = false;
    for (const { id, state, reason } of decisions) {
      const { call, chunk } = asked.get(id) ?? {};
      if (!call || !chunk) continue;
      // What a remembered approval has answered was never asked.
      const isShown = shown.has(id);
      if (!isShown && state !== "approved" && !this.#isRestarted) this.#write(chunk);
      if (state === "requested") {
        isOpen = true;
        continue;
      }
      const approved = state === "approved";
      if (!approved) denials.set(call.id, { error: denialOf(state, reason), isAnswer: true });
      if (this.#isRestarted || (approved && !isShown) || shown.get(id)?.approved !== undefined) {
        continue;
      }
      const note = reason === null ? {} : { reason };
      this.#write({ type: "tool-approval-response", approvalId: id, approved, ...note });
    }
    if (!isOpen) return denials;
    const waiting = new Set([...asked.values()].map(({ call }) => call.id));
    const reads = calls.filter(
      ({ id, name }) =>
        !waiting.has(id) && !denials.has(id) && mcpToolOf(turn.mcp_tools, name)?.readOnly,
    );
    // They need no decision, and their results are there once a person has decided.
    await this.#runCalls(reads, denials, undefined);
    await log.flushed();
    return this.#suspend([], config().APPROVAL_DAYS * DAY_S);
  }

  /**
   * Runs the tools that the answer before has called. Returns their results for the model.
   * @param open the calls that the client has yet to answer
   */
  async #runTools(
    previous: StepResult,
    open: readonly ToolCall[],
    denials: ToolCalls["denials"],
  ): Promise<ToolModelMessage | null> {
    const { turn, knownCalls } = this.#current;
    const { runId } = this.#step;
    const used = this.#current.workspaceUse ?? "none";
    const { calls } = previous;
    const workspaceUse = await prepareWorkspace(this.#app, runId, turn, calls, used, async (met) =>
      this.#meet(await markUntrusted(this.#key, met)),
    );
    this.#current = { ...this.#current, workspaceUse };
    // The results of the client are recorded like the results of other tools.
    const own = open.length > 0 ? ownCalls(previous) : previous.calls;
    const results = await this.#runCalls(own, denials, knownCalls);
    const waits = turn.headless && open.length > 0;
    const isFinished = waits || this.#isRestarted || this.#progress?.stepFinished;
    if (!isFinished && !this.#stop.aborted) this.#write({ type: "finish-step" });
    return results;
  }

  /** @param known the calls that were recorded before, where they are known already */
  async #runCalls(
    calls: readonly ToolCall[],
    denials: ToolCalls["denials"],
    known: ToolCalls["known"],
  ): Promise<ToolModelMessage | null> {
    const { turnId, runId, credential } = this.#step;
    let hasSteering: boolean | undefined;
    const results = await runToolCalls(this.#app, {
      turnId,
      runId,
      index: this.#index,
      turn: this.#current.turn,
      ...(credential && { credential }),
      calls,
      known,
      denials,
      untrusted: () => this.#current.turn.untrusted,
      update: ({ untrusted, has_budget, has_steering }) => {
        hasSteering ||= has_steering;
        this.#meet(untrusted);
        this.#current = { ...this.#current, turn: { ...this.#current.turn, has_budget } };
      },
      signal: this.#stop,
      write: (chunk) => {
        const isWritten = this.#isRestarted || this.#progress?.outputs.has(chunk.toolCallId);
        const isPreliminary = "preliminary" in chunk && chunk.preliminary;
        // It comes from a timer, and a log that has failed would throw there.
        const { aborted: hasFailed } = this.#current.log.failed;
        const isTooMuch = hasFailed || this.#chars > MAX_CHARS_WITH_PROGRESS;
        if (isWritten || (isPreliminary && isTooMuch)) return;
        for (const each of this.#withoutAnswer(chunk)) this.#write(each);
        const call = calls.find(({ id }) => id === chunk.toolCallId);
        if (call?.name !== "web_search" || chunk.type !== "tool-output-available") return;
        for (const source of sourcesOf(call.id, chunk.output)) this.#write(source);
      },
    });
    this.#maySteer = hasSteering !== false;
    return results;
  }

  /** Adds a note for the model once three quarters of a limit are used, always at the end of the same request. */
  async #withNote(results: readonly ModelMessage[]): Promise<readonly ModelMessage[]> {
    const { turn } = this.#current;
    const { limits } = turn.options;
    // A first request has just started, and ends with the message of the user.
    if (!limits || this.#index === 0) return results;
    const limit_note = turn.limit_note ?? (await noteLimit(this.#key, this.#index));
    this.#current = { ...this.#current, turn: { ...turn, limit_note } };
    if (limit_note?.step !== this.#index) return results;
    return [...results, limitNoteFor(limit_note.limit, limits[limit_note.limit])];
  }

  /** Judges the work, and shows the verdict. Returns null if the turn is stopped. */
  async #judge(
    outcome: Outcome,
    earlier: readonly GivenVerdict[],
    output: { readonly value: unknown } | undefined,
  ): Promise<Verdict | null> {
    this.#maySteer = true;
    const { turn, steps, log } = this.#current;
    const signal = AbortSignal.any([this.#stop, log.failed]);
    const { turnId } = this.#step;
    const work = { turnId, turn, steps, earlier, output, signal };
    const verdict = await judgeTurn(this.#app, outcome, work).catch((error: unknown) => {
      if (this.#stop.aborted) return null;
      throw error;
    });
    if (!verdict) return null;
    this.#write(outcomeChunkOf(turnId, { index: this.#index, verdict }));
    // It is durable before anything follows from it.
    await log.flushed();
    return verdict;
  }

  /** Takes the messages that steer the turn, and shows them before the step. */
  async #steer(): Promise<void> {
    const { turn } = this.#current;
    const steered = await steerTurn(this.#app, this.#key, turn, this.#index, this.#stop);
    const steering = [...turn.steering, ...steered.taken];
    this.#current = { ...this.#current, turn: { ...turn, steering } };
    this.#meet(steered.untrusted);
    const ofStep = steering.filter(({ step }) => step === this.#index);
    for (const chunk of steeringChunks(ofStep, this.#progress?.steering)) this.#write(chunk);
  }

  /** Calls the model with a request that fits. A refusal of its summary is an answer, too. */
  async #answer(results: readonly ModelMessage[]): Promise<Called> {
    let measure: StepMeasure | undefined;
    let isOpen = false;
    try {
      return await callWithinContext(
        (pass, rejected) => this.#fit(results, pass, rejected),
        async (context) => {
          // What comes before a step, its repetition keeps.
          if (!isOpen && !this.#isRestarted) this.#showCompaction();
          if (!isOpen) this.#write({ type: this.#isRestarted ? "reset-step" : "start-step" });
          isOpen = true;
          this.#shownInStep = this.#showCompaction();
          const called = await this.#callModel(results, context, measure);
          ({ measure } = called);
          return called;
        },
      );
    } catch (error) {
      const isRefused = isQueueRefusal(error) || budgetRefusalIn(error) !== undefined;
      if (!this.#stop.aborted && !isRefused) throw error;
      return { answer: { error: describeFailure(error) }, measure };
    }
  }

  async #fit(
    results: readonly ModelMessage[],
    pass: number,
    rejected: FailedCall["exceeded"],
  ): Promise<ContextState> {
    const { turn, steps, call } = this.#current;
    if (call) return call.context;
    const reservation = this.#reservation;
    const { signal } = reservation;
    const { turnId } = this.#step;
    const request = { turnId, turn, steps, results, reservation, signal, pass, rejected };
    const { state, made } = await fitContext(this.#app, request);
    if (made) this.#current = { ...this.#current, turn: { ...turn, compaction: made } };
    return state;
  }

  /** Shows how this turn has compacted the conversation, if the stream does not say so yet. */
  #showCompaction(): UIMessageChunk | undefined {
    const { compaction } = this.#current.turn;
    if (!compaction?.isOwn || this.#shownCompactions.has(compaction.id)) return undefined;
    this.#shownCompactions.add(compaction.id);
    const { id, kind, tokensBefore: tokens_before, tokensAfter: tokens_after } = compaction;
    const data = { kind, tokens_before, tokens_after };
    const chunk: UIMessageChunk = { type: "data-compaction", id: String(id), data };
    this.#write(chunk);
    return chunk;
  }

  /** @param measure of the calls that the step has made before, if any */
  async #callModel(
    results: readonly ModelMessage[],
    context: ContextState,
    measure: StepMeasure | undefined,
  ): Promise<Called> {
    const { turn, steps, log, call: started, ...rest } = this.#current;
    // The call that was started before the step is made once.
    this.#current = { ...rest, turn, steps, log };
    const call =
      started ??
      new ModelCall(this.#app, {
        turnId: this.#step.turnId,
        turn,
        context,
        steps,
        results,
        sandbox: openSandbox(this.#app, turn),
        measure,
        earlierAttempts: this.#isRestarted ? (this.#progress?.attempts ?? 0) : 0,
        reserve: reservesCalls(turn) ? this.#reservation.reserve : undefined,
      });
    const answer = await call.stream(
      (chunk) => {
        this.#write(chunk);
        if (chunk.type === "reset-step" && this.#shownInStep) this.#write(this.#shownInStep);
      },
      AbortSignal.any([this.#stop, this.#tooLong.signal, log.failed]),
    );
    // The model may be silent for long, and its answer could not be written.
    log.failed.throwIfAborted();
    // The step is repeated.
    if (this.#reservation.failure !== undefined) throw this.#reservation.failure;
    return { answer, measure: call.measure };
  }

  async #commit(
    answer: StepResult,
    measured: MeasuredStep,
    deadline: number,
  ): Promise<RunningTurn> {
    const { turn, steps, log } = this.#current;
    // The chunks must be committed before the step is: a repeated step relies on the log.
    await log.flushed();
    // Calls that are asked for have not started.
    const calls = ownCalls(answer);
    const mayRun = await Promise.all(calls.map((call) => this.#mayRun(call)));
    const continues =
      !drain().hasBegun && performance.now() < deadline && mayRun.every((may) => may);
    const starting = continues ? recordIds(this.#index + 1, calls) : [];
    const completed = await completeModelCall(this.#key, measured, starting);
    this.#reservation.end();
    return {
      turn: { ...turn, stop_requested: completed.stopRequested, has_budget: completed.hasBudget },
      steps: [...steps, measured.result],
      log,
      workspaceUse: this.#current.workspaceUse,
      ...(continues && { knownCalls: completed.knownCalls }),
    };
  }

  /** Lets the turn wait for its client. Its run then holds no process until the turn is woken. */
  async #suspend(open: readonly ToolCall[], maxSeconds = MAX_WAIT_S): Promise<"waiting"> {
    await this.#current.log.flushed();
    const { areWebhooksDue } = await suspendTurn(this.#key, this.#index, open, maxSeconds);
    if (areWebhooksDue) this.#app.deliveryWorker.wake();
    return "waiting";
  }

  #endWithOutput(
    submitted: NonNullable<ReturnType<typeof submissionIn>>,
    finishReason: string,
  ): Promise<null> {
    if ("error" in submitted) return this.#end("failed", submitted.error, "error");
    return this.#end("completed", null, finishReason, null, undefined, submitted.output);
  }

  /** Ends the turn. @param answer the answer of this step, if any */
  async #end(
    end: TurnEnd,
    error: string | null,
    finishReason: string,
    lastStep: MeasuredStep | null = null,
    answer?: StepResult,
    output?: { readonly value: unknown },
  ): Promise<null> {
    const { turn, steps, log } = this.#current;
    const stored = await storeWorkspace(this.#app, this.#step.runId, turn, steps);
    const all = answer ? [...steps, answer] : steps;
    const hasEnded = await finishStream(this.#app, log, {
      ...this.#key,
      messageId: turn.assistant_message_id,
      end,
      error,
      metadata: turnMetadata(turn, all, finishReason),
      partsBefore: partsBefore(turn),
      steering: turn.steering,
      openQuestions: turn.headless ? new Set() : openQuestions(answer ?? steps[this.#index - 1]),
      lastStep,
      lastParts: stored,
      output,
    });
    if (hasEnded && end === "completed") {
      await titleChat(this.#app, this.#step.turnId, turn, textOf(all));
    }
    return null;
  }

  #write(chunk: UIMessageChunk): void {
    const { turn, log } = this.#current;
    if (this.#awaitsFirstDelta && isAnswer(chunk)) {
      this.#awaitsFirstDelta = false;
      const waitedMs = Math.max(0, Date.now() - Date.parse(turn.created_at));
      record("agent_platform.turn.first_delta", waitedMs / 1_000);
    }
    const text = storableJson(chunk);
    this.#chars += text.length;
    log.append([text]);
    if (this.#chars > MAX_TURN_CHARS) this.#tooLong.abort();
  }

  get #key(): LoadedTurnKey {
    const { account_id: accountId, load } = this.#current.turn;
    return { accountId, turnId: this.#step.turnId, load };
  }
}

/** Returns whether a chunk has something of the model's answer. */
const isAnswer = ({ type }: UIMessageChunk): boolean =>
  type === "text-delta" || type === "reasoning-delta" || type === "tool-input-start";

/** Returns the text for the model about a call that was not approved. */
function denialOf(state: "denied" | "expired" | "cancelled", reason: string | null): string {
  if (state === "expired") return "Nobody has approved this in time";
  return `The user has denied this${reason ? `: ${reason}` : ""}. Do not try it in another way.`;
}

const sentOf = (answer: StepResult | FailedCall) => ("error" in answer ? answer.sent : answer);

/** Returns the calls that the server runs itself. */
const ownCalls = ({ calls }: StepResult): ToolCall[] =>
  calls.filter(({ name }) => isServerTool(name));

/** Returns the calls that the client answers: questions to the user, and calls of its tools. */
const clientCalls = ({ calls }: StepResult): ToolCall[] =>
  calls.filter(({ name }) => !isServerTool(name));

/** Only a turn of a chat ends with open calls. */
const openQuestions = (step: StepResult | undefined): ReadonlySet<string> =>
  new Set(step ? clientCalls(step).map(({ id }) => id) : []);
