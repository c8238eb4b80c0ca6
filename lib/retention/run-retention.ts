/**
 * Deletes rows, files and sandboxes that no longer have an owner. There are two jobs: one for resources
 * that all servers share, one for the folders of this machine. Each is leased in the database, so one of
 * several servers does it. Their parts are idempotent, bounded, and independent of each other's failures.
 * The durable engine sweeps its own tables (`packages/world-postgres/src/retention.ts`).
 */

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { runPeriodically } from "@platform/kit/drain";
import { log } from "@platform/kit/log";
import { dueEventChecks } from "../connectors/store.ts";
import { endUnusedSubscriptions } from "../connectors/use-connectors.ts";
import type { Parts } from "../parts.ts";
import { config } from "../platform/config.ts";
import type { Database } from "../platform/database/port.ts";
import type { EndParts } from "../turns/finish-stream.ts";
import { reapDeadTurn } from "../turns/reap-turn.ts";
import { sweepVersions } from "../workspace/store.ts";
import {
  type BatchSweep,
  type ExpiringRows,
  endJob,
  sweepBatch,
  sweepRows,
  takeJob,
  unfinishedTurns,
} from "./store.ts";
import {
  checkMediaRows,
  removeDeletedMedia,
  removeUnownedMedia,
  removeUnusedContents,
  sweepMailbox,
} from "./sweep-files.ts";
import {
  destroyDeletedSandboxes,
  destroyIdleSandboxes,
  destroyUnownedSandboxes,
  measureLostSandboxes,
} from "./sweep-sandboxes.ts";

const BATCH = 1_000;
/** More is left to the next run of the job. */
const MAX_BATCHES = 100;
/** Rows that turns may wait for: the batches are short, and more of them. */
const SHORT_BATCH = 100;
const MAX_SHORT_BATCHES = 5_000;
/** Turns that are looked up one by one. */
const TURNS_BATCH = 200;
/** Accounts whose subscriptions are compared one by one, at a vendor. */
const CHECKS_BATCH = 50;
/** A version of a workspace after it was replaced, and a file after it was deleted. */
const VERSION_DAYS = 90;

/** Sweeps batch after batch until one is not full, and returns the number of rows. */
async function inBatches(
  sweep: (batch: number) => Promise<number>,
  batch = BATCH,
  maxBatches = MAX_BATCHES,
): Promise<number> {
  let total = 0;
  for (let round = 1; round <= maxBatches; round++) {
    const count = await sweep(batch);
    total += count;
    if (count < batch) break;
  }
  return total;
}

const inShortBatches = (db: Database, name: BatchSweep): Promise<number> =>
  inBatches((batch) => sweepBatch(db, name, batch), SHORT_BATCH, MAX_SHORT_BATCHES);

/** Deletes rows that have expired so many days ago. */
export const sweepOld = (db: Database, kind: ExpiringRows, days: number): Promise<number> =>
  inBatches((batch) => sweepRows(db, kind, batch, days));

/** The rows that expire after a fixed number of days, and that number. */
export const EXPIRING: Readonly<Partial<Record<ExpiringRows, number>>> = {
  connections: 30,
  // A token that was issued longer ago has expired: providers issue them for hours.
  deleted_identities: 30,
  deliveries: 30,
  idempotency_keys: 1,
  invitations: 0,
  lost_task_runs: 0,
  rate_limits: 0,
  run_keys: 1,
  signup_codes: 0,
  task_run_inputs: 30,
  trigger_events: 7,
  webhook_deliveries: 30,
};

/**
 * Ends turns whose run no longer exists, such as after a loss of the engine's data, and returns their
 * number. A turn's tool records, steps and credential end with it.
 */
export async function endLostTurns(app: EndParts): Promise<number> {
  let ended = 0;
  for (const turn of await unfinishedTurns(app.db, TURNS_BATCH)) {
    if (await reapDeadTurn(app, turn)) ended += 1;
  }
  return ended;
}

type Needs = EndParts &
  Parts<"connectors" | "contentStorage" | "mail" | "mediaStorage" | "sandboxes">;
type Part = (app: Needs) => Promise<number>;

/** Ends subscriptions that no trigger uses, and returns the number of accounts whose triggers had changed. */
export async function endLostSubscriptions(app: Parts<"db" | "connectors">): Promise<number> {
  let compared = 0;
  for (const accountId of await dueEventChecks(app.db, CHECKS_BATCH)) {
    if (await endUnusedSubscriptions(app, accountId, log())) compared += 1;
  }
  return compared;
}

/** The lease of a process that dies expires after this long. */
const LEASE_SECONDS = 30 * 60;

const shared: Readonly<Record<string, Part>> = {
  ...Object.fromEntries(
    Object.entries(EXPIRING).map(([kind, days]): [string, Part] => [
      kind,
      ({ db }) => sweepOld(db, kind as ExpiringRows, days),
    ]),
  ),
  run_traces: ({ db }) => sweepOld(db, "run_traces", config().RUN_TRACE_RETENTION_DAYS),
  requests: ({ db }) => sweepOld(db, "requests", config().REQUEST_LOG_RETENTION_DAYS),
  lostTurns: endLostTurns,
  deletedMedia: removeDeletedMedia,
  mediaWithoutFile: checkMediaRows,
  workspaceVersions: ({ db }) => inBatches((batch) => sweepVersions(db, batch, VERSION_DAYS)),
  unusedContents: removeUnusedContents,
  subscriptions: endLostSubscriptions,
  usageWithoutSums: ({ db }) => inShortBatches(db, "sweep_unsummed_usage"),
  unusedWords: ({ db }) => inShortBatches(db, "sweep_words"),
};
const perMachine: Readonly<Record<string, Part>> = {
  // Here, because the local sandboxes of this machine are out of reach for others.
  deletedSandboxes: destroyDeletedSandboxes,
  idleSandboxes: (app) => destroyIdleSandboxes(app),
  sandboxesWithoutSession: destroyUnownedSandboxes,
  sandboxesWithoutSize: measureLostSandboxes,
  mediaWithoutRow: removeUnownedMedia,
  mail: sweepMailbox,
};

/** Runs the jobs that are due. Throws DatabaseUnavailable when no job can be leased. */
export async function runRetention(app: Needs, intervalSeconds: number): Promise<void> {
  const machine = `${hostname()}:${resolve(config().DATA_DIR)}`;
  await runJob(app, "retention", shared, intervalSeconds);
  await runJob(app, `retention of ${machine}`, perMachine, intervalSeconds);
}

async function runJob(
  app: Needs,
  name: string,
  parts: Readonly<Record<string, Part>>,
  intervalSeconds: number,
): Promise<void> {
  const holder = randomUUID();
  const isMine = await takeJob(app.db, {
    name,
    holder,
    leaseSeconds: LEASE_SECONDS,
    intervalSeconds,
  });
  if (!isMine) return;
  const done: Record<string, unknown> = {};
  for (const [part, run] of Object.entries(parts)) {
    try {
      done[part] = await run(app);
    } catch (error) {
      log().error({ err: error, part }, "a part of the retention job failed");
    }
  }
  await endJob(app.db, name, holder);
  log().info({ job: name, done }, "retention job");
}

/** Starts the retention job's timer in this process, unless a test turns it off. */
export function scheduleRetention(app: Needs): void {
  const intervalSeconds = config().RETENTION_INTERVAL_SECONDS;
  runPeriodically("retention", intervalSeconds, () => runRetention(app, intervalSeconds));
}
