#!/usr/bin/env node
/**
 * The command line. Exit codes: 0 success, 1 failure, 2 a wrong command line, 3 a credential that is
 * missing or refused, 4 a run that waits for approvals, 130 Ctrl-C.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ApiError } from "../api-error.ts";
import { createClient } from "../create-client.ts";
import { chat } from "./chat.ts";
import type { Command, Context } from "./command.ts";
import { evaluate } from "./eval/eval.ts";
import { files } from "./files.ts";
import { keys } from "./keys.ts";
import { login } from "./login.ts";
import { createOutput } from "./output.ts";
import { run } from "./run.ts";
import { runs } from "./runs.ts";
import { readSettings } from "./settings.ts";
import { skills } from "./skills.ts";
import { tasks } from "./tasks.ts";
import { UsageError } from "./usage-error.ts";

const commands: Readonly<Record<string, Command>> = {
  login,
  chat,
  run,
  runs,
  files,
  skills,
  keys,
  tasks,
  eval: evaluate,
};

const { argv, env, stdout, stderr } = process;

async function main([name = "--help", ...rest]: readonly string[]): Promise<number> {
  const out = createOutput(rest.includes("--json"), { stdout, stderr, env });
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort(new Error("Interrupted")));
  try {
    if (name === "--help" || name === "-h" || name === "help") {
      out.result(Object.keys(commands), describeAll);
      return 0;
    }
    if (name === "--version" || name === "version") {
      out.result({ version: readVersion() }, ({ version }) => version);
      return 0;
    }
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!command) throw new UsageError(`Unknown command ${JSON.stringify(name)}`);
    const { values, positionals } = parse(command, rest);
    if (values.help) {
      out.result(command.usage, () => describe(command));
      return 0;
    }
    const settings = readSettings(env);
    if (settings.apiKey === undefined && command !== login) {
      out.error(
        `Not signed in to ${settings.baseUrl}. Run "agent-platform login", or set AGENT_PLATFORM_API_KEY.`,
      );
      return 3;
    }
    const client = createClient({
      ...settings,
      onRetry: (attempt) => out.progress(`Connection lost, retrying (${attempt})`),
    });
    const { signal } = interrupted;
    return await command.run({
      client,
      settings,
      env,
      out,
      args: positionals,
      options: values,
      signal,
    });
  } catch (error) {
    if (interrupted.signal.aborted) return 130;
    if (error instanceof ApiError) {
      out.error(error.message);
      if (error.requestId !== null) out.progress(`Request ${error.requestId}`);
      return error.status === 401 || error.status === 403 ? 3 : 1;
    }
    out.error(error instanceof Error ? reasonOf(error) : String(error));
    if (!(error instanceof UsageError)) return 1;
    out.error('See "agent-platform --help".');
    return 2;
  }
}

function readVersion(): string {
  const manifest = new URL("../../package.json", import.meta.url);
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}

function parse({ options }: Command, args: readonly string[]) {
  const common = { json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;
  try {
    const config = { args: [...args], options: { ...options, ...common }, allowPositionals: true };
    const { values, positionals } = parseArgs(config);
    return { values: values as Context["options"], positionals };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** A failed connection has its reason in `cause`. */
const reasonOf = ({ message, cause }: Error): string =>
  cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;

const describe = ({ usage, about }: Command): string[] => [
  ...usage.map((line) => `agent-platform ${line}`),
  `    ${about}`,
];

const describeAll = (): string[] => [
  "The command line of the Agent Platform API.",
  "",
  ...Object.values(commands).flatMap((command) => [...describe(command), ""]),
  "Every command takes --json and --help; --version prints the version. AGENT_PLATFORM_URL and",
  "AGENT_PLATFORM_API_KEY count before what login has stored.",
];

process.exitCode = await main(argv.slice(2));
