/**
 * Deletes rows, files and sandboxes that no longer have an owner. There are two jobs: one for resources
 * that all servers share, one for the folders of this machine. Each is leased in the database, so one of
 * several servers does it. Their parts are idempotent and bounded, and run also when another part fails.
 * The durable engine sweeps its own tables (`packages/world-postgres/src/retention.ts`).
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { config } from "../platform/config.ts";
import { log } from "../platform/log.ts";
import { endLostTurns } from "./end-lost-turns.ts";
import { inBatches } from "./in-batches.ts";
import { endJob, sweepDeletedIdentities, sweepInvitations, takeJob } from "./store.ts";
import { sweepMailbox } from "./sweep-mailbox.ts";
import { checkMediaRows, removeDeletedMedia, removeUnownedMedia } from "./sweep-media.ts";
import { sweepRequests } from "./sweep-requests.ts";
import { sweepRows } from "./sweep-rows.ts";
import { sweepRunTraces } from "./sweep-runs.ts";
import {
  destroyDeletedSandboxes,
  destroyIdleSandboxes,
  destroyUnownedSandboxes,
  measureLostSandboxes,
} from "./sweep-sandboxes.ts";
import { sweepWebhooks } from "./sweep-webhooks.ts";

type Part = () => Promise<number | Readonly<Record<string, number>>>;

/** The lease of a process that dies expires after this long. */
const LEASE_SECONDS = 30 * 60;

const shared: Readonly<Record<string, Part>> = {
  rows: sweepRows,
  invitations: () => inBatches(sweepInvitations),
  deletedIdentities: () => inBatches(sweepDeletedIdentities),
  runTraces: sweepRunTraces,
  lostTurns: endLostTurns,
  deletedMedia: removeDeletedMedia,
  mediaWithoutFile: checkMediaRows,
  webhookDeliveries: sweepWebhooks,
  requests: sweepRequests,
};
const perMachine: Readonly<Record<string, Part>> = {
  // Here, because the local sandboxes of this machine are out of reach for others.
  deletedSandboxes: destroyDeletedSandboxes,
  idleSandboxes: () => destroyIdleSandboxes(),
  sandboxesWithoutSession: destroyUnownedSandboxes,
  sandboxesWithoutSize: measureLostSandboxes,
  mediaWithoutRow: removeUnownedMedia,
  mail: sweepMailbox,
};

/** Runs the jobs that are due. Throws DatabaseUnavailable when no job can be leased. */
export async function runRetention(intervalSeconds: number): Promise<void> {
  const machine = `${hostname()}:${resolve(config().DATA_DIR)}`;
  await runJob("retention", shared, intervalSeconds);
  await runJob(`retention of ${machine}`, perMachine, intervalSeconds);
}

async function runJob(
  name: string,
  parts: Readonly<Record<string, Part>>,
  intervalSeconds: number,
): Promise<void> {
  const holder = randomUUID();
  const isMine = await takeJob({ name, holder, leaseSeconds: LEASE_SECONDS, intervalSeconds });
  if (!isMine) return;
  const done: Record<string, unknown> = {};
  for (const [part, run] of Object.entries(parts)) {
    try {
      done[part] = await run();
    } catch (error) {
      log().error({ err: error, part }, "a part of the retention job failed");
    }
  }
  await endJob(name, holder);
  log().info({ job: name, done }, "retention job");
}
