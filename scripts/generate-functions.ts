/**
 * Program: writes lib/platform/database/functions.ts from the SQL functions in supabase/schemas. It fails
 * when the file was out of date, because it is committed. supabase/tests/functions.test.ts compares it with
 * the catalogs of a database.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./project-root.ts";

const FUNCTION =
  /^create (?:or replace )?function (?:public\.)?(\w+)\s*\(([^$]*?)\)\s*returns ([^$]*?)\s*language\b/gm;
const ALIASES: Readonly<Record<string, string>> = {
  timestamptz: "timestamp with time zone",
  int: "integer",
  bool: "boolean",
};

interface Described {
  readonly args: Readonly<Record<string, string>>;
  /** `nothing`, `row`, `rows` and `texts`, or the type of the one value. */
  readonly returns: string;
}

/** Returns `accountId` for `p_account_id`. */
const camelCase = (argument: string): string =>
  argument.replace(/^p_/, "").replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the name of a type as the catalog has it. */
function typeOf(declared: string): string {
  const [, base = "", array = ""] = /^(.*?)((?:\[\])?)$/s.exec(declared.trim()) ?? [];
  return (ALIASES[base] ?? base.replace(/^public\./, "")) + array;
}

function describe(args: string, returns: string, composites: ReadonlySet<string>): Described {
  const types: Record<string, string> = {};
  for (const argument of args.split(/,(?![^(]*\))/)) {
    const [, name, base = "", array = ""] =
      /^\s*(\w+) ([\w. ]+?)(\[\])?\s*(?:default\s.*)?$/s.exec(argument) ?? [];
    if (name !== undefined) types[camelCase(name)] = typeOf(base + array);
  }
  const [, isSet, base = ""] = /^(setof )?(?:public\.)?(.*)$/s.exec(returns.trim()) ?? [];
  const isComposite = composites.has(base) || base.startsWith("table");
  if (isSet && !composites.has(base) && base !== "text")
    throw new Error(`No function returns ${returns}`);
  const kind =
    isSet || base.startsWith("table")
      ? isComposite
        ? "rows"
        : "texts"
      : isComposite
        ? "row"
        : typeOf(base);
  return { args: types, returns: base === "void" ? "nothing" : kind };
}

const text = globSync("supabase/schemas/*.sql", { cwd: projectRoot })
  .sort()
  .map((file) => readFileSync(join(projectRoot, file), "utf8").replace(/--.*$/gm, ""))
  .join("\n");
const composites = new Set(
  [...text.matchAll(/^create (?:unlogged )?(?:table|type|view) (?:public\.)?(\w+)/gm)].map(
    ([, name = ""]) => name,
  ),
);
const called = globSync("{lib,scripts}/**/*.ts", { cwd: projectRoot })
  .filter((file) => file !== "lib/platform/database/functions.ts")
  .map((file) => readFileSync(join(projectRoot, file), "utf8"))
  .join("\n");
const found = new Map<string, Described>();
for (const [, name = "", args = "", returns = ""] of text.matchAll(FUNCTION)) {
  if (called.includes(`"${name}"`)) found.set(name, describe(args, returns, composites));
}
const lines = [...found]
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([name, { args, returns }]) => {
    const list = Object.entries(args).map(([key, type]) => `${key}: "${type}"`);
    return `  ${name}: { args: { ${list.join(", ")} }, returns: "${returns}" },`;
  });
const source = `// Generated from supabase/schemas by scripts/generate-functions.ts, which npm run check runs.
// This file is long because it names every SQL function.
/** The SQL functions that the service calls, with the types of their arguments and results. */
export const functions = {
${lines.join("\n")}
} as const;
`;
const file = join(projectRoot, "lib/platform/database/functions.ts");
if (!existsSync(file) || readFileSync(file, "utf8") !== source) {
  writeFileSync(file, source);
  console.error(
    "lib/platform/database/functions.ts was out of date and has been written: commit it.",
  );
  process.exitCode = 1;
}
