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
  "schedules",
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

/** The effect of a call that an agent asks for, line by line. `visible-text.ts` describes the marks in its texts. */
export const callEffect = z
  .array(
    z.object({
      label: z.string(),
      value: z.string(),
      is_cut: z.literal(true).optional().meta({
        description: "Given if a part is left out, which is to be read in the input",
      }),
    }),
  )
  .meta({
    description:
      "The effect of the call, as people read it. What cannot be seen is written out, such as `⟨U+202E⟩` or `⟨1,997 blanks⟩`; a `⟨` of the call is `⟨U+27E8⟩`",
  });
export type EffectLine = z.output<typeof callEffect>[number];

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
