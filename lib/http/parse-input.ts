/** Validates params, query and body against a contract's schemas. */
import type { z } from "zod";
import { type AppError, appError } from "../contract/app-error.ts";
import type { Contract } from "../contract/contract.ts";
import { describeIssue } from "../contract/describe-issue.ts";
import { normalizeInput } from "../contract/normalize-input.ts";
import { isStorableText } from "./read-body.ts";

interface RawInput {
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly query: Readonly<Record<string, unknown>> | undefined;
  readonly body: unknown;
}

const issueText = { error: describeIssue };
/** Bounds the reported issues of params, query or body: a body can have a million. */
const MAX_VALIDATION_ISSUES = 1_000;

/** The output of the schemas; undefined where the contract has none. */
export interface ParsedInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

export type Validator = (raw: RawInput) => ParsedInput | AppError;

/**
 * Returns the contract's validator. Its error is a 400 whose message describes the first issue, in
 * the order params, query, body, and whose `fields` name all of them.
 */
export function validator(contract: Contract): Validator {
  const { params, query, body } = contract;
  return (raw) => {
    for (const part of [raw.params, raw.query]) {
      for (const [name, value] of Object.entries(part ?? {})) {
        if (typeof value === "string" && !isStorableText(value)) {
          return appError("invalid_request", `${name} must be well-formed Unicode without NUL`, {
            fields: [name],
          });
        }
      }
    }
    let conflict: AppError | undefined;
    const onConflict = (name: string, other: string) => {
      conflict = appError("invalid_request", `${name} and ${other} must not differ`, {
        fields: [name],
      });
    };
    const issues: z.core.$ZodIssue[] = [];
    const parse = (schema: z.ZodType | undefined, value: unknown): unknown => {
      if (!schema) return undefined;
      const result = schema.safeParse(normalizeInput(schema, value, onConflict), issueText);
      if (result.success) return result.data;
      issues.push(...result.error.issues.slice(0, MAX_VALIDATION_ISSUES));
      return undefined;
    };
    const parsed = {
      params: parse(params, raw.params),
      query: parse(query, raw.query),
      body: parse(body, raw.body),
    };
    if (conflict) return conflict;
    const first = issues[0];
    if (!first) return parsed;
    const fields = [...new Set(issues.flatMap(fieldsOf))];
    return appError("invalid_request", first.message, { fields });
  };
}

function fieldsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [...path, key].join("."));
  return path.length > 0 ? [path.join(".")] : [];
}
