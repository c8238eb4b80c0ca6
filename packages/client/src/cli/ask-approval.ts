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
  delivery: "Send this?",
};

/** The kinds of effects that an agent can ask for. */
export const KINDS = Object.keys(QUESTIONS);

/** Returns what a request is about, as lines for a person. */
export const describeRequest = ({ category, effect, sources }: ApprovalRequest): string[] => [
  QUESTIONS[category],
  ...effect.map(({ label, value }) => indented(`${label}: ${value}`)),
  ...sources.map(({ kind, name }) =>
    indented(`The agent has read content of others: ${kind} ${name}`),
  ),
];

/** No line of an agent's text looks like one of the question. */
const indented = (text: string): string => `    ${text.replaceAll(/\r?\n/g, "\n    | ")}`;

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
