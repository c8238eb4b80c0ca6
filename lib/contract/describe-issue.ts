/**
 * Describes a schema's issue in one sentence that names the field and the rule. A message given in a
 * schema (`.refine(check, "…")`, `{ error: "…" }`) is the whole sentence; every other issue gets its
 * sentence here.
 */
import type { z } from "zod";

type RawIssue = z.core.$ZodRawIssue;

export function describeIssue(issue: RawIssue): string {
  const path = (issue.path ?? []).map(String).join(".");
  if (path === "") return describeWhole(issue);
  return `${path} ${ruleOf(issue)}`;
}

function describeWhole(issue: RawIssue): string {
  if (issue.code === "unrecognized_keys") return `${issue.keys[0]} must not be provided`;
  if (issue.code === "invalid_type" && issue.expected === "object") {
    return "Request body must be a JSON object";
  }
  return `Request ${ruleOf(issue)}`;
}

function ruleOf(issue: RawIssue): string {
  if (issue.input === undefined && issue.code !== "custom") return "is required";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${nameOfType(issue.expected)}`;
    case "too_small":
      return tooSmall(issue);
    case "too_big":
      return tooBig(issue);
    case "invalid_format":
      return ruleOfFormat(issue.format);
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `must not contain ${issue.keys[0]}`;
    default:
      return "is invalid";
  }
}

function tooSmall(issue: Extract<RawIssue, { code: "too_small" }>): string {
  const { minimum, origin } = issue;
  if (origin === "string" && Number(minimum) === 1) return "must not be empty";
  if (issue.inclusive === false) return `must be greater than ${minimum}`;
  return `must ${origin === "number" || origin === "int" ? "be" : verbOf(origin)} at least ${minimum}${unitOf(origin, minimum)}`;
}

function tooBig(issue: Extract<RawIssue, { code: "too_big" }>): string {
  const { maximum, origin } = issue;
  if (issue.inclusive === false) return `must be less than ${maximum}`;
  return `must ${origin === "number" || origin === "int" ? "be" : verbOf(origin)} at most ${maximum}${unitOf(origin, maximum)}`;
}

const verbOf = (origin: string): string => (origin === "array" || origin === "set" ? "have" : "be");

function unitOf(origin: string, count: number | bigint): string {
  const plural = Number(count) === 1 ? "" : "s";
  if (origin === "string") return ` character${plural}`;
  if (origin === "array" || origin === "set") return ` item${plural}`;
  if (origin === "object" || origin === "record") return ` key${plural}`;
  return "";
}

function nameOfType(expected: string): string {
  switch (expected) {
    case "int":
      return "an integer";
    case "array":
    case "object":
      return `an ${expected}`;
    case "record":
      return "an object";
    case "nonoptional":
      return "given";
    default:
      return `a ${expected}`;
  }
}

function ruleOfFormat(format: string): string {
  switch (format) {
    case "uuid":
    case "guid":
      return "must be a valid UUID";
    case "email":
      return "must be a valid e-mail address";
    case "url":
      return "must be a valid URL";
    case "datetime":
      return "must be an ISO 8601 date and time";
    case "regex":
      return "has an invalid format";
    default:
      return `must be a valid ${format}`;
  }
}
