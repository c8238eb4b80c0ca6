/**
 * Parses the newest user text into a plan: a list of steps in the order of the text. Lines, `;`,
 * "then", "and" and commas separate clauses where a request follows. Quoted text is not split.
 */
import { type PlanStep, rules, unquote } from "./rules.ts";

/** A longer text is data rather than a plan, and would make the patterns slow. */
const LONGEST_PLAN = 50_000;
const LONGEST_LINE = 2_000;

const QUOTED = /```[^\n`]*\n[^`]*```|`[^`\n]+`|"[^"\n]*"/g;
const AT_ONCE = / at once\.?$/i;
const VERBS = "run|write|read|list|search|delegate|fetch|ask|use|call|submit|count|repeat";
/**
 * One or more separators before a request or a quoted command. A match starts before white space, not
 * within it, and has a bounded number of separators, because a long line of separators must stay cheap.
 */
const BOUNDARY = new RegExp(
  `(?<!\\s)\\s*(?:(?:[;,]|[.!](?=\\s)|\\b(?:and|then)\\b)\\s*){1,4}(?=(?:${VERBS})\\b)`,
  "i",
);
/** The rest of the line is taken literally. */
const VERBATIM = /^(?:run|delegate|plan): /i;

export function parsePlan(text: string): readonly PlanStep[] {
  const spans: string[] = [];
  const guarded = text
    .slice(0, LONGEST_PLAN)
    .replace(/[\uE000\uE001]/g, "")
    .replace(QUOTED, (span) => `\uE000${spans.push(span) - 1}\uE001`);
  const restore = (part: string): string =>
    part.replace(/\uE000(\d+)\uE001/g, (_, index) => spans[Number(index)] ?? "");
  const lines = guarded.split("\n").filter((line) => line.length <= LONGEST_LINE);
  return lines.flatMap((line) => parseLine(line.trim(), restore));
}

function parseLine(line: string, restore: (part: string) => string): PlanStep[] {
  if (VERBATIM.test(line)) return parseClause(restore(line));
  const steps = line
    .replace(AT_ONCE, "")
    .split(BOUNDARY)
    .flatMap((clause) => parseClause(restore(clause.trim())));
  if (!AT_ONCE.test(line)) return steps;
  const calls = steps.flatMap((step) => (step.kind === "tools" ? step.calls : []));
  const said = steps.filter((step) => step.kind === "say");
  return calls.length > 0 ? [{ kind: "tools", calls }, ...said] : said;
}

/** The sample of a skill: its script does the analysis, of the named statement or the first one that is there. */
const SAMPLE =
  /^check (?:this|the|my|our) (?:attached )?royalty statement\b(?:[^`]{0,40}`([^`$"\\]{1,500})`)?/i;
const ANALYSIS = ".skills-loaded/royalty-statement/scripts/analyze_statement.py --format markdown";

function parseClause(clause: string): PlanStep[] {
  const sample = SAMPLE.exec(clause);
  if (sample) {
    const first = "$(ls uploads/*/*.?sv workspace/statements/*.?sv 2>/dev/null | head -n 1)";
    const command = `f="${sample[1] ?? first}"; python3 ${ANALYSIS} --file-name "$f" < "$f"`;
    return ["use skill royalty-statement", `run \`${command}\``].flatMap(parseClause);
  }
  const request = clause.replace(/(?<=[\w`")\]])[.!?]+$/, "");
  for (const { pattern, step } of rules) {
    const match = pattern.exec(request);
    if (match) return [step(match.slice(1).map(unquote))];
  }
  return [];
}
