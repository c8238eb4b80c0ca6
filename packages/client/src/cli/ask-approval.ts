import { createInterface } from "node:readline/promises";
import type { ApprovalAnswer, ApprovalRequest } from "../wait-for-run.ts";
import type { Output } from "./output.ts";

const QUESTIONS: Readonly<Record<ApprovalRequest["category"], string>> = {
  bash: "Run this command?",
  fetch: "Send this request?",
  write: "Write this file?",
  connectors: "Do this in a connected service?",
  mcp: "Use this tool of an MCP server?",
  media: "Generate this?",
  schedules: "Create this schedule?",
  delivery: "Send this?",
};

/** The kinds of effects that an agent can ask for. */
export const KINDS = Object.keys(QUESTIONS);

/**
 * Returns the content of a request as lines for a person, with its whole input if the effect omits
 * a part. Invisible characters are written out.
 */
export const describeRequest = ({
  category,
  effect,
  sources,
  input,
}: ApprovalRequest): string[] => [
  QUESTIONS[category],
  ...effect.map(({ label, value }) => indented(`${label}: ${value}`)),
  ...(effect.some(({ is_cut }) => is_cut)
    ? [indented(`The whole input: ${JSON.stringify(input, null, 2)}`)]
    : []),
  ...sources.map(({ kind, name }) =>
    indented(`The agent has read content of others: ${kind} ${name}`),
  ),
];

/** No line of an agent's text looks like one of the question, and nothing in it reorders or hides the rest. */
const indented = (text: string): string =>
  `    ${text.replaceAll(HIDDEN, writtenOut).replaceAll("\n", "\n    | ")}`;

/** The service writes out what cannot be seen in effects, but not in the input and the names of sources. */
const HIDDEN = /(?![\t\n])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const writtenOut = (hidden: string): string => {
  const code = (hidden.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `⟨U+${code}⟩`;
};

/** Resolves to the answer of a person in the terminal, or to null when the input is closed in place of one. */
export async function askApproval(
  request: ApprovalRequest,
  out: Output,
  signal: AbortSignal,
): Promise<ApprovalAnswer | null> {
  const { stdin, stderr } = process;
  out.progress(`The agent asks: ${describeRequest(request).join("\n")}`);
  const lines = createInterface({ input: stdin, output: stderr, terminal: true });
  // `question` does not settle when its input is closed.
  const closed = new Promise<null>((resolve) => lines.once("close", () => resolve(null)));
  try {
    const always = request.is_memorable ? "/a(lways in this chat)" : "";
    const question = lines.question(`[y/N${always}] `, { signal });
    const answer = (await Promise.race([question, closed]))?.trim().toLowerCase();
    if (answer === undefined) return null;
    if (always && (answer === "a" || answer === "always"))
      return { approved: true, remember: "chat" };
    return { approved: answer === "y" || answer === "yes" };
  } finally {
    lines.close();
  }
}
