import type { Environment } from "../platform/config.ts";
import { checkParsing } from "./diagnose/check-settings.ts";
import type { Finding } from "./diagnose/finding.ts";

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
