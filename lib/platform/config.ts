/**
 * The only place in `lib` that touches `process.env`. It is parsed once per process; an error lists every
 * setting that is missing or malformed. The launcher in `scripts` sets the ones of the embedded parts.
 */

import { processWide } from "@platform/kit/process-wide";
import type { z } from "zod";
import { settings } from "./settings.ts";

const checked = settings
  .refine(({ SMTP_URL, MAIL_FROM }) => !SMTP_URL || MAIL_FROM, {
    path: ["MAIL_FROM"],
    error: "must be set with SMTP_URL, to an address that its server sends for",
  })
  .refine(({ OIDC_ISSUER, OIDC_AUDIENCE }) => !OIDC_ISSUER || OIDC_AUDIENCE, {
    path: ["OIDC_AUDIENCE"],
    error: "must be set with OIDC_ISSUER, or tokens for other services would be accepted",
  })
  .refine(({ CATALOG_CLIENT_ID: id, CATALOG_CLIENT_SECRET: secret }) => !id === !secret, {
    path: ["CATALOG_CLIENT_SECRET"],
    error: "must be set together with CATALOG_CLIENT_ID",
  })
  .refine(
    ({ SEARCH_PROVIDER: name, SEARCH_API_KEY }) =>
      !/^(brave|exa)$/.test(name ?? "") || SEARCH_API_KEY,
    {
      path: ["SEARCH_API_KEY"],
      error: "must be set with SEARCH_PROVIDER",
    },
  )
  .refine(
    ({ DATABASE_URL, WORKFLOW_TARGET_WORLD, VERCEL }) =>
      DATABASE_URL || WORKFLOW_TARGET_WORLD || VERCEL,
    {
      path: ["DATABASE_URL"],
      error:
        "must be set, unless this runs on Vercel or WORKFLOW_TARGET_WORLD is set: durable turns need it",
    },
  )
  .refine(({ DATABASE_URL, DIRECT_DATABASE_URL: direct }) => DATABASE_URL || !direct, {
    path: ["DATABASE_URL"],
    error: "must be set with DIRECT_DATABASE_URL: requests use it",
  })
  .refine(
    ({ PUBLIC_URL, VERCEL, VERCEL_PROJECT_PRODUCTION_URL }) =>
      PUBLIC_URL || VERCEL_PROJECT_PRODUCTION_URL || !VERCEL,
    {
      path: ["PUBLIC_URL"],
      error:
        "must be set to the deployment's origin, unless the project exposes Vercel's system environment variables",
    },
  )
  .refine(({ SMTP_URL, VERCEL }) => SMTP_URL || !VERCEL, {
    path: ["SMTP_URL"],
    error: "must be set on Vercel: sign-up mails codes, and there is no disk for a mailbox folder",
  })
  .transform(({ PUBLIC_URL, TEST_CONSTANTS, ...rest }) => ({
    ...rest,
    ...TEST_CONSTANTS,
    PUBLIC_URL: PUBLIC_URL ?? defaultPublicUrl(rest),
  }));

/** On Vercel every deployment of the project shares the production domain, previews included. */
function defaultPublicUrl({
  VERCEL,
  VERCEL_PROJECT_PRODUCTION_URL: host,
}: Pick<z.output<typeof settings>, "VERCEL" | "VERCEL_PROJECT_PRODUCTION_URL">) {
  return VERCEL && host ? `https://${host}` : undefined;
}

export type Config = z.output<typeof checked>;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SettingFault {
  readonly setting: string;
  /** Never quotes the value, which may be a secret. */
  readonly problem: string;
  readonly remedy: string;
}

/** Settings are missing or malformed; the message has one line for each of them. */
export class InvalidSettings extends Error {
  override readonly name = "InvalidSettings";
  readonly faults: readonly SettingFault[];
  constructor(faults: readonly SettingFault[]) {
    const lines = faults.map(({ setting, problem }) => `  ${setting}: ${problem}`);
    super(`Settings are missing or malformed:\n${lines.join("\n")}`);
    this.faults = faults;
  }
}

/** @throws InvalidSettings */
export function parseConfig(env: Environment): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = checked.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new InvalidSettings(
    parsed.error.issues.map(({ path, message }) => {
      const setting = String(path[0]);
      return { setting, problem: message, remedy: remedyFor(setting, Boolean(given[setting])) };
    }),
  );
}

function remedyFor(setting: string, isGiven: boolean): string {
  const meta = Object.entries(settings.shape)
    .find(([name]) => name === setting)?.[1]
    .meta();
  const action = isGiven ? "Correct or remove it" : "Set it";
  return meta?.description === undefined ? `${action}.` : `${action}: ${meta.description}`;
}

/** Returns the settings of this process, parsed from its environment at the first call. */
export function config(): Config {
  return processWide("config", () => parseConfig(process.env));
}

/** Returns the secrets with which something valid may have been made, the one in use first. */
export function acceptedSecrets(settings = config()): readonly string[] {
  const { API_KEY_SECRET, API_KEY_SECRET_PREVIOUS: previous } = settings;
  return previous === undefined ? [API_KEY_SECRET] : [API_KEY_SECRET, previous];
}

/** Returns whether URLs of this kind may lead to this machine, as in development. */
export function allowsLoopback(kind: "mcp" | "media" | "skills" | "webhooks"): boolean {
  const { LOOPBACK_URLS, NODE_ENV, OUTBOUND_LOOPBACK } = config();
  return OUTBOUND_LOOPBACK || LOOPBACK_URLS.includes(kind) || NODE_ENV === "development";
}

/** Returns whether commands of a sandbox may reach public hosts. */
export const canReachWeb = (): boolean => config().SANDBOX_ALLOWED_HOSTS.length > 0;

/** Sets variables that a library of this process reads itself. */
export function provideEnvironment(variables: Readonly<Record<string, string>>): void {
  Object.assign(process.env, variables);
}

/**
 * Returns this process's share of a limit that holds for the whole machine.
 * @param least the minimum for each process, however many there are
 */
export const processShare = (
  { SERVER_PROCESSES }: Pick<Config, "SERVER_PROCESSES">,
  limit: number,
  least: number,
): number => Math.max(least, Math.ceil(limit / SERVER_PROCESSES));

/** The connections to PostgreSQL of the pools of one kind, in all processes of a machine. */
const MAX_CONNECTIONS = 80;
/** Ten connections are enough for hundreds of runs. */
const MAX_CONNECTIONS_PER_PROCESS = 10;

/** @returns the connections that one pool of this process may open */
export const poolSize = (settings: Pick<Config, "SERVER_PROCESSES">, least: number): number =>
  Math.min(MAX_CONNECTIONS_PER_PROCESS, processShare(settings, MAX_CONNECTIONS, least));
