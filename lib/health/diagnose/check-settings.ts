/** Findings from the settings alone: settings that are malformed, without effect, misspelled or unsafe. */
import {
  type Config,
  type Environment,
  InvalidSettings,
  parseConfig,
} from "../../platform/config.ts";
import { settings as known } from "../../platform/settings.ts";
import { checkWorld } from "./check-world.ts";
import { type Finding, misconfigured, warning } from "./finding.ts";

const CHECK = "settings";

/** Returns a finding for each setting with which the code of a server cannot be loaded. */
export function checkParsing(env: Environment): Finding[] {
  try {
    return checkWorld(parseConfig(env));
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    return error.faults.map(({ setting, problem, remedy }) =>
      misconfigured(CHECK, { detail: `${setting}: ${problem}`, remedy, settings: [setting] }),
    );
  }
}

export function checkUse(env: Environment, settings: Config): Finding[] {
  return [...unused(env), ...misspelled(env), ...callbackOrigins(settings), ...publicUrl(settings)];
}

/** Settings that do nothing unless all of the others are set. */
const companions: Readonly<Record<string, readonly string[]>> = {
  OPENAI_API_KEY: ["OPENAI_BASE_URL"],
  OIDC_AUDIENCE: ["OIDC_ISSUER"],
  VERCEL_TOKEN: ["VERCEL_TEAM_ID", "VERCEL_PROJECT_ID"],
  VERCEL_TEAM_ID: ["VERCEL_TOKEN", "VERCEL_PROJECT_ID"],
};

function unused(env: Environment): Finding[] {
  const findings = Object.entries(companions).flatMap(([setting, others]) => {
    const missing = others.filter((other) => !env[other]);
    return env[setting] && missing.length > 0 ? [withoutEffect(setting, missing)] : [];
  });
  if (env.AI_GATEWAY_API_KEY && env.OPENAI_BASE_URL) {
    findings.push(
      warning(CHECK, {
        detail: "AI_GATEWAY_API_KEY and OPENAI_BASE_URL are both set: the AI Gateway is used",
        remedy: "Remove the one of the models that you do not want.",
        settings: ["AI_GATEWAY_API_KEY", "OPENAI_BASE_URL"],
      }),
    );
  }
  return findings;
}

/** The settings that the launcher replaces by values of the embedded parts. */
const ofHostedDatabase = [
  "SUPABASE_SECRET_KEY",
  "SUPABASE_PUBLISHABLE_KEY",
  "SUPABASE_JWT_SECRET",
  "SUPABASE_JWT_ISSUER",
  "DATABASE_URL",
];

/** @param given the environment before the launcher has added to it */
export function checkOverridden(given: Environment): Finding[] {
  if (given.SUPABASE_URL) return [];
  return ofHostedDatabase
    .filter((setting) => given[setting])
    .map((setting) => withoutEffect(setting, ["SUPABASE_URL"]));
}

const withoutEffect = (setting: string, missing: readonly string[]): Finding =>
  warning(CHECK, {
    detail: `${setting} has no effect, because ${missing.join(" and ")} is not set`,
    remedy: `Set ${missing.join(" and ")} too, or remove ${setting}.`,
    settings: [setting, ...missing],
  });

const names = Object.keys(known.shape);
/** Shorter names resemble too many others. */
const MIN_NAME_LENGTH = 8;

function misspelled(env: Environment): Finding[] {
  const unknown = Object.keys(env).filter(
    (name) => name.length >= MIN_NAME_LENGTH && env[name] && !names.includes(name),
  );
  return unknown.flatMap((name) => {
    const meant = names.find((one) => !env[one] && isNearly(name, one));
    if (meant === undefined) return [];
    return warning(CHECK, {
      detail: `${name} is no setting, but resembles ${meant}`,
      remedy: `Rename it to ${meant} if that is what it is.`,
      settings: [meant],
    });
  });
}

/** Returns whether one character more, less or other makes them the same, or two that changed places. */
function isNearly(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1) return false;
  const at = [...long].findIndex((letter, index) => letter !== short[index]);
  const rest = (text: string, from: number) => text.slice(from);
  if (long.length > short.length) return rest(long, at + 1) === rest(short, at);
  const isSwapped = long[at] === short[at + 1] && long[at + 1] === short[at];
  return (
    rest(long, at + 1) === rest(short, at + 1) ||
    (isSwapped && rest(long, at + 2) === rest(short, at + 2))
  );
}

function callbackOrigins({ NODE_ENV, CONNECTOR_CALLBACK_ORIGINS }: Config): Finding[] {
  if (NODE_ENV !== "production" || CONNECTOR_CALLBACK_ORIGINS.length > 0) return [];
  return [
    warning(CHECK, {
      detail:
        "CONNECTOR_CALLBACK_ORIGINS is not set: a connection may redirect people to any https origin that its caller names",
      remedy: "Set CONNECTOR_CALLBACK_ORIGINS to the origins of your own applications.",
      settings: ["CONNECTOR_CALLBACK_ORIGINS"],
    }),
  ];
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

function publicUrl({ PUBLIC_URL, TRUSTED_PROXIES, NODE_ENV, HOST, VERCEL }: Config): Finding[] {
  if (NODE_ENV !== "production" || VERCEL) return [];
  const url = new URL(PUBLIC_URL ?? "http://localhost");
  const isLocal = LOOPBACK.has(url.hostname);
  const listensOutside = !["127.0.0.1", "::1", "localhost"].includes(HOST);
  const about = (settings: readonly string[], detail: string, remedy: string) =>
    warning("urls", { detail, remedy, settings });
  if (url.href !== `${url.origin}/`) {
    return [
      about(
        ["PUBLIC_URL"],
        "PUBLIC_URL is more than an origin: what follows the host is ignored",
        `Set PUBLIC_URL to the scheme and the host alone, as in ${url.protocol}//${url.host}.`,
      ),
    ];
  }
  if (isLocal && listensOutside) {
    return [
      about(
        ["PUBLIC_URL", "HOST"],
        "the server listens for other machines, but names itself by an address that only this one reaches",
        "Set PUBLIC_URL to the https origin that callers reach, or HOST to 127.0.0.1.",
      ),
    ];
  }
  if (url.protocol === "http:" && !isLocal) {
    return [
      about(
        ["PUBLIC_URL"],
        "PUBLIC_URL is http: credentials travel unencrypted",
        "Put a proxy with TLS in front, and set PUBLIC_URL to its https origin.",
      ),
    ];
  }
  if (url.protocol === "https:" && !TRUSTED_PROXIES) {
    return [
      about(
        ["TRUSTED_PROXIES", "PUBLIC_URL"],
        "PUBLIC_URL is https, so a proxy is in front, but all callers behind it count as one address",
        "Set TRUSTED_PROXIES to the number of proxies in front.",
      ),
    ];
  }
  return [];
}
