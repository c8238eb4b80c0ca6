import { startTimer } from "@platform/kit/telemetry/metrics";
import { continueTrace, inSpan } from "@platform/kit/telemetry/spans";
import { builtInsToLoad } from "@platform/skills/prompt-skills";
import type { TurnLog } from "../engine/port.ts";
import type { Parts } from "../parts.ts";
import type { Database } from "../platform/database/port.ts";
import { type FileParts, prepareFiles, recordSources } from "../running-turn/message-files.ts";
import { parseChunks, readProgress } from "../running-turn/read-chunks.ts";
import type { ActiveTurn } from "../running-turn/state.ts";
import { type ModelSteps, type RunningTurn, Step } from "../running-turn/step.ts";
import { hasFiles } from "../running-turn/store-files.ts";
import { recordTurnSkill } from "../skills/store.ts";
import { withSteeringFiles } from "../steering/steer-turn.ts";
import { writeLastChunks } from "./finish-stream.ts";
import type { ClaimedTurn } from "./running-turns.ts";
import { beginClaimedTurn, loadTurn, storeFileParts } from "./store/turns.ts";
import { runStep, type StepParts } from "./turn-step.ts";

/**
 * A durable step makes further model calls for this long, because each durable step costs several
 * milliseconds of CPU. Short, because platforms limit the time of a step.
 */
const MAX_STEP_MS = 1_000;

type Needs = StepParts & Parts<"runningTurns">;

interface NextCall {
  readonly next: number;
  readonly waits: boolean;
}

/**
 * @returns the index of the next model call, and whether the turn waits for its client before it; null when the
 * turn has ended, or no longer belongs to this run
 */
export function runModelSteps(app: Needs, step: ModelSteps): Promise<NextCall | null> {
  const { turnId, runId, index, attempt } = step;
  const attributes = {
    "app.turn.id": turnId,
    "app.run.id": runId,
    "app.step.index": index,
    "app.step.attempt": attempt,
  };
  const measure = startTimer("agent_platform.turn.step.duration");
  return continueTrace(step.traceparent, () =>
    inSpan("turn.step", { isRoot: true, attributes }, () =>
      app.runningTurns
        .during(() => runSteps(app, step))
        .then(
          (next) => {
            measure({ outcome: next === null ? "ended" : "continued" });
            return next;
          },
          (error: unknown) => {
            measure({ outcome: "failed" });
            throw error;
          },
        ),
    ),
  );
}

async function runSteps(app: Needs, step: ModelSteps): Promise<NextCall | null> {
  const deadline = performance.now() + MAX_STEP_MS;
  const stop = new AbortController();
  const stopListening = app.engine.onStop(step.turnId, () => stop.abort());
  let log: TurnLog | undefined;
  try {
    const opened = await openTurn(app, step, stop.signal);
    if (opened === "waiting") return { next: step.index, waits: true };
    let current = opened;
    log = current?.log;
    // The steps that were committed before a failure are not repeated.
    let isRepeated = current?.mayRepeat === true;
    while (current) {
      if (current.turn.stop_requested) stop.abort();
      const progress = isRepeated
        ? readProgress(await parseChunks(current.log.committed()))
        : undefined;
      const next = await runStep(new Step(app, step, current, progress, stop.signal, deadline));
      if (next === "waiting") return { next: current.steps.length, waits: true };
      current = next;
      isRepeated = false;
      if (!current?.knownCalls) break;
    }
    if (!current) return null;
    // A stop that arrives while this step is being stored takes effect in the next one.
    const stop_requested = current.turn.stop_requested || stop.signal.aborted;
    app.runningTurns.keep(step.runId, { ...current, turn: { ...current.turn, stop_requested } });
    return { next: current.steps.length, waits: false };
  } finally {
    stopListening();
    log?.release();
  }
}

/** Returns null when the turn has ended, or no longer belongs to this run; `waiting` while it waits. */
async function openTurn(
  app: Needs,
  { turnId, runId, index, attempt, isFirst }: ModelSteps,
  signal: AbortSignal,
): Promise<RunningTurn | "waiting" | null> {
  const kept = app.runningTurns.take(runId);
  // The calls of a first step before the run are not counted by the run.
  if (kept && attempt === 1 && (kept.steps.length === index || index === 0)) return kept;
  const claimed = app.runningTurns.takeClaimed(turnId);
  let takesCall = false;
  try {
    const current = await loadLog(app, { turnId, runId, isFirst, claimed, signal });
    takesCall = current !== "waiting" && current?.call !== undefined;
    return current;
  } finally {
    if (!takesCall) claimed?.call?.cancel();
  }
}

interface Loading {
  readonly turnId: string;
  readonly runId: string;
  /** As in `ModelSteps`. */
  readonly isFirst: boolean;
  /** Present in the process that has claimed the turn, for its first step. */
  readonly claimed: ClaimedTurn | undefined;
  readonly signal: AbortSignal;
}

async function loadLog(
  app: Needs,
  { turnId, runId, isFirst, claimed, signal }: Loading,
): Promise<RunningTurn | "waiting" | null> {
  const begun =
    isFirst && claimed ? await beginClaimedTurn(app.db, turnId, runId, claimed.turn) : null;
  const loaded = begun ?? (await loadTurn(app.db, turnId, runId));
  if (loaded.outcome === "waiting") return loaded.outcome;
  if (loaded.outcome === "lost" && loaded.has_other_run) return null;
  if (loaded.outcome === "active" && isFirst) await recordBuiltIns(app.db, turnId, loaded);
  // A call that has started needs no files.
  const call = begun ? claimed?.call : undefined;
  const mayNeedFiles = loaded.outcome === "active" && !call;
  const turn = mayNeedFiles ? await withFiles(app, turnId, loaded, signal) : loaded;
  const log = await app.engine.openLog(turnId, runId, isFirst);
  if (turn.outcome === "active") {
    return { turn, steps: turn.steps, log, mayRepeat: !isFirst, ...(call && { call }) };
  }
  try {
    if (turn.outcome === "finished") await writeLastChunks(log, turn.error, turn.metadata);
    else await log.close([]);
  } finally {
    log.release();
  }
  return null;
}

/** Records the built-in skills that the turn starts with, which the database does not know. */
async function recordBuiltIns(
  db: Database,
  turnId: string,
  { account_id, skills, options }: ActiveTurn,
) {
  for (const name of builtInsToLoad(skills, options.skills)) {
    await recordTurnSkill(db, account_id, turnId, { name, source: "built-in" });
  }
}

/** Returns the turn with its messages as the model gets them. */
async function withFiles(
  app: FileParts,
  turnId: string,
  turn: ActiveTurn,
  signal: AbortSignal,
): Promise<ActiveTurn> {
  const untrusted = await recordSources(app.db, turn, turnId, [...turn.history, ...turn.steering]);
  const steering = await withSteeringFiles(app, turnId, turn, turn.steering, signal);
  if (!hasFiles(turn.history)) return { ...turn, untrusted, steering };
  const { shown } = await prepareFiles(app, turn, turn.history, signal, (changed, history) =>
    storeFileParts(app.db, turnId, changed, history),
  );
  return { ...turn, untrusted, steering, history: [...shown] };
}
