/** The rules: patterns of a clause, and the tool call or text that it requests. The first match wins. */
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
  readonly step: (groups: readonly string[]) => PlanStep;
}

const CODE = "(```[^\\n`]*\\n[^`]*```|`[^`]+`)";
const QUOTED = `(${CODE.slice(1, -1)}|"[^"]*")`;
const TEXT = `(${QUOTED.slice(1, -1)}|\\S.*?)`;
const WORD = `(${QUOTED.slice(1, -1)}|\\S+)`;
const MOST_ITEMS = 10_000;
const MOST_CHARS = 200_000;

export const rules: readonly Rule[] = [
  says("count to (\\d{1,9})", (n) => countTo(Number(n))),
  says(`repeat ${WORD} (\\d{1,9}) times`, (text, n) => repeat(text, Number(n))),
  calls("bash", `run:? ${TEXT}`, (command) => [{ command }, `running \`${command}\``]),
  // "Write it to plan.md" means a text that only an AI can write.
  calls("write", `write (?!(?:it|this|that|them)\\b)${TEXT} to ${WORD}`, (content, filePath) => [
    { filePath, content },
    `writing \`${filePath}\``,
  ]),
  calls("skill", "list skills", () => [{ skill: "list" }, "listing the skills"]),
  calls("skill", `use (?:the )?skill ${WORD}(?: with ${TEXT})?`, (skill, args) => [
    { skill, ...(args !== "" && { args }) },
    `loading the skill \`${skill}\``,
  ]),
  calls("glob", `list (?:the )?files(?: matching ${WORD})?(?: in ${WORD})?`, (pattern, path) => [
    { pattern: pattern || "**/*", ...(path !== "" && { path }) },
    "listing files",
  ]),
  calls("web_search", `search the web for ${TEXT}`, (query) => [
    { query },
    `searching the web for \`${query}\``,
  ]),
  calls("grep", `search for ${TEXT}(?: in ${WORD})?`, (pattern, path) => [
    { pattern, ...(path !== "" && { path }) },
    `searching for \`${pattern}\``,
  ]),
  calls("fetch", "fetch (https?:\\/\\/\\S+)", (url) => [{ url }, `fetching ${url}`]),
  calls("read", `read ${WORD}(?: lines (\\d{1,9}) to (\\d{1,9}))?`, (filePath, from, to) => [
    {
      filePath,
      ...(from !== "" && {
        offset: Number(from),
        limit: Math.max(1, Number(to) - Number(from) + 1),
      }),
    },
    `reading \`${filePath}\``,
  ]),
  calls("todo", `plan: ${TEXT}`, (items) => [{ todos: toTodos(items) }, "writing the plan"]),
  calls("task", `delegate: ${TEXT}`, (instructions) => [
    { task: instructions.slice(0, 80), instructions },
    "delegating to a subagent",
  ]),
  calls("submit_output", `submit ${CODE}`, (json) => [toInput(json), "submitting the output"]),
  {
    // A tool that the client runs.
    pattern: new RegExp(`^call ([\\w-]{1,64}) with ${CODE}$`, "i"),
    step: ([tool = "", json = ""]) => ({
      kind: "tools",
      calls: [{ tool, input: toInput(json), label: `calling \`${tool}\`` }],
    }),
  },
  calls("ask_user_question", `ask me ${QUOTED}(?: with options: ${TEXT})?`, (question, options) => [
    { questions: [toQuestion(question, options)] },
    "asking you",
  ]),
];

function calls(
  tool: string,
  pattern: string,
  request: (...groups: string[]) => [input: ToolRequest["input"], label: string],
): Rule {
  return {
    pattern: new RegExp(`^${pattern}$`, "i"),
    step: (groups) => {
      const [input, label] = request(...groups);
      return { kind: "tools", calls: [{ tool, input, label }] };
    },
  };
}

function says(pattern: string, deltas: (...groups: string[]) => Iterable<string>): Rule {
  return {
    pattern: new RegExp(`^${pattern}$`, "i"),
    step: (groups) => ({ kind: "say", deltas: () => deltas(...groups) }),
  };
}

/** Returns a span without its quotes. */
export function unquote(span = ""): string {
  const fence = /^```[^\n`]*\n([^`]*)```$/.exec(span);
  if (fence) return fence[1] ?? "";
  return /^(?:`.*`|".*")$/s.test(span) ? span.slice(1, -1) : span;
}

function* countTo(last: number): Generator<string> {
  for (let n = 1; n <= Math.min(last, MOST_ITEMS); n++) yield n === 1 ? "1" : ` ${n}`;
}

function* repeat(text: string, times: number): Generator<string> {
  const most = Math.min(times, MOST_ITEMS, Math.ceil(MOST_CHARS / (text.length + 1)));
  for (let n = 0; n < most; n++) yield n === 0 ? text : ` ${text}`;
}

const itemsOf = (text: string): string[] =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

const toTodos = (items: string) =>
  itemsOf(items).map((content, index) => ({
    id: String(index + 1),
    content,
    status: index === 0 ? "in_progress" : "pending",
  }));

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
  const given = itemsOf(options);
  const labels = given.length >= 2 ? given.slice(0, 4) : ["Yes", "No"];
  return {
    question,
    header: question.slice(0, 12).trim(),
    options: labels.map((label) => ({ label, description: `Choose ${label}` })),
  };
}
