/** Describes a tool's result in words, as the embedded model reports it. */
import { z } from "zod";
import type { ToolRequest } from "./rules.ts";

const failure = z.object({ error: z.string() });
const describers: Readonly<Record<string, (call: ToolRequest, result: unknown) => string>> = {
  bash: describing(
    z.object({
      exitCode: z.number(),
      stdout: z.string(),
      stderr: z.string(),
      truncated: z.boolean(),
    }),
    (result, call) =>
      [
        `\`${call.input.command}\` ended with exit code ${result.exitCode}.`,
        result.stdout === "" ? "It printed nothing." : `It printed:\n${quote(result.stdout)}`,
        result.stderr === "" ? "" : `To stderr:\n${quote(result.stderr)}`,
        result.truncated ? "The output was cut." : "",
      ]
        .filter((line) => line !== "")
        .join("\n"),
  ),
  read: describing(
    z.object({ content: z.string() }),
    (result, call) => `\`${call.input.filePath}\` holds:\n${quote(result.content)}`,
  ),
  write: describing(
    z.object({ filePath: z.string(), bytes: z.number() }),
    (result) => `Wrote ${result.bytes} bytes to \`${result.filePath}\`.`,
  ),
  edit: describing(
    z.object({ filePath: z.string(), replacements: z.number() }),
    (result) => `Made ${result.replacements} replacement(s) in \`${result.filePath}\`.`,
  ),
  glob: describing(z.object({ files: z.array(z.string()) }), (result) =>
    result.files.length === 0
      ? "No file matches."
      : `${result.files.length} file(s):\n${quote(result.files.join("\n"))}`,
  ),
  grep: describing(
    z.object({
      matches: z.array(z.object({ file: z.string(), line: z.number(), text: z.string() })),
    }),
    (result) =>
      result.matches.length === 0
        ? "Nothing matches."
        : `${result.matches.length} match(es):\n${quote(
            result.matches.map((match) => `${match.file}:${match.line}: ${match.text}`).join("\n"),
          )}`,
  ),
  todo: describing(
    z.object({ todos: z.array(z.object({ content: z.string(), status: z.string() })) }),
    (result) =>
      `The plan:\n${result.todos.map((todo) => `- ${todo.content} (${todo.status})`).join("\n")}`,
  ),
  task: describing(
    z.object({ result: z.string(), steps: z.number() }),
    (result) => `The subagent needed ${result.steps} step(s) and says:\n${quote(result.result)}`,
  ),
  fetch: describing(
    z.object({ status: z.number(), body: z.string() }),
    (result, call) => `${call.input.url} answered ${result.status}:\n${quote(result.body)}`,
  ),
  skill: describing(
    z.union([
      z.object({ skills: z.array(z.object({ name: z.string(), description: z.string() })) }),
      z.object({ skill: z.string(), instructions: z.string() }),
    ]),
    (result) => {
      if ("instructions" in result) {
        return `The skill \`${result.skill}\` says:\n${quote(result.instructions)}`;
      }
      if (result.skills.length === 0) return "The sandbox has no skills.";
      return `Skills:\n${result.skills.map((skill) => `- ${skill.name}: ${skill.description}`).join("\n")}`;
    },
  ),
  web_search: describing(
    z.object({ results: z.array(z.object({ title: z.string(), url: z.string() })) }),
    ({ results }) =>
      results.length === 0
        ? "The search found nothing."
        : results.map(({ title, url }) => `- [${title}](${url})`).join("\n"),
  ),
  ask_user_question: describing(
    z.union([
      z.object({ answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])) }),
      z.object({ declined: z.literal(true) }),
    ]),
    (result) =>
      "answers" in result
        ? Object.entries(result.answers)
            .map(
              ([question, answer]) =>
                `You answered "${question}" with: ${[answer].flat().join(", ")}.`,
            )
            .join("\n")
        : "You declined to answer.",
  ),
};

export function describeResult(call: ToolRequest, result: unknown): string {
  if (result === undefined) return `The result of ${call.label} is no longer in my context.`;
  const failed = failure.safeParse(result);
  if (failed.success) {
    const { error } = failed.data;
    return /^Stopped\b/.test(error)
      ? `${call.label} was stopped.`
      : `${call.label} failed: ${error}`;
  }
  const describe = describers[call.tool];
  const value = typeof result === "string" ? fieldsIn(result) : result;
  return describe && value ? describe(call, value) : other(call, result);
}

/** The fields of a result that are texts or lists, which have their own lines. */
const LISTS = ["files", "matches", "skills", "results"];
const BLOCK =
  /^(?:stdout|stderr|content|instructions|result|body|headers|files|matches|skills|results):\n/m;

/** Reads the fields of a result that is shown as text; null for another text, or one with a part left out. */
function fieldsIn(text: string): Record<string, unknown> | null {
  const fields: Record<string, unknown> = {};
  let rest = text;
  try {
    for (let line = LINE.exec(rest); line; line = LINE.exec(rest)) {
      fields[line[1] ?? ""] = JSON.parse(line[2] ?? "");
      rest = rest.slice(line[0].length);
    }
    while (BLOCK.exec(rest)?.index === 0) {
      const [key = ""] = rest.split(":", 1);
      const body = rest.slice(key.length + 2);
      const next = key === "content" || key === "body" ? body.length : body.search(BLOCK);
      const block =
        next < 0 ? body : body.slice(0, next).replace(/\n$/, next < body.length ? "" : "$&");
      rest = body.slice(next < 0 ? body.length : next);
      fields[key] = LISTS.includes(key)
        ? block.split("\n").map((line) => (key === "files" ? line : JSON.parse(line)))
        : block;
    }
    return rest === "" && Object.keys(fields).length > 0 ? fields : null;
  } catch {
    return null;
  }
}

const LINE = /^(\w+): (.+)(?:\n|$)/;

function describing<T>(schema: z.ZodType<T>, words: (result: T, call: ToolRequest) => string) {
  return (call: ToolRequest, result: unknown): string => {
    const parsed = schema.safeParse(result);
    return parsed.success ? words(parsed.data, call) : other(call, result);
  };
}

const other = (call: ToolRequest, result: unknown): string =>
  `${call.label} gave:\n${quote(typeof result === "string" ? result : JSON.stringify(result, null, 2))}`;

/** Fences the text with more backticks than any run in it has. */
function quote(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
