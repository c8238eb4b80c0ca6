import { stripVTControlCharacters, styleText } from "node:util";
import { diagnose } from "../lib/health/diagnose/diagnose.ts";
import { type Finding, misconfigured } from "../lib/health/diagnose/finding.ts";
import { config } from "../lib/platform/config.ts";
import { settings } from "../lib/platform/settings.ts";
import { checkGiven } from "./check-given.ts";
import { dataDirOf } from "./data-dir.ts";
import { findServed } from "./embedded/find-served.ts";
import { DataDirInUse, startEmbedded } from "./embedded/start-embedded.ts";
import { embeddedParts, type Parts } from "./parts.ts";

const TIMEOUT_MS = 15_000;

/**
 * `npm run doctor [-- --json]`: checks the installation as `npm start` would run it, and prints what it
 * found with a remedy for each fault. The server may be running.
 *
 * @returns the exit code: 0 when the server can run, perhaps with warnings; 1 when a check failed
 */
export async function doctor(args: readonly string[]): Promise<number> {
  const isJson = args[0] === "--json";
  if (args.length > (isJson ? 1 : 0)) {
    console.error("Usage: npm run doctor [-- --json]");
    return 2;
  }
  const findings = await examine();
  console.log(isJson ? JSON.stringify({ findings }, null, 2) : describe(findings));
  return findings.some(({ status }) => status === "failed") ? 1 : 0;
}

async function examine(): Promise<readonly Finding[]> {
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
    // What adapters log would be between the findings.
    LOG_LEVEL: "silent",
  });
  try {
    // Only now, because some adapters read settings as soon as they are loaded.
    const { services } = await import("../lib/platform/services.ts");
    const installation = { env, settings: config(), services: services() };
    const found = await diagnose(installation, { timeoutMs: TIMEOUT_MS, asksServices: true });
    return [...given, ...found];
  } finally {
    await parts?.stop();
  }
}

/** Finds the embedded parts of a running server, or starts them for the checks. */
async function reachParts(publicUrl: string): Promise<Pick<Parts, "env" | "stop"> | Finding> {
  const dataDir = dataDirOf(process.env);
  try {
    const embedded = await startEmbedded({ dataDir, siteUrl: publicUrl }).catch(
      (error: unknown) => {
        const served = error instanceof DataDirInUse ? findServed(dataDir, publicUrl) : undefined;
        if (served === undefined) throw error;
        const untouched = { died: new Promise<string>(() => {}), stop: async () => {} };
        return { ...served, ...untouched };
      },
    );
    return embeddedParts(embedded, process.env.API_KEY_SECRET);
  } catch (error) {
    return misconfigured("database", {
      detail: `the embedded parts do not start: ${error instanceof Error ? error.message : error}`,
      remedy: "Set DATA_DIR to a folder that can be written to, and see its folder logs.",
      settings: ["DATA_DIR"],
    });
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
