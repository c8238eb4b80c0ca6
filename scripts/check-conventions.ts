/**
 * Program: the rules of this repository that no linter knows. It prints one line for each file that
 * breaks one, and fails when there is any.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SCHEMA_VERSION } from "../lib/platform/database/schema-version.ts";
import { projectRoot } from "./project-root.ts";

const MAX_ROUTE_LINES = 20;
const MAX_FILE_LINES = 300;
/** How a longer file says why at its head. */
const REASON = "This file is long because";

const CITED_FILE =
  /(?<![\w/])(?:app|docs|lib|scripts|supabase|tests)\/(?:(?!\]\()[\w@()[\]./-])*\w\.(?:md|mjs|sql|tsx?)\b/g;
/** Documents that a reader of this repository cannot open. */
const FOREIGN_DOCUMENT =
  /\b(?:decisions?, sections?|spec(?:ification)?: (?:GET|POST|PUT|PATCH|DELETE))\b/i;
/** The first migrations, which are older than this rule and can no longer change. */
const FIRST_MIGRATION = /^supabase\/migrations\/20261120\d+_/;

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
  const text = readFileSync(join(projectRoot, file), "utf8");
  const lines = text.split("\n").length - 1;
  if (/^app\/api\/.*\/route\.ts$/.test(file) && lines > MAX_ROUTE_LINES) {
    yield `${lines} lines; a route file joins contracts to use cases in at most ${MAX_ROUTE_LINES}`;
  }
  if (/\.tsx?$/.test(file) && lines > MAX_FILE_LINES && !text.slice(0, 1_000).includes(REASON)) {
    yield `${lines} lines; split it, or say at its head: "${REASON} …"`;
  }
  if (file === "scripts/check-conventions.ts") return;
  for (const [cited] of proseOf(file, text).matchAll(CITED_FILE)) {
    if (!existsSync(join(projectRoot, cited))) yield `cites ${cited}, which does not exist`;
  }
  const foreign = FOREIGN_DOCUMENT.exec(text)?.[0];
  if (
    foreign !== undefined &&
    /\.(?:tsx?|mjs|sql|css)$/.test(file) &&
    !FIRST_MIGRATION.test(file)
  ) {
    yield `cites a document outside the repository: "${foreign}"`;
  }
}

/** Returns the comments of code, or a whole document. */
function proseOf(file: string, text: string): string {
  if (file.endsWith(".md")) return text;
  return text
    .split("\n")
    .filter((line) => /^\s*(?:\/\*|\*|\/\/|--)/.test(line))
    .join("\n");
}

/** The server asks the database for this migration, and refuses to start without it. */
function* faultsOfSchemaVersion(): Generator<string> {
  const newest = readdirSync(join(projectRoot, "supabase/migrations")).sort().at(-1) ?? "";
  if (!newest.startsWith(`${SCHEMA_VERSION}_`)) {
    yield `SCHEMA_VERSION is ${SCHEMA_VERSION}, and the newest migration is ${newest}`;
  }
}

let faults = 0;
for (const fault of faultsOfSchemaVersion()) {
  console.error(`lib/platform/database/schema-version.ts: ${fault}`);
  faults++;
}
for (const file of trackedFiles()) {
  if (!/\.(?:css|md|mjs|sql|tsx?)$/.test(file)) continue;
  for (const fault of faultsOf(file)) {
    console.error(`${file}: ${fault}`);
    faults++;
  }
}
process.exitCode = faults === 0 ? 0 : 1;
