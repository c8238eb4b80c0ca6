/** Findings from the settings alone: settings that are malformed, overridden or unsafe. */
import { createRequire } from "node:module";
import { runtimePath } from "@platform/kit/runtime-path";
import { type Config, type Environment, InvalidSettings, parseConfig } from "../platform/config.ts";
import { type Finding, misconfigured, warning } from "./finding.ts";

/** Worlds that come with the Workflow SDK. */
const INCLUDED_WORLDS = ["local", "vercel"];

/** Checks the settings that all other modules need. @throws Error with each fault and its remedy */
export function checkSettings(env: Environment): void {
  refuse(checkParsing(env));
}

/** @throws Error when there is a finding with which a server must not start */
export function refuse(findings: readonly Finding[]): void {
  const faults = findings.filter(({ blocksStart }) => blocksStart);
  if (faults.length === 0) return;
  const lines = faults.map(({ check, detail, remedy }) => `  ${check}: ${detail}. ${remedy}`);
  throw new Error(`The server refuses to start:\n${lines.join("\n")}`);
}

/** Returns a finding for each setting with which the code of a server cannot be loaded. */
export function checkParsing(env: Environment): Finding[] {
  try {
    return checkWorld(parseConfig(env));
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error;
    return error.faults.map(({ setting, problem, remedy }) =>
      misconfigured("settings", `${setting}: ${problem}`, remedy, [setting]),
    );
  }
}

/** The SDK fails without its World as soon as it is imported. Vercel's is part of the build. */
function checkWorld({ WORKFLOW_TARGET_WORLD: world, VERCEL }: Config): Finding[] {
  if (world === undefined || INCLUDED_WORLDS.includes(world) || VERCEL) return [];
  try {
    createRequire(runtimePath(process.cwd(), "package.json")).resolve(world);
    return [];
  } catch {
    const detail = "the package that WORKFLOW_TARGET_WORLD names is not installed";
    const remedy = "Install it with npm, or correct WORKFLOW_TARGET_WORLD.";
    return [misconfigured("settings", detail, remedy, ["WORKFLOW_TARGET_WORLD"])];
  }
}

/** The settings that the launcher replaces by values of the embedded parts. */
const HOSTED_SETTINGS = [
  "SUPABASE_SECRET_KEY",
  "SUPABASE_PUBLISHABLE_KEY",
  "SUPABASE_JWT_SECRET",
  "SUPABASE_JWT_ISSUER",
  "DATABASE_URL",
  "DIRECT_DATABASE_URL",
];

/** @param given the environment before the launcher has added to it */
export function checkOverridden(given: Environment): Finding[] {
  if (given.SUPABASE_URL) return [];
  return HOSTED_SETTINGS.filter((setting) => given[setting]).map((setting) =>
    warning(
      "settings",
      `${setting} has no effect, because SUPABASE_URL is not set`,
      `Set SUPABASE_URL too, or remove ${setting}.`,
      [setting, "SUPABASE_URL"],
    ),
  );
}

const LOOPBACK = ["localhost", "127.0.0.1", "::1", "[::1]"];

/** Returns a warning for each setting that is unsafe in production. */
export function checkUse({
  NODE_ENV,
  VERCEL,
  HOST,
  TRUSTED_PROXIES,
  PUBLIC_URL = "http://localhost",
  CONNECTOR_CALLBACK_ORIGINS: callbacks,
}: Config): Finding[] {
  if (NODE_ENV !== "production") return [];
  const findings: Finding[] = [];
  const warn = (check: string, settings: readonly string[], detail: string, remedy: string) =>
    findings.push(warning(check, detail, remedy, settings));
  if (callbacks.length === 0) {
    warn(
      "settings",
      ["CONNECTOR_CALLBACK_ORIGINS"],
      "CONNECTOR_CALLBACK_ORIGINS is not set: a connection may redirect people to any https origin that its caller names",
      "Set CONNECTOR_CALLBACK_ORIGINS to the origins of your own applications.",
    );
  }
  if (VERCEL) return findings;
  const url = new URL(PUBLIC_URL);
  if (LOOPBACK.includes(url.hostname)) {
    if (!LOOPBACK.includes(HOST)) {
      warn(
        "urls",
        ["PUBLIC_URL", "HOST"],
        "the server listens for other machines, but names itself by an address that only this one reaches",
        "Set PUBLIC_URL to the https origin that callers reach, or HOST to 127.0.0.1.",
      );
    }
  } else if (url.protocol === "http:") {
    warn(
      "urls",
      ["PUBLIC_URL"],
      "PUBLIC_URL is http: credentials travel unencrypted",
      "Put a proxy with TLS in front, and set PUBLIC_URL to its https origin.",
    );
  } else if (!TRUSTED_PROXIES) {
    warn(
      "urls",
      ["TRUSTED_PROXIES", "PUBLIC_URL"],
      "PUBLIC_URL is https, so a proxy is in front, but all callers behind it count as one address",
      "Set TRUSTED_PROXIES to the number of proxies in front.",
    );
  }
  return findings;
}
