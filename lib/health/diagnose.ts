/**
 * Checks an installation: its settings, the services that they select, and this machine. It changes
 * nothing, costs no vendor's money, and may run beside a server.
 */
import { access, constants, mkdir } from "node:fs/promises";
import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { isolation } from "@platform/kit/isolation/isolation";
import { log } from "@platform/kit/log";
import { openFileLimit } from "@platform/kit/open-file-limit";
import { codeOf, type Probe } from "@platform/kit/outbound/probe";
import { runtimePath } from "@platform/kit/runtime-path";
import { probeIdentity } from "../identity/credentials/probe-identity.ts";
import type { App } from "../parts.ts";
import { type Config, config } from "../platform/config.ts";
import { checkConnections, checkDatabase } from "./check-database.ts";
import { checkUse, refuse } from "./check-settings.ts";
import { checkShared, joinInstallation } from "./check-shared.ts";
import { type Finding, failed, findingOf, misconfigured, ok, warning } from "./finding.ts";

/** A vendor that is slower counts as one that does not answer. */
const START_TIMEOUT_MS = 5_000;
const RETRY = "Check again.";

/** The settings that select ports which have no embedded adapter. */
const selecting: Readonly<Record<string, string>> = {
  connectors: "COMPOSIO_API_KEY",
  content: "FAL_KEY",
};

export type Check = () => Promise<readonly Finding[]>;

/**
 * Checks the installation before the server serves, and logs each finding with its remedy.
 *
 * On Vercel it asks only the database, because each cold start would wait for the other services.
 *
 * @throws Error when the settings cannot work: the server would serve half-configured
 */
export async function checkStart(app: App): Promise<void> {
  const settings = config();
  // Detected here, so no request waits for it. On Vercel nothing is started on the machine.
  if (!settings.VERCEL) isolation();
  if (!settings.CHECK_START) return;
  const found = await diagnose(settings, app, {
    timeoutMs: START_TIMEOUT_MS,
    asksServices: !settings.VERCEL,
  });
  for (const { status, detail, blocksStart, ...about } of found) {
    if (status === "ok") log().debug(about, detail);
    else log()[blocksStart ? "error" : "warn"](about, detail);
  }
  refuse(found);
  // A database that does not answer, or takes no writes, is waited for: the next start checks this.
  const isKnown = found.some(({ check, status }) => check === "secret" && status === "ok");
  if (!isKnown || settings.NODE_ENV === "development") return;
  refuse(
    await joinInstallation(settings, app).catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) throw error;
      log().warn({ err: error }, "The settings of this server could not be recorded");
      return [];
    }),
  );
}

/**
 * Returns the findings in a fixed order. A check that takes too long counts as failed.
 * @param options.timeoutMs the milliseconds for all checks, which run concurrently
 * @param options.asksServices whether to send requests to services other than the database
 */
export async function diagnose(
  settings: Config,
  app: App,
  { timeoutMs, asksServices }: { readonly timeoutMs: number; readonly asksServices: boolean },
): Promise<Finding[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const database = checkDatabase(settings, deadline);
  const ofServices: Record<string, Check> = {
    connection: async () =>
      checkConnections(settings, { installationId: (await database).installationId, timeoutMs }),
    identity: async () =>
      toFindings("identity", "embedded", await probeIdentity(settings, deadline)),
    ...portChecks(app, deadline),
    // On Vercel it is not this machine that serves.
    ...(settings.VERCEL ? {} : { host: () => checkHost(settings, app) }),
  };
  const checks: Record<string, Check> = {
    settings: async () => checkUse(settings),
    database: async () => {
      const { findings, recorded } = await database;
      return recorded ? [...findings, ...(await checkShared(settings, app, recorded))] : findings;
    },
    ...(asksServices ? ofServices : {}),
  };
  const all = Object.entries(checks).map(([name, check]) => finish(name, check, deadline));
  return (await Promise.all(all)).flat();
}

/** Returns a check for each service that an adapter can ask; the others are parts of this installation. */
function portChecks(app: App, deadline: AbortSignal): Record<string, Check> {
  const { mail, connectors, catalog, research, search, mediaProvider } = app;
  const ports = {
    model: app.models,
    sandbox: app.sandboxes,
    mail,
    connectors,
    catalog,
    research,
    search,
    taskRunner: app.taskRunner,
    content: mediaProvider,
    mediaStorage: app.mediaStorage,
  };
  const checks = Object.entries(ports).map(([name, port]): [string, Check] => [
    name,
    async () => {
      if (port !== null) return toFindings(name, port.name, (await port.check?.(deadline)) ?? []);
      const setting = selecting[name] ?? name;
      const detail = `${setting} is not set, and there is nothing in its place: requests are answered with 503`;
      const remedy = `Set ${setting} if the service is to have this part.`;
      return [warning(name, detail, remedy, [setting])];
    },
  ]);
  return Object.fromEntries(checks);
}

/** @param adapter the text for an adapter without a service to check */
const toFindings = (check: string, adapter: string, probes: readonly Probe[]): Finding[] =>
  probes.length === 0 ? [ok(check, adapter)] : probes.map((probe) => findingOf(check, probe));

/** Returns the findings of a check, which counts as failed when it takes too long or throws. */
export async function finish(name: string, check: Check, deadline: AbortSignal) {
  const late = new Promise<Finding[]>((resolve) => {
    const end = () => resolve([failed(name, "did not end in time", RETRY)]);
    if (deadline.aborted) end();
    else deadline.addEventListener("abort", end, { once: true });
  });
  // The name alone: a message may quote a service's answer.
  const broken = (error: unknown) => {
    const kind = error instanceof Error ? error.name : typeof error;
    return [failed(name, `the check itself failed (${kind})`, RETRY)];
  };
  return Promise.race([check().catch(broken), late]);
}

/** Checks `DATA_DIR` where this installation stores something there, the limit of open files, and the isolation. */
async function checkHost(
  { DATA_DIR, EMBEDDED_SUPABASE }: Config,
  { sandboxes, mail, mediaStorage, engine }: App,
): Promise<Finding[]> {
  const storesFiles =
    EMBEDDED_SUPABASE ||
    sandboxes.folders !== undefined ||
    mail.name === "mailbox" ||
    mediaStorage.name === "disk" ||
    engine.name === "workflow:local";
  const folder = storesFiles ? [await checkFolder(runtimePath(DATA_DIR))] : [];
  return [...folder, checkOpenFiles(openFileLimit()), checkIsolation()];
}

/** Half of it is for connections of clients. */
const MIN_OPEN_FILES = 4_096;

/** @param limit how many files and connections a process may have open */
export function checkOpenFiles(limit: number): Finding {
  if (limit >= MIN_OPEN_FILES) return ok("files", "a process may open enough files");
  return warning(
    "files",
    `a process may open ${limit} files, and so serves at most ${Math.floor(limit / 2)} connections`,
    "Set LimitNOFILE=65536 in the systemd unit, `ulimits` of the container, or `ulimit -n 65536` in the shell that starts the server.",
  );
}

async function checkFolder(folder: string): Promise<Finding> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok("data", "DATA_DIR can be written to");
  } catch (error) {
    const detail = `DATA_DIR cannot be written to (${codeOf(error) ?? "unknown error"})`;
    const remedy = "Set DATA_DIR to a folder that the user of the server may write to.";
    return misconfigured("data", detail, remedy, ["DATA_DIR"]);
  }
}

function checkIsolation(): Finding {
  const found = isolation();
  if (found.kind === "namespaces") {
    return ok("isolation", "media decoders and sandboxes run isolated");
  }
  return warning(
    "isolation",
    found.kind === "user"
      ? "media decoders run as another user, but see the file system"
      : "media decoders run as this server's user and could read its secrets if taken over",
    `Install or allow what this host lacks: ${found.missing}.`,
  );
}
