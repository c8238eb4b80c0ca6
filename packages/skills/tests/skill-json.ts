/** Reads the JSON report of a skill's script. */
import { expect } from "vitest";
import { runSkillScript } from "./skill-shell.ts";

/** Runs a script that must succeed, and returns its report. */
export async function runSkillJson(...run: Parameters<typeof runSkillScript>) {
  const { stdout, stderr, exitCode } = await runSkillScript(...run);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return JSON.parse(stdout);
}

/** Runs a script that must refuse its input, and returns the sentence that says why. */
export async function runSkillRefusal(...run: Parameters<typeof runSkillScript>): Promise<string> {
  const { stdout, stderr, exitCode } = await runSkillScript(...run);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  const lines = stderr.trim().split("\n");
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
}

interface Finding {
  readonly listed: readonly { readonly row: number }[];
}

/** Returns the row numbers of each kind of finding. */
export const findingRows = (findings: Readonly<Record<string, Finding>>) =>
  Object.fromEntries(
    Object.entries(findings).map(([kind, { listed }]) => [kind, listed.map(({ row }) => row)]),
  );

/** Returns the net amounts of a breakdown, by key. */
export const netsByKey = (group: {
  readonly listed: readonly { readonly key: string; readonly net: string }[];
}) => Object.fromEntries(group.listed.map(({ key, net }) => [key, net]));
