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
  type AgeSweep,
  type BatchSweep,
  endJob,
  sweepBatch,
  sweepOlder,
  sweepRowBatch,
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
const DELIVERY_RETENTION_DAYS = 30;
/** A version of a workspace after it was replaced, and a file after it was deleted. */
const VERSION_DAYS = 90;
const EVENT_DAYS = 7;
/** A token that was issued longer ago has expired: providers issue them for hours. */
const DELETED_IDENTITY_DAYS = 30;
/** The input of a task run after its end, and a connection that was refused or is undecided. */
const AGES = { inputDays: 30, connectionDays: 30 };

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

const sweepOld = (db: Database, name: AgeSweep, days: number) =>
  inBatches((batch) => sweepOlder(db, name, batch, days));

/** Deletes rows that have expired, and returns their numbers by kind. */
export async function sweepRows(db: Database): Promise<Record<string, number>> {
  const totals: Record<string, number> = {};
  await inBatches(async (batch) => {
    const counts = await sweepRowBatch(db, batch, AGES);
    for (const [kind, count] of Object.entries(counts)) totals[kind] = (totals[kind] ?? 0) + count;
    // A kind without a full batch has no rows left, or only rows that are locked at present.
    return Math.max(...Object.values(counts));
  });
  return totals;
}

/**
 * Ends turns whose run no longer exists, as after a loss of the engine's data, and returns their number.
 * With a turn go its tool records, its steps and its credential.
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
type Part = (app: Needs) => Promise<number | Readonly<Record<string, number>>>;

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
  rows: ({ db }) => sweepRows(db),
  invitations: ({ db }) => inBatches((batch) => sweepBatch(db, "sweep_invitations", batch)),
  deletedIdentities: ({ db }) => sweepOld(db, "sweep_deleted_identities", DELETED_IDENTITY_DAYS),
  runTraces: ({ db }) => sweepOld(db, "sweep_run_traces", config().RUN_TRACE_RETENTION_DAYS),
  lostTurns: endLostTurns,
  deletedMedia: removeDeletedMedia,
  mediaWithoutFile: checkMediaRows,
  workspaceVersions: ({ db }) => inBatches((batch) => sweepVersions(db, batch, VERSION_DAYS)),
  unusedContents: removeUnusedContents,
  webhookDeliveries: ({ db }) => sweepOld(db, "sweep_webhook_deliveries", DELIVERY_RETENTION_DAYS),
  deliveries: ({ db }) => sweepOld(db, "sweep_deliveries", DELIVERY_RETENTION_DAYS),
  triggerEvents: ({ db }) => sweepOld(db, "sweep_trigger_events", EVENT_DAYS),
  subscriptions: endLostSubscriptions,
  requests: ({ db }) => sweepOld(db, "sweep_requests", config().REQUEST_LOG_RETENTION_DAYS),
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
