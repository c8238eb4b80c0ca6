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
      return `must be ${typeNames[issue.expected] ?? `a ${issue.expected}`}`;
    case "too_small":
      return tooSmall(issue);
    case "too_big":
      return tooBig(issue);
    case "invalid_format":
      return formatRules[issue.format] ?? `must be a valid ${issue.format}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "invalid_union":
      return "options" in issue
        ? `must be one of ${[issue.options].flat().join(", ")}`
        : "is invalid";
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
  return `must ${verbOf(origin)} at least ${minimum}${unitOf(origin, minimum)}`;
}

function tooBig(issue: Extract<RawIssue, { code: "too_big" }>): string {
  const { maximum, origin } = issue;
  if (issue.inclusive === false) return `must be less than ${maximum}`;
  return `must ${verbOf(origin)} at most ${maximum}${unitOf(origin, maximum)}`;
}

const verbOf = (origin: string): string => (origin === "array" || origin === "set" ? "have" : "be");

function unitOf(origin: string, count: number | bigint): string {
  const plural = Number(count) === 1 ? "" : "s";
  if (origin === "string") return ` character${plural}`;
  if (origin === "array" || origin === "set") return ` item${plural}`;
  if (origin === "object" || origin === "record") return ` key${plural}`;
  return "";
}

const typeNames: Readonly<Record<string, string>> = {
  int: "an integer",
  array: "an array",
  object: "an object",
  record: "an object",
  nonoptional: "given",
};

const formatRules: Readonly<Record<string, string>> = {
  uuid: "must be a valid UUID",
  guid: "must be a valid UUID",
  email: "must be a valid e-mail address",
  url: "must be a valid URL",
  datetime: "must be an ISO 8601 date and time",
  regex: "has an invalid format",
};
