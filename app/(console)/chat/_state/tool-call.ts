/** Reads the tool calls of a message and describes each in one line. */
import type { UIMessage } from "ai";
import type { Approval } from "@/lib/approvals/contract.ts";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /**
   * `running`: its input is streaming or it is at work. `open`: a question without an answer. `asks`: it is to
   * be approved.
   */
  readonly state: "running" | "open" | "asks" | "done" | "failed" | "stopped";
  readonly input: unknown;
  readonly output: unknown;
  readonly error: string | null;
  /** The approval of a call that needs one. */
  readonly approval?: Pick<Approval, "id" | "category" | "effect" | "is_memorable" | "sources">;
}

/** Returns null for a part that is not a tool call. */
export function readToolCall(part: UIMessage["parts"][number]): ToolCall | null {
  if (!part.type.startsWith("tool-") || !("toolCallId" in part)) return null;
  const name = part.type.slice("tool-".length);
  const output = "output" in part ? part.output : undefined;
  const error =
    part.state === "output-error"
      ? (part.errorText ?? "Failed")
      : part.state === "output-denied"
        ? "Denied"
        : textAt(output, "error");
  const isOpen = name === "ask_user_question" && part.state === "input-available";
  // Commands and subagents show their progress as preliminary output.
  const isDone = part.state === "output-available" && !part.preliminary;
  const ended = error === null ? null : /^(?:Stopped|Denied)\b/.test(error) ? "stopped" : "failed";
  const asks = part.state === "approval-requested";
  const state = ended ?? (isOpen ? "open" : asks ? "asks" : isDone ? "done" : "running");
  const call = { id: part.toolCallId, name, state, input: part.input, output, error } as const;
  if (!asks) return call;
  const { id, descriptor } = part.approval;
  // The service has written it.
  return { ...call, approval: { ...(descriptor as Omit<Approval, "id">), id } };
}

/** Returns the words of a call's row. It is a failure if it ended with its own, such as an exit code. */
export function describeToolCall(call: ToolCall) {
  const [done, subject, outcome = "", isFailure = false] = wordsOf(call);
  return {
    verb: call.state === "running" ? done.replace(/^\w+/, (word) => RUNNING[word] ?? word) : done,
    subject: firstLine(subject ?? ""),
    outcome: call.state === "done" ? outcome : "",
    isFailure: call.state === "done" && isFailure,
  };
}

/** Names a tool that is not the agent's own. An MCP server's are named `mcp__server__tool`. */
export const usedTool = (name: string): string =>
  `Used ${name.replace(/^mcp__/, "").replaceAll(/_+/g, " ")}`;

type Words = readonly [done: string, subject: string | null, outcome?: string, isFailure?: boolean];

function wordsOf({ name, input, output, state }: ToolCall): Words {
  switch (name) {
    case "bash": {
      const code = numberAt(output, "exitCode") ?? 0;
      return ["Ran", textAt(input, "command"), code === 0 ? "" : `exit ${code}`, code !== 0];
    }
    case "fetch": {
      const status = numberAt(output, "status");
      const subject = `${textAt(input, "method") ?? "GET"} ${textAt(input, "url") ?? ""}`;
      return ["Fetched", subject, String(status ?? ""), status !== null && status >= 400];
    }
    case "task": {
      const step = state === "running" ? listAt(output, "steps").at(-1) : undefined;
      const current = step && `: ${textAt(step, "tool")} ${textAt(step, "summary")}`;
      const subject = `${textAt(input, "task") ?? ""}${current ?? ""}`;
      return ["Subagent", subject, count(numberAt(output, "steps"), "step")];
    }
    case "todo": {
      const todos = readTodos(input);
      const done = todos.filter((todo) => todo.status === "completed").length;
      return ["Plan", "", todos.length === 0 ? "" : `${done} of ${todos.length} done`];
    }
    case "make_media": {
      const isPlaceholder = valueAt(output, "placeholder") === true;
      return ["Generated", textAt(input, "prompt"), isPlaceholder ? "placeholder" : ""];
    }
    default: {
      const [done, field = "", amount = "", unit = ""] = WORDS[name] ?? [usedTool(name)];
      const found = valueAt(output, amount);
      const number = Array.isArray(found) ? found.length : numberAt(output, amount);
      return [done, textAt(input, field), count(number, unit)];
    }
  }
}

type ToolWords = readonly [done: string, field?: string, amount?: string, unit?: string];

/** The words of a tool, the field of its input to name, and the number or list of its output to count. */
const WORDS: Readonly<Record<string, ToolWords>> = {
  read: ["Read", "filePath", "totalLines", "line"],
  write: ["Wrote", "filePath", "lines", "line"],
  edit: ["Edited", "filePath", "replacements", "replacement"],
  grep: ["Searched for", "pattern", "matches", "match"],
  glob: ["Looked for files", "pattern", "files", "file"],
  skill: ["Used the skill", "skill"],
  web_search: ["Searched the web for", "query", "results", "result"],
  schedule: ["Scheduled", "title"],
  list_schedules: ["Looked for schedules", "", "schedules", "schedule"],
};

const RUNNING: Readonly<Record<string, string>> = {
  Ran: "Running",
  Read: "Reading",
  Wrote: "Writing",
  Edited: "Editing",
  Searched: "Searching",
  Looked: "Looking",
  Fetched: "Fetching",
  Used: "Using",
  Scheduled: "Scheduling",
  Generated: "Generating",
};

const STATUSES = ["pending", "in_progress", "completed"] as const;

export type Todo = ReturnType<typeof readTodos>[number];

export const readTodos = (input: unknown) =>
  listAt(input, "todos").flatMap((item, place) => {
    const content = textAt(item, "content");
    const status = STATUSES.find((one) => one === textAt(item, "status")) ?? STATUSES[0];
    return content === null ? [] : [{ id: `${place} ${textAt(item, "id")}`, content, status }];
  });

export type Question = ReturnType<typeof readQuestions>[number];

export function readQuestions(input: unknown) {
  return listAt(input, "questions").flatMap((item) => {
    const question = textAt(item, "question");
    if (question === null) return [];
    const options = listAt(item, "options").flatMap((option) => {
      const label = textAt(option, "label");
      return label === null ? [] : [{ label, description: textAt(option, "description") ?? "" }];
    });
    const multiSelect = valueAt(item, "multiSelect") === true;
    return [{ question, header: textAt(item, "header") ?? "", options, multiSelect }];
  });
}

/** Returns the answer to each question; null if the person declined to answer. */
export function readAnswers(output: unknown): Readonly<Record<string, string>> | null {
  const answers = valueAt(output, "answers");
  if (typeof answers !== "object" || answers === null) return null;
  return Object.fromEntries(
    Object.entries(answers).map(([question, answer]) => [question, [answer].flat().join(", ")]),
  );
}

export const valueAt = (value: unknown, key: string): unknown => Object(value)[key];

export function textAt(value: unknown, key: string): string | null {
  const found = valueAt(value, key);
  return typeof found === "string" ? found : null;
}

export function numberAt(value: unknown, key: string): number | null {
  const found = valueAt(value, key);
  return typeof found === "number" ? found : null;
}

export function listAt(value: unknown, key: string): unknown[] {
  const found = valueAt(value, key);
  return Array.isArray(found) ? found : [];
}

function count(number: number | null, one: string): string {
  const many = one === "match" ? "matches" : `${one}s`;
  return number === null ? "" : `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** The row shows one line of the text. */
const firstLine = (text: string): string => (text.trim().split("\n", 1)[0] ?? "").slice(0, 300);
