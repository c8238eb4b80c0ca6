/**
 * Program: the directions of imports (`.dependency-cruiser.cjs`), and the budgets of `docs/budgets.json`: the lines and
 * files of each domain and package, and the modules that its largest route loads. A budget may be raised in a commit
 * whose message has a line `Budget: <reason>`.
 */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cruise, format, type ICruiseResult } from "dependency-cruiser";
import extractOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTsConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { projectRoot } from "./project-root.ts";

const BUDGETS = "docs/budgets.json";
const FOLDERS = ["app", "lib", "packages", "scripts", "trigger-dev"];
const OWN = /^(?:app|lib|packages)\//;
/** The modules that a route may load, unless it starts runs, makes requests of models, or serves MCP. */
const MAX_MODULES = 130;
const STARTS_RUNS =
  /^app\/api\/(?:chat|cron|mcp|triggers|tasks\/\[id\]\/run|sessions\/\[sessionId\]\/chats\/\[chatId\]\/(?:compact|context))\//;
/** The files from the route of a chat message to the model and back, as docs/architecture.md lists them. */
const MAX_CHAT_FILES = 50;

interface Budget {
  readonly lines: number;
  readonly files: number;
  /** Absent for a package, and for a domain without a route. */
  readonly modules?: number;
}
type Budgets = Readonly<Record<string, Budget>>;

function* faults(graph: ICruiseResult): Generator<string> {
  const routes = routesIn(graph);
  for (const [route, { size }] of routes) {
    if (size <= MAX_MODULES || STARTS_RUNS.test(route)) continue;
    yield `${route}: loads ${size} modules of at most ${MAX_MODULES}`;
  }
  const given: Budgets = JSON.parse(readFileSync(join(projectRoot, BUDGETS), "utf8"));
  const used = usage(graph, routes);
  for (const folder of new Set([...Object.keys(given), ...Object.keys(used)])) {
    const [budget, use] = [given[folder], used[folder]];
    if (!use) yield `${BUDGETS}: ${folder} does not exist`;
    else if (!budget) {
      writeBudgets({ ...given, [folder]: use });
      yield `${BUDGETS}: ${folder} has got a budget of its size: commit it.`;
    } else {
      for (const [what, number] of entriesOf(use)) {
        const limit = budget[what] ?? 0;
        if (number > limit) yield `${BUDGETS}: ${folder} has ${number} ${what} of at most ${limit}`;
      }
    }
  }
  yield* raisedBudgets();
  const architecture = readFileSync(join(projectRoot, "docs/architecture.md"), "utf8");
  const life = /^## The life of a turn$(.*?)^An editor/ms.exec(architecture)?.[1] ?? "";
  const files = life.match(/[\w-]+\.ts(?=`)/g) ?? [];
  if (files.length === 0 || files.length > MAX_CHAT_FILES) {
    yield `docs/architecture.md: ${files.length} files of a chat message, of at most ${MAX_CHAT_FILES}`;
  }
  const ports = globSync("{lib,packages/*/src}/**/port.ts", { cwd: projectRoot });
  const rules = options.ruleSet?.forbidden ?? [];
  const floors = rules.flatMap(({ name }) => /^(.+)-imports-down$/.exec(name ?? "")?.[1] ?? []);
  for (const name of [...ports, ...floors]) {
    if (!architecture.includes(`\`${name}\``)) yield `docs/architecture.md: ${name} has no row`;
  }
}

function writeBudgets(budgets: Budgets): void {
  const lines = Object.keys(budgets)
    .sort()
    .map((folder) => {
      const numbers = JSON.stringify(budgets[folder]).replaceAll(/[:,]/g, "$& ");
      return `  "${folder}": ${numbers.replace("{", "{ ").replace("}", " }")}`;
    });
  writeFileSync(join(projectRoot, BUDGETS), `{\n${lines.join(",\n")}\n}\n`);
}

/** Returns the modules that each route loads at once, without the ones that it imports when they are needed. */
function routesIn({ modules }: ICruiseResult): Map<string, Set<string>> {
  const imports = new Map(
    modules.map(({ source, dependencies }) => [
      source,
      dependencies
        .filter(
          ({ dynamic, dependencyTypes }) => !dynamic && !dependencyTypes.includes("type-only"),
        )
        .map(({ resolved }) => resolved),
    ]),
  );
  const reach = (source: string): Set<string> => {
    const found = new Set([source]);
    for (const file of found) {
      // The list of all contracts would make each new domain a part of the routes that describe the API.
      if (/\/generated\//.test(file)) continue;
      for (const next of imports.get(file) ?? []) if (OWN.test(next)) found.add(next);
    }
    return found;
  };
  const routes = [...imports.keys()].filter((file) => /^app\/api\/.*\/route\.ts$/.test(file));
  return new Map(routes.map((route) => [route, reach(route)]));
}

function usage({ modules }: ICruiseResult, routes: Map<string, Set<string>>): Budgets {
  const used: Record<string, { lines: number; files: number; modules?: number }> = {};
  for (const { source } of modules) {
    const folder = /^(?:lib|packages)\/[^/]+(?=\/)/.exec(source)?.[0];
    if (!folder || !/\.tsx?$/.test(source) || /\/(?:dist|generated|tests)\//.test(source)) continue;
    const use = used[folder] ?? { lines: 0, files: 0 };
    used[folder] = use;
    use.files += 1;
    use.lines += readFileSync(join(projectRoot, source), "utf8").split("\n").length - 1;
  }
  for (const { source, dependencies } of modules) {
    const size = routes.get(source)?.size ?? 0;
    // The domains that the route itself names.
    for (const { resolved } of size === 0 ? [] : dependencies) {
      const use = used[/^lib\/[^/]+/.exec(resolved)?.[0] ?? ""];
      if (use) use.modules = Math.max(use.modules ?? 0, size);
    }
  }
  return used;
}

const entriesOf = (budget: Budget) => Object.entries(budget) as [keyof Budget, number][];

/** Reports budgets that the newest change of the file has raised without a reason. */
function* raisedBudgets(): Generator<string> {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: projectRoot,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  let before: Budgets;
  let after: Budgets;
  let message: string;
  try {
    const [commit = "", parent] = git("log", "-2", "--format=%H", "--", BUDGETS).trim().split("\n");
    if (!parent) return;
    before = JSON.parse(git("show", `${parent}:${BUDGETS}`));
    after = JSON.parse(git("show", `${commit}:${BUDGETS}`));
    message = git("log", "-1", "--format=%B", commit);
  } catch {
    // An archive has no history.
    return;
  }
  if (/^Budget: \S/m.test(message)) return;
  for (const [folder, budget] of Object.entries(before)) {
    for (const [what, limit] of entriesOf(budget)) {
      if ((after[folder]?.[what] ?? 0) <= limit) continue;
      yield `${BUDGETS}: ${folder} got more ${what} in a commit without a line "Budget: <reason>"`;
    }
  }
}

const options = await extractOptions(join(projectRoot, ".dependency-cruiser.cjs"));
const tsConfig = extractTsConfig(join(projectRoot, "tsconfig.base.json"));
const { output: graph } = await cruise(FOLDERS, options, undefined, { tsConfig });
if (typeof graph === "string") throw new Error("The import graph is not an object");
const { output, exitCode } = await format(graph, { outputType: "err" });
console.log(output);
const found = [...faults(graph)];
for (const fault of found) console.log(fault);
process.exitCode = exitCode || Math.min(found.length, 1);
