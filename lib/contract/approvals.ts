/** The policies of an agent's effects, and the untrusted content of its turns. */
import { z } from "zod";

/** The kinds of effects that policies name. */
export const APPROVAL_CATEGORIES = [
  "bash",
  "fetch",
  "write",
  "connectors",
  "mcp",
  "media",
  "delivery",
] as const;
export type ApprovalCategory = (typeof APPROVAL_CATEGORIES)[number];

const POLICIES = ["auto", "ask", "ask_when_untrusted", "deny"] as const;
type ApprovalPolicy = (typeof POLICIES)[number];

export const approvalPolicies = z.strictObject(
  Object.fromEntries(
    APPROVAL_CATEGORIES.map((category) => [category, z.enum(POLICIES).optional()]),
  ) as Record<ApprovalCategory, z.ZodOptional<z.ZodEnum<{ [P in ApprovalPolicy]: P }>>>,
);

/** Content of a stranger in the context of a turn, such as `{kind: "web", name: "example.com"}`. */
export const untrustedSource = z
  .object({
    kind: z.enum([
      "web",
      "search",
      "file",
      "workspace",
      "memory",
      "skill",
      "template",
      "event",
      "connector",
      "mcp",
      "share",
    ]),
    name: z.string(),
  })
  .meta({ id: "UntrustedSource" });
export type UntrustedSource = z.output<typeof untrustedSource>;

/** Returns the sources with the added ones, each once. */
export const withSources = (
  known: readonly UntrustedSource[],
  added: readonly UntrustedSource[],
): readonly UntrustedSource[] => {
  const isNew = ({ kind, name }: UntrustedSource) =>
    !known.some((source) => source.kind === kind && source.name === name);
  return added.some(isNew) ? [...known, ...added.filter(isNew)] : known;
};
