import { statfs } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { rate } from "@platform/endpoint/contract/rate-limit";
import { log } from "@platform/kit/log";
import { observe } from "@platform/kit/telemetry/metrics";
import type { App } from "../parts.ts";
import { type Config, config } from "../platform/config.ts";
import { call } from "../platform/database/query.ts";
import type { Part } from "./contract.ts";

/** A part that does not respond in this time is not ready. */
const DEADLINE_MS = 3_000;

/** Returns the adapter that each part of this process uses according to the settings. */
export function listParts(app: App): Part[] {
  const settings = config();
  return [
    { name: "database", adapter: settings.EMBEDDED_SUPABASE ? "embedded" : "supabase" },
    { name: "identity", adapter: identityAdapter(settings) },
    { name: "durableRuns", adapter: app.engine.name },
    { name: "sandbox", adapter: app.sandboxes.name },
    { name: "model", adapter: app.models.name },
    { name: "mail", adapter: app.mail.name },
    { name: "connectors", adapter: app.connectors?.name ?? "none" },
    { name: "catalog", adapter: app.catalog.name },
    { name: "research", adapter: app.research.name },
    { name: "search", adapter: app.search.name },
    { name: "taskRunner", adapter: app.taskRunner.name },
    { name: "content", adapter: app.mediaProvider?.name ?? "none" },
    { name: "mediaStorage", adapter: app.mediaStorage.name },
  ];
}

function identityAdapter({ OIDC_ISSUER, EMBEDDED_SUPABASE }: Config): string {
  if (OIDC_ISSUER) return "oidc";
  return EMBEDDED_SUPABASE ? "embedded" : "supabase";
}

interface CheckedPart extends Part {
  readonly ready: boolean;
  readonly ms: number;
}

/** No limit: many servers may be asked often. */
const PROBES_PER_MINUTE = 1_000_000;
/** With less, a sandbox or a generation may fail at any time. */
const MIN_FREE_BYTES = 64 * 1024 * 1024;

/** @throws Error when the file system of the folder has fewer free bytes */
export async function checkRoom(folder: string, minBytes = MIN_FREE_BYTES): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < minBytes) throw new Error(`The disk of ${folder} is full`);
}

const dataDir = () => resolve(/* turbopackIgnore: true */ config().DATA_DIR);

const checks: Partial<Record<Part["name"], (app: App) => Promise<void>>> = {
  database: async ({ db }) => {
    // The first call of every request. It writes, because a read-only database still answers reads.
    await call(db, "take_from_bucket", { bucket: "readiness", perMinute: PROBES_PER_MINUTE }, rate);
  },
  identity: ({ identity }) => identity.check(),
  durableRuns: ({ engine }) => engine.check(),
  sandbox: async ({ sandboxes }) => {
    if (sandboxes.name !== "vercel") await checkRoom(dataDir());
  },
  mediaStorage: async ({ mediaStorage }) => {
    if (mediaStorage.name === "disk") await checkRoom(dataDir());
  },
};

let running: Promise<CheckedPart[]> | undefined;

/**
 * Checks every part concurrently. A part without a check is ready as soon as it is configured. Those who ask at the
 * same time share one check, because anyone may ask.
 */
export function checkParts(app: App): Promise<CheckedPart[]> {
  running ??= Promise.all(listParts(app).map((part) => checkPart(app, part))).finally(() => {
    running = undefined;
  });
  return running;
}

/** Observes the parts that have a check whenever metrics are exported, for the life of the process. */
export function observeParts(app: App): void {
  for (const { name } of listParts(app).filter((part) => part.name in checks)) {
    const check = async () => (await checkParts(app)).find((part) => part.name === name);
    observe("agent_platform.part.ready", async () => Number((await check())?.ready), {
      part: name,
    });
  }
}

async function checkPart(app: App, part: Part): Promise<CheckedPart> {
  const check = checks[part.name];
  if (!check) return { ...part, ready: true, ms: 0 };
  const started = performance.now();
  const ready = await Promise.race([check(app), lateAfter(DEADLINE_MS)]).then(
    () => true,
    (error: unknown) => {
      log().warn({ part: part.name, err: error }, "A part is not ready");
      return false;
    },
  );
  return { ...part, ready, ms: Math.round(performance.now() - started) };
}

async function lateAfter(ms: number): Promise<never> {
  await delay(ms, undefined, { ref: false });
  throw new Error(`no answer within ${ms} ms`);
}
