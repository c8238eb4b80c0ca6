/**
 * Checks an installation: its settings, the services that they select, and this machine. It changes
 * nothing, costs no vendor's money, and may run beside a server.
 */

import type { App } from "../../app.ts";
import { probeIdentity } from "../../identity/credentials/probe-identity.ts";
import type { Config, Environment } from "../../platform/config.ts";
import type { Probe } from "../../platform/outbound/probe.ts";
import { checkConnection } from "./check-connection.ts";
import { checkDatabase } from "./check-database.ts";
import { checkHost } from "./check-host.ts";
import { checkUse } from "./check-settings.ts";
import { type Finding, failed, findingOf, ok, warning } from "./finding.ts";

export interface Installation {
  readonly env: Environment;
  readonly settings: Config;
  readonly services: App;
}

export interface DiagnosisOptions {
  /** Milliseconds for all checks, which run concurrently. */
  readonly timeoutMs: number;
  /** Whether to send requests to the services that cost a cold start too much time. */
  readonly asksServices: boolean;
}

type Check = () => Promise<readonly Finding[]>;

/** Returns the findings in a fixed order. A check that takes too long counts as failed. */
export async function diagnose(
  { env, settings, services }: Installation,
  { timeoutMs, asksServices }: DiagnosisOptions,
): Promise<Finding[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const database = checkDatabase(settings, deadline);
  const ofServices: Record<string, Check> = {
    connection: async () => checkConnection(settings, (await database).installationId, timeoutMs),
    identity: async () =>
      toFindings("identity", "embedded", await probeIdentity(settings, deadline)),
    ...portChecks(services, deadline),
    // On Vercel it is not this machine that serves.
    ...(settings.VERCEL ? {} : { host: () => checkHost(settings, services) }),
  };
  const checks: Record<string, Check> = {
    settings: async () => checkUse(env, settings),
    database: async () => (await database).findings,
    ...(asksServices ? ofServices : {}),
  };
  const all = Object.entries(checks).map(([name, check]) => finish(name, check, deadline));
  return (await Promise.all(all)).flat();
}

/** Returns a check for each service that an adapter can ask; the others are parts of this installation. */
function portChecks(services: App, deadline: AbortSignal): Record<string, Check> {
  const { mail, connectors, catalog, research, content } = services;
  const ports = {
    model: services.models,
    sandbox: services.sandboxes,
    mail,
    connectors,
    catalog,
    research,
    taskRunner: services.tasks,
    content,
    mediaStorage: services.media,
  };
  return Object.fromEntries(
    Object.entries(ports).map(([name, port]) => [
      name,
      async () => {
        if (port === null) return [notConfigured(name)];
        return toFindings(name, port.name, (await port.check?.(deadline)) ?? []);
      },
    ]),
  );
}

const selecting: Readonly<Record<string, string>> = {
  connectors: "COMPOSIO_API_KEY",
  content: "FAL_KEY",
};

function notConfigured(name: string): Finding {
  const setting = selecting[name] ?? name;
  return warning(name, {
    detail: `${setting} is not set, and there is nothing in its place: requests are answered with 503`,
    remedy: `Set ${setting} if the service is to have this part.`,
    settings: [setting],
  });
}

/** @param adapter the text for an adapter without a service to check */
const toFindings = (check: string, adapter: string, probes: readonly Probe[]): Finding[] =>
  probes.length === 0 ? [ok(check, adapter)] : probes.map((probe) => findingOf(check, probe));

async function finish(
  name: string,
  check: Check,
  deadline: AbortSignal,
): Promise<readonly Finding[]> {
  const late = new Promise<Finding[]>((resolve) => {
    const end = () => resolve([failed(name, { detail: "did not end in time", remedy: RETRY })]);
    if (deadline.aborted) end();
    else deadline.addEventListener("abort", end, { once: true });
  });
  // The name alone: a message may quote a service's answer.
  const broken = (error: unknown) => {
    const kind = error instanceof Error ? error.name : typeof error;
    return [failed(name, { detail: `the check itself failed (${kind})`, remedy: RETRY })];
  };
  return Promise.race([check().catch(broken), late]);
}

const RETRY = "Check again.";
