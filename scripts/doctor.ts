import { stripVTControlCharacters, styleText } from "node:util";
import { startApp } from "../lib/app.ts";
import { diagnose } from "../lib/health/diagnose.ts";
import { exerciseVendors } from "../lib/health/exercise-vendors.ts";
import type { Finding } from "../lib/health/finding.ts";
import { config, type Environment } from "../lib/platform/config.ts";
import { settings } from "../lib/platform/settings.ts";
import { dataDirOf } from "./data-dir.ts";
import type { Parts } from "./parts.ts";

const TIMEOUT_MS = 15_000;
/** A model may think, and a sandbox may have to start. */
const DEEP_TIMEOUT_MS = 120_000;

/** How an installation is run, of which there are several kinds. */
export interface Installation {
  /** How a person starts the check, such as `npm run doctor --`. */
  readonly name: string;
  /** Checks the settings that were given, before anything is started with them. */
  checkGiven(env: Environment): readonly Finding[];
  /**
   * Reaches or starts the parts beside the server processes where no Supabase project is configured.
   * Resolves to a finding when that fails.
   */
  reachParts(publicUrl: string): Promise<Pick<Parts, "env" | "stop"> | Finding>;
}

/**
 * Checks the installation as its server would run it, and prints its findings with a remedy for each
 * fault; with `--json`, as JSON. With `--deep` it also uses each vendor once. The server may be running.
 *
 * @returns the exit code: 0 when the server can run, perhaps with warnings; 1 when a check failed
 */
export async function doctor(args: readonly string[], installation: Installation): Promise<number> {
  const isJson = args.includes("--json");
  const isDeep = args.includes("--deep");
  if (args.length > Number(isJson) + Number(isDeep)) {
    console.error(`Usage: ${installation.name} [--deep] [--json]`);
    return 2;
  }
  const findings = await examine(installation, isDeep);
  console.log(isJson ? JSON.stringify({ findings }, null, 2) : describe(findings));
  return findings.some(({ status }) => status === "failed") ? 1 : 0;
}

async function examine(
  { checkGiven, reachParts }: Installation,
  isDeep: boolean,
): Promise<readonly Finding[]> {
  const { env } = process;
  const given = checkGiven(env);
  if (given.some(({ status }) => status === "failed")) return given;
  const { PORT, WEB_CONCURRENCY } = settings.shape;
  const publicUrl = env.PUBLIC_URL || `http://localhost:${PORT.parse(env.PORT || undefined)}`;
  const parts = env.SUPABASE_URL ? undefined : await reachParts(publicUrl);
  if (parts && "check" in parts) return [...given, parts];
  Object.assign(env, parts?.env, {
    PUBLIC_URL: publicUrl,
    DATA_DIR: dataDirOf(env),
    NODE_ENV: "production",
    SERVER_PROCESSES: String(WEB_CONCURRENCY.parse(env.WEB_CONCURRENCY || undefined)),
    // Log lines of adapters would appear between the findings.
    LOG_LEVEL: "silent",
  });
  try {
    const options = { timeoutMs: TIMEOUT_MS, asksServices: true };
    const app = await startApp(config());
    const found = await diagnose(config(), app, options);
    const used = isDeep ? await exerciseVendors(app, DEEP_TIMEOUT_MS) : [];
    return [...given, ...found, ...used];
  } finally {
    await parts?.stop();
  }
}

const styles = { ok: "green", warning: "yellow", failed: "red" } as const;

/** Returns a table, and a line with the remedy under each fault. */
function describe(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const indent = " ".repeat("warning".length + width + 4);
  const lines = findings.flatMap(({ check, status, detail, remedy }) => {
    const mark = styleText(styles[status], status.padEnd("warning".length));
    const line = `${mark}  ${check.padEnd(width)}  ${oneLine(detail)}`;
    return remedy === undefined ? [line] : [line, `${indent}${oneLine(remedy)}`];
  });
  const count = (wanted: Finding["status"]) =>
    findings.filter(({ status }) => status === wanted).length;
  const sum = `${count("failed")} failed, ${count("warning")} warnings, ${count("ok")} ok`;
  return [...lines, "", sum].join("\n");
}

const oneLine = (text: string): string => stripVTControlCharacters(text).replaceAll(/\s+/g, " ");
