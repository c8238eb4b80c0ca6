/**
 * The rules: patterns of a clause, and the tool call or text that it requests. The first match
 * wins.
 */
export interface ToolRequest {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Describes the step for people: "running `ls`". */
  readonly label: string;
}

export type PlanStep =
  | { readonly kind: "tools"; readonly calls: readonly ToolRequest[] }
  /** Generated text; each item is one delta. */
  | { readonly kind: "say"; readonly deltas: () => Iterable<string> };

interface Rule {
  readonly pattern: RegExp;
  readonly step: (match: RegExpExecArray) => PlanStep;
}

/** A quoted span, or any text. */
const quoted = '```[^\\n`]*\\n[^`]*```|`[^`]+`|"[^"]*"|“[^“”]*”';
const arg = `(${quoted}|\\S.*?)`;
const word = `(${quoted}|\\S+)`;
const MOST_ITEMS = 10_000;
const MOST_CHARS = 200_000;

export const rules: readonly Rule[] = [
  says(/^count (?:up )?to (\d{1,9})$/i, (n) => countTo(Number(n))),
  says(new RegExp(`^repeat ${word} (\\d{1,9}) times$`, "i"), (text, n) => repeat(text, Number(n))),
  calls(
    "bash",
    new RegExp(
      `^(?:run|execute|bash)\\b(?: the)?(?: shell)?(?: commands?)?:? ${arg}(?: in (?:the )?(?:folder|directory) ${word})?$`,
      "i",
    ),
    (command, cwd) => ({ command, ...(cwd === "" ? {} : { cwd }) }),
    (command) => `running \`${command}\``,
  ),
  calls(
    "bash",
    /^(`[^`]+`|```(?:sh|bash|shell)?\n[^`]*```)$/,
    (command) => ({ command }),
    (command) => `running \`${command}\``,
  ),
  calls(
    "write",
    // "Write it to plan.md" means a text that only an AI can write.
    new RegExp(
      `^(?:write|save) (?!(?:it|this|that|them)\\b)${arg} (?:to|into|in|as) (?:the )?(?:file )?${word}$`,
      "i",
    ),
    (content, filePath) => ({ filePath, content }),
    (_, filePath) => `writing \`${filePath}\``,
  ),
  calls(
    "write",
    new RegExp(
      `^(?:write|create) (?:the |a )?(?:file )?${word}(?: with(?: the)? (?:content|text)|: ?| containing) ?${arg}$`,
      "i",
    ),
    (filePath, content) => ({ filePath, content }),
    (filePath) => `writing \`${filePath}\``,
  ),
  calls(
    "skill",
    /^list (?:the |all )?(?:available )?(skills)$/i,
    () => ({ skill: "list" }),
    () => "listing the skills",
  ),
  calls(
    "skill",
    new RegExp(`^(?:use|load|run) (?:the )?skill ${word}(?: with ${arg})?$`, "i"),
    (skill, args) => ({ skill, ...(args === "" ? {} : { args }) }),
    (skill) => `loading the skill \`${skill}\``,
  ),
  calls(
    "glob",
    new RegExp(
      `^(?:list|find|glob) (?:all )?(?:the )?files?(?: (?:matching|like|named) ${word})?(?: in ${word})?$`,
      "i",
    ),
    (pattern, path) => ({ pattern: pattern || "**/*", ...(path === "" ? {} : { path }) }),
    (pattern) => `listing files${pattern === "" ? "" : ` matching \`${pattern}\``}`,
  ),
  calls(
    "web_search",
    new RegExp(`^search the web(?: for)? ${arg}$`, "i"),
    (query) => ({ query }),
    (query) => `searching the web for \`${query}\``,
  ),
  calls(
    "grep",
    new RegExp(
      `^(?:search|grep|look)(?: for)? ${arg}(?: in (?:files (?:matching|like) ${word}|${word}))?$`,
      "i",
    ),
    (pattern, glob, path) => ({
      pattern,
      ...(path === "" ? {} : { path }),
      ...(glob === "" ? {} : { glob }),
    }),
    (pattern) => `searching for \`${pattern}\``,
  ),
  calls(
    "fetch",
    /^(?:fetch|download|get|read|open) <?(https?:\/\/[^\s>]+?)>?$/i,
    (url) => ({ url }),
    (url) => `fetching ${url}`,
  ),
  calls(
    "read",
    new RegExp(
      `^(?:read|show|open|cat)(?: me)?(?: the)?(?: file)? ${word}(?: lines? (\\d{1,9})(?:(?: to |-)(\\d{1,9}))?)?$`,
      "i",
    ),
    (filePath, from, to) => ({
      filePath,
      ...(from === ""
        ? {}
        : { offset: Number(from), limit: Math.max(1, Number(to || from) - Number(from) + 1) }),
    }),
    (filePath) => `reading \`${filePath}\``,
  ),
  calls(
    "todo",
    new RegExp(`^(?:plan|todos?)\\b[^:]{0,40}: ?${arg}$`, "i"),
    (items) => ({ todos: toTodos(items) }),
    () => "writing the plan",
  ),
  calls(
    "task",
    new RegExp(`^delegate\\b(?: to (?:a|the) subagent)?:? ${arg}$`, "i"),
    (instructions) => ({ task: oneLine(instructions), instructions }),
    () => "delegating to a subagent",
  ),
  calls(
    "submit_output",
    /^submit:? (`[^`]+`|```(?:json)?\n[^`]*```)$/i,
    (json) => toInput(json),
    () => "submitting the output",
  ),
  {
    // A tool that the client runs.
    pattern: /^call (?:the tool )?`?([\w-]{1,64})`?(?: with)?:? (`[^`]+`|```(?:json)?\n[^`]*```)$/i,
    step: ([, tool = "", json]) => ({
      kind: "tools",
      calls: [{ tool, input: toInput(unquote(json)), label: `calling \`${tool}\`` }],
    }),
  },
  calls(
    "ask_user_question",
    new RegExp(
      // A question is short, and where in a long text it ends takes long to find.
      `^(?=[^]{0,5000}$)ask(?! (?:me |the user )?(?:for|about)\\b)(?: me| the user)?:? ${arg}(?:,? (?:with )?(?:the )?(?:options|choices):? ${arg})?$`,
      "i",
    ),
    (question, options) => ({ questions: [toQuestion(question, options)] }),
    () => "asking you",
  ),
];

function calls(
  tool: string,
  pattern: RegExp,
  input: (...groups: string[]) => ToolRequest["input"],
  label: (...groups: string[]) => string,
): Rule {
  const step = (match: RegExpExecArray): PlanStep => {
    const groups = match.slice(1).map(unquote);
    return { kind: "tools", calls: [{ tool, input: input(...groups), label: label(...groups) }] };
  };
  return { pattern, step };
}

function says(pattern: RegExp, deltas: (...groups: string[]) => Iterable<string>): Rule {
  return {
    pattern,
    step: (match) => {
      const groups = match.slice(1).map(unquote);
      return { kind: "say", deltas: () => deltas(...groups) };
    },
  };
}

function unquote(span: string | undefined): string {
  if (span === undefined) return "";
  const fence = /^```[^\n`]*\n([^`]*)```$/.exec(span);
  if (fence) return fence[1] ?? "";
  return /^(?:`.*`|".*"|“.*”)$/s.test(span) ? span.slice(1, -1) : span;
}

function* countTo(last: number): Generator<string> {
  for (let n = 1; n <= Math.min(last, MOST_ITEMS); n++) yield n === 1 ? "1" : ` ${n}`;
}

function* repeat(text: string, times: number): Generator<string> {
  const most = Math.min(times, MOST_ITEMS, Math.ceil(MOST_CHARS / (text.length + 1)));
  for (let n = 0; n < most; n++) yield n === 0 ? text : ` ${text}`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").slice(0, 80);

function toTodos(items: string) {
  return items
    .split(/[,;]|\sthen\s/)
    .map((item) => item.trim())
    .filter((item) => item !== "")
    .map((content, index) => ({
      id: String(index + 1),
      content,
      status: index === 0 ? "in_progress" : "pending",
    }));
}

/** A text that is not a JSON object is submitted as it is, to be refused. */
function toInput(json: string): ToolRequest["input"] {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Not JSON.
  }
  return { output: json };
}

/** The tool requires two to four options; without them the options are yes and no. */
function toQuestion(question: string, options: string) {
  const given = options
    .split(/,|\sor\s/)
    .map((option) => option.trim().replace(/^or\s+/, ""))
    .filter((option) => option !== "");
  const labels = given.length >= 2 ? given.slice(0, 4) : ["Yes", "No"];
  return {
    question,
    header: oneLine(question).slice(0, 12).trim(),
    options: labels.map((label) => ({ label, description: `Choose ${label}` })),
  };
}
