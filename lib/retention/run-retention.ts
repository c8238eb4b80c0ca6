/**
 * Deletes what nobody owns any more. Two jobs, each leased in the database, so that of several
 * servers one does it: one for what all servers share, one for the folders of this machine.
 * Everything in them is idempotent and bounded, and a part that fails does not keep the others from
 * their turn. Run state and chunk logs are the durable engine's: it sweeps its own tables.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { config } from "../platform/config.ts";
import { log } from "../platform/log.ts";
import { endJob, takeJob } from "./store.ts";
import { sweepMailbox } from "./sweep-mailbox.ts";
import { checkMediaRows, removeDeletedMedia, removeUnownedMedia } from "./sweep-media.ts";
import { sweepRows } from "./sweep-rows.ts";
import {
  destroyDeletedSandboxes,
  destroyUnownedSandboxes,
  measureLostSandboxes,
} from "./sweep-sandboxes.ts";

type Part = () => Promise<number | Readonly<Record<string, number>>>;

/** A process that dies leaves a lease for so long. */
const LEASE_SECONDS = 30 * 60;

const shared: Readonly<Record<string, Part>> = {
  rows: sweepRows,
  deletedMedia: removeDeletedMedia,
  mediaWithoutFile: checkMediaRows,
};
const ofThisMachine: Readonly<Record<string, Part>> = {
  // Also here: a local sandbox is out of reach for other machines.
  deletedSandboxes: destroyDeletedSandboxes,
  sandboxesWithoutSession: destroyUnownedSandboxes,
  sandboxesWithoutSize: measureLostSandboxes,
  mediaWithoutRow: removeUnownedMedia,
  mail: sweepMailbox,
};

/** @throws DatabaseUnavailable when no job can be leased */
export async function runRetention(intervalSeconds: number): Promise<void> {
  const machine = `${hostname()}:${resolve(config().DATA_DIR)}`;
  await runJob("retention", shared, intervalSeconds);
  await runJob(`retention of ${machine}`, ofThisMachine, intervalSeconds);
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
