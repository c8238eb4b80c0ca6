import { checkOverridden, checkParsing } from "../lib/health/check-settings.ts";
import type { Finding } from "../lib/health/finding.ts";
import type { Environment } from "../lib/platform/config.ts";

/** Placeholders for the settings that the embedded parts provide once they run. */
const embedded: Environment = {
  SUPABASE_URL: "http://127.0.0.1",
  SUPABASE_SECRET_KEY: "embedded",
  SUPABASE_PUBLISHABLE_KEY: undefined,
  SUPABASE_JWT_SECRET: undefined,
  SUPABASE_JWT_ISSUER: undefined,
  DATABASE_URL: "postgres://127.0.0.1",
};
const API_KEY_SECRET = "made by the embedded parts unless given";

/** Checks the settings that were given to the launcher, before anything is started with them. */
export function checkGiven(env: Environment): Finding[] {
  const complete = env.SUPABASE_URL
    ? env
    : { ...env, ...embedded, API_KEY_SECRET: env.API_KEY_SECRET || API_KEY_SECRET };
  return [...checkParsing(complete), ...checkOverridden(env)];
}

/** Prints the problems of the given settings. Returns whether a server can start with them. */
export function reportGiven(): boolean {
  const findings = checkGiven(process.env);
  for (const { detail, remedy } of findings) console.error(`${detail}. ${remedy}`);
  return !findings.some(({ blocksStart }) => blocksStart);
}
