/** Checks of an agent's work that need no model: each compares the answer, the files or the run with a value. */

import type { Check } from "@platform/endpoint/contract/checks";
import { isSandboxError, type Sandbox } from "@platform/sandbox/port";
import { parse } from "csv-parse/sync";
import { checkOutput, type OutputValidation } from "../output/check-output.ts";
import type { JsonSchema } from "../output/json-schema.ts";
import type { StepResult } from "../step-result.ts";

/** A longer file has other rows than the expected one. */
const MAX_CSV_CHARS = 100_000;

/** The results of an agent's work. */
export interface Evidence {
  readonly answer: string;
  /** The output that the run has submitted, if it has an output schema. */
  readonly output: { readonly value: unknown } | undefined;
  readonly steps: readonly StepResult[];
  readonly sandbox: Sandbox;
  readonly validation: Omit<OutputValidation, "schema">;
  readonly signal: AbortSignal;
}

export interface CheckResult {
  readonly type: Check["type"];
  readonly passed: boolean;
  /** The expectation, for the agent. */
  readonly detail: string;
}

/** @throws QueueRefusal; SandboxError; the reason of the signal */
export async function runCheck(given: Check, evidence: Evidence): Promise<CheckResult> {
  const [passed, detail] = await evaluate(given, evidence);
  return { type: given.type, passed, detail };
}

/** Returns whether the check passes, and its expectation. */
async function evaluate(given: Check, evidence: Evidence): Promise<[boolean, string]> {
  const { answer, output, steps, sandbox } = evidence;
  switch (given.type) {
    case "answer_contains":
      return [answer.includes(given.text), `The answer must contain: ${given.text}`];
    case "answer_matches": {
      const { pattern } = given;
      const isMet = await isValid(evidence, { type: "string", pattern }, answer);
      return [isMet, `The answer must match the pattern ${pattern}`];
    }
    case "answer_number": {
      const { value, tolerance } = given;
      const isMet = numbersIn(answer).some((found) => isNear(found, value, tolerance));
      return [isMet, `The answer must give the number ${value}`];
    }
    case "output_matches": {
      const value = output ? output.value : jsonIn(answer);
      const isMet = value !== undefined && (await isValid(evidence, given.schema, value));
      return [isMet, "The output must be valid under the expected JSON Schema"];
    }
    case "file_exists": {
      const isMet = (await readText(sandbox, given.path)) !== undefined;
      return [isMet, `The file ${given.path} must exist`];
    }
    case "file_contains": {
      const isMet = (await readText(sandbox, given.path))?.includes(given.text) ?? false;
      return [isMet, `The file ${given.path} must contain: ${given.text}`];
    }
    case "csv_equals": {
      const found = await readText(sandbox, given.path);
      const isMet =
        found !== undefined &&
        found.length <= MAX_CSV_CHARS &&
        areRowsEqual(rowsOf(found), rowsOf(given.csv), given.tolerance);
      return [isMet, `The file ${given.path} must have the expected rows`];
    }
    case "tool_called":
      return [isCalled(steps, given.tool), `The tool ${given.tool} must be used`];
    case "tool_not_called":
      return [!isCalled(steps, given.tool), `The tool ${given.tool} must not be used`];
    case "max_steps":
      return [steps.length <= given.value, `The work must take at most ${given.value} model calls`];
    case "max_cost_usd": {
      const costUsd = steps.reduce((sum, { trace }) => sum + (trace?.costUsd ?? 0), 0);
      return [costUsd <= given.value, `The work must cost at most ${given.value} USD`];
    }
  }
}

/** Validates in a worker, because neither patterns nor schemas may block this process. */
async function isValid(
  { validation, signal }: Evidence,
  wanted: JsonSchema,
  value: unknown,
): Promise<boolean> {
  const errors = await checkOutput({ ...validation, schema: wanted }, { value, root: "" }, signal);
  return errors.length === 0;
}

const isCalled = (steps: readonly StepResult[], name: string): boolean =>
  steps.some(({ calls }) => calls.some((call) => call.name === name));

/** Returns undefined for a file that is not there, or cannot be read. */
async function readText(sandbox: Sandbox, file: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await sandbox.readFile(file));
  } catch (error) {
    if (isSandboxError(error) && ["not_found", "refused", "too_large"].includes(error.code)) {
      return undefined;
    }
    throw error;
  }
}

/** Returns the JSON that an answer is, or has in a code block; undefined for none. */
function jsonIn(answer: string): unknown {
  const from = answer.indexOf("```");
  const block = from < 0 ? answer : answer.slice(from, answer.lastIndexOf("```"));
  try {
    return JSON.parse(block.replace(/^```(?:json)?/, ""));
  } catch {
    return undefined;
  }
}

/** Numbers as people write them: 1,234.56 and 1.234,56 are the same. */
function numbersIn(answer: string): number[] {
  const written = answer.match(/[-\u2212]?\d(?:[\d.,]*\d)?/g) ?? [];
  return written.flatMap((one) => {
    const plain = one.replace("\u2212", "-");
    const readings = [plain.replaceAll(",", ""), plain.replaceAll(".", "").replace(",", ".")];
    return readings.map(Number).filter((value) => !Number.isNaN(value));
  });
}

const isNear = (found: number, wanted: number, allowed = 0): boolean =>
  Math.abs(found - wanted) <= allowed;

/** Returns undefined for a text that is not CSV. */
function rowsOf(csv: string): string[][] | undefined {
  try {
    return parse(csv, { bom: true, relax_column_count: true, skip_empty_lines: true, trim: true });
  } catch {
    return undefined;
  }
}

function areRowsEqual(
  found: readonly string[][] | undefined,
  wanted: readonly string[][] | undefined,
  allowed: number | undefined,
): boolean {
  const isSame = (cell: string, other: string): boolean =>
    cell === other || (cell !== "" && other !== "" && isNear(Number(cell), Number(other), allowed));
  return (
    found !== undefined &&
    found.length === wanted?.length &&
    found.every(
      (row, index) =>
        row.length === wanted[index]?.length &&
        row.every((cell, column) => isSame(cell, wanted[index]?.[column] ?? "")),
    )
  );
}
