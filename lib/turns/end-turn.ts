import { continueTrace, inSpan } from "@platform/kit/telemetry/spans";
import type { Parts } from "../parts.ts";
import { storeWorkspace } from "../tools/turn-workspace.ts";
import { type EndParts, writeLastChunks } from "./finish-stream.ts";
import { failTurn } from "./reap-turn.ts";
import { loadTurn } from "./store/turns.ts";

export interface FailedTurn {
  readonly turnId: string;
  readonly runId: string;
  /** The error text that the client sees. */
  readonly reason: string;
  /** The trace to continue. */
  readonly traceparent?: string;
}

type WorkspaceParts = EndParts & Parts<"contentStorage" | "sandboxes">;

/** Ends a turn whose loop has failed, and stores the streamed part of its answer. Safe to repeat. */
export function endTurn(app: WorkspaceParts, failed: FailedTurn): Promise<void> {
  const attributes = { "app.turn.id": failed.turnId, "app.run.id": failed.runId };
  return continueTrace(failed.traceparent, () =>
    inSpan("turn.end", { isRoot: true, attributes }, () => end(app, failed)),
  );
}

async function end(app: WorkspaceParts, { turnId, runId, reason }: FailedTurn): Promise<void> {
  const turn = await loadTurn(app.db, turnId, runId, true);
  if (turn.outcome === "lost" && turn.has_other_run) return;
  const log = await app.engine.openLog(turnId, runId, false);
  try {
    if (turn.outcome === "active") {
      const stored = await storeWorkspace(app, runId, turn, turn.steps);
      await failTurn(app, log, turnId, turn, reason, stored);
    } else if (turn.outcome === "finished") await writeLastChunks(log, turn.error, turn.metadata);
    else await log.close([]);
  } finally {
    log.release();
  }
}
