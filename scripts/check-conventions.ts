/**
 * Program: the rules of this repository that no linter knows. It prints one line for each file that
 * breaks one, and fails when there is any.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { toolOperations } from "../lib/openapi/describe-tools.ts";
import { SCHEMA_VERSION } from "../lib/platform/database/schema-version.ts";
import { listMigrations } from "./embedded/list-migrations.ts";
import { projectRoot } from "./project-root.ts";

const MAX_ROUTE_LINES = 20;
const MAX_FILE_LINES = 300;
const TOOL_ROUTES = "app/api/mcp/call-tool.ts";
/** How a longer file says why at its head. */
const REASON = "This file is long because";

const CITED_FILE =
  /(?<![\w/])(?:app|bench|deploy|docs|evals|lib|packages|scripts|supabase|tests|trigger-dev)\/(?:(?!\]\()[\w@()[\]./-])*\w\.(?:md|mjs|sql|tsx?)\b/g;
/** Documents that a reader of this repository cannot open. */
const FOREIGN_DOCUMENT =
  /\b(?:decisions?, sections?|spec(?:ification)?: (?:GET|POST|PUT|PATCH|DELETE))\b/i;

const DEPENDENCIES = "docs/decisions/0017-dependencies.md";

/** The folders and documents that are held to `PHRASES`, each by itself. */
const PHRASE_FOLDERS =
  /^(?:app|bench|docs|evals|lib|packages|scripts|supabase|tests|trigger-dev|(?:AGENTS|CONTRIBUTING|README|SECURITY)\.md)(?=\/|$)/;
/** One phrase is a high rate in a small folder. */
const MIN_PHRASES = 3;
/** Phrases that mark translated English, the better wording, and the maximum per 10,000 words. */
const PHRASES: readonly [phrase: RegExp, better: string, limit: number][] = [
  [
    /\bwhat(?:ever)? (?:is|are|was|were|it|they|an?|the|this|that|has|have|had|can|may|must|one|comes|goes|left|remains)\b/gi,
    'a noun: "the rest" for "what is left"',
    8,
  ],
  [/\bso that\b/gi, '"so", "to", or two sentences', 4],
  [/\b(?:that|those) (?:of|that)\b/gi, "the noun again", 2],
  [/\b(?:begins?|began|begun)\b/gi, '"start"', 2],
  [/\b(?:tells?|told)\b/gi, '"returns", "notifies" or "shows"', 3],
  [/\bof (?:its|their|his) own\b/gi, '"its own" or "separate"', 1],
  [/\b(?:nobody|somebody|whoever|whichever)\b/gi, '"no one", or the role', 2],
  [/\b(?:goes? on|went on|meanwhile|anew)\b/gi, '"continues", "again", or nothing', 1],
  [/\bas of\b(?! \d)/gi, '"as in" or "such as"', 1],
  [/(?<!\bthere )\b(?:is|are|was|were) no\b(?! (?:longer|more|one)\b)/gi, '"is not a"', 2],
  [/(?<=(?:[.:;]|\/\*\*|\/\/|--) )(?:Who|What|Whoever|Whatever)\b(?![^.]*\?)/g, "a noun", 2],
  [/\balso (?:if|when|of|where|while|after)\b/gi, '"even if", or two sentences', 1],
];

const read = (file: string): string => readFileSync(join(projectRoot, file), "utf8");

function trackedFiles(): string[] {
  const list = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    {
      cwd: projectRoot,
      encoding: "utf8",
    },
  );
  return list.split("\0").filter((file) => file !== "" && existsSync(join(projectRoot, file)));
}

function* faultsOf(file: string): Generator<string> {
  const text = read(file);
  const lines = text.split("\n").length - 1;
  if (/^app\/api\/.*\/route\.ts$/.test(file) && lines > MAX_ROUTE_LINES) {
    yield `${lines} lines; a route file joins contracts to use cases in at most ${MAX_ROUTE_LINES}`;
  }
  if (/\.tsx?$/.test(file) && lines > MAX_FILE_LINES && !text.slice(0, 1_000).includes(REASON)) {
    yield `${lines} lines; split it, or say at its head: "${REASON} …"`;
  }
  if (file === "scripts/check-conventions.ts") return;
  yield* faultsOfLateImports(file, text);
  for (const [cited] of proseOf(file, text).matchAll(CITED_FILE)) {
    if (!existsSync(join(projectRoot, cited))) yield `cites ${cited}, which does not exist`;
  }
  const foreign = FOREIGN_DOCUMENT.exec(text)?.[0];
  if (foreign !== undefined && /\.(?:tsx?|mjs|sql|css)$/.test(file)) {
    yield `cites a document outside the repository: "${foreign}"`;
  }
}

/** The console notices code that a deployment has replaced where it is imported on demand. */
function* faultsOfLateImports(file: string, text: string): Generator<string> {
  if (!file.startsWith("app/(console)/") || file.endsWith("/_code/tokenize.ts")) return;
  const late = text
    .replace(/\s+/g, "")
    .match(/(?<!(?:loadModule|lazyComponent)\(\(\)=>)(?<!typeof)import\("|"next\/dynamic"/);
  if (late) yield "import code on demand by loadModule or lazyComponent of app/(console)/_load";
}

/** Returns the comments of code, or a whole document. */
function proseOf(file: string, text: string): string {
  if (file.endsWith(".md")) return text;
  return text
    .split("\n")
    .filter((line) => /^\s*(?:\/\*|\*|\/\/|--)/.test(line))
    .join("\n");
}

function* faultsOfPhrases(files: readonly string[]): Generator<string> {
  const folders = Map.groupBy(files, (file) => PHRASE_FOLDERS.exec(file)?.[0]);
  for (const [folder, inFolder] of folders) {
    if (folder === undefined) continue;
    const prose = inFolder.map((file) => ({ file, text: proseOf(file, read(file)) }));
    const words = prose.reduce((sum, { text }) => sum + text.split(/[^A-Za-z']+/).length, 0);
    for (const [phrase, better, limit] of PHRASES) {
      const found = prose.flatMap(({ file, text }) => [...text.matchAll(phrase)].map(() => file));
      if (found.length <= Math.max(MIN_PHRASES, (limit * words) / 10_000)) continue;
      const places = [...new Set(found)].join(", ");
      yield `${phrase.source} occurs ${found.length} times in ${words} words of ${folder}; write ${better}: ${places}`;
    }
  }
}

/** Every direct dependency has a row, in which `*` stands for any rest of a name. */
function* faultsOfDependencies(): Generator<string> {
  const installed: Record<"dependencies" | "devDependencies", object> = JSON.parse(
    read("package.json"),
  );
  const [, table = "", devTable = ""] = read(DEPENDENCIES).split(/^## /m);
  for (const [group, text] of [
    [installed.dependencies, table],
    [installed.devDependencies, devTable],
  ] as const) {
    const names = Object.keys(group);
    const cells = text.match(/^\|[^|]*\|/gm)?.join() ?? "";
    const rows = [...cells.matchAll(/`([^`]+)`/g)].flatMap(([, row]) => row ?? []);
    const isListed = (name: string) => rows.some((row) => matchesGlob(name, row));
    for (const name of names) if (!isListed(name)) yield `lacks ${name}`;
    const isInstalled = (row: string) => names.some((name) => matchesGlob(name, row));
    for (const row of rows) if (!isInstalled(row)) yield `${row} is not in package.json`;
  }
}

/** `npm ci` refuses a lock file without an entry for each optional dependency, even if none was published. */
function* faultsOfLockFile(): Generator<string> {
  const { packages }: { packages: Record<string, { optionalDependencies?: object }> } = JSON.parse(
    read("package-lock.json"),
  );
  const paths = Object.keys(packages);
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages)) {
    for (const name of Object.keys(optionalDependencies)) {
      if (!paths.some((one) => one.endsWith(`node_modules/${name}`))) yield `${path} lacks ${name}`;
    }
  }
}

/** The server asks the database for this migration, and refuses to start without it. */
function* faultsOfSchemaVersion(): Generator<string> {
  const newest = listMigrations(join(projectRoot, "supabase")).at(-1);
  if (newest?.version !== SCHEMA_VERSION) {
    yield `SCHEMA_VERSION is ${SCHEMA_VERSION}, and the newest migration is ${newest?.file}`;
  }
}

/** The MCP server imports the route of each tool by its name, for the bundler to find it. */
function* faultsOfToolRoutes(): Generator<string> {
  const text = read(TOOL_ROUTES).replace(/\s+/g, " ");
  const given = new Set(text.match(/"\/api\/[^"]*": \(\) => import\("[^"]*"\)/g));
  for (const { id, contract } of toolOperations) {
    const folder = contract.path.replace("/api/", "../").replace(/\{(\w+)\}/g, "[$1]");
    const line = `"${contract.path}": () => import("${folder}/route.ts")`;
    if (!given.has(line)) yield `the tool ${id} has no route; add ${line}`;
  }
}

let faults = 0;
function report(file: string, found: Iterable<string>): void {
  for (const fault of found) {
    console.error(`${file}: ${fault}`);
    faults++;
  }
}
report("lib/platform/database/schema-version.ts", faultsOfSchemaVersion());
report(TOOL_ROUTES, faultsOfToolRoutes());
report(DEPENDENCIES, faultsOfDependencies());
report("package-lock.json", faultsOfLockFile());
const files = trackedFiles().filter((file) => /\.(?:css|md|mjs|sql|tsx?)$/.test(file));
report("comments and documents", faultsOfPhrases(files));
for (const file of files) {
  report(file, faultsOf(file));
}
process.exitCode = faults === 0 ? 0 : 1;
