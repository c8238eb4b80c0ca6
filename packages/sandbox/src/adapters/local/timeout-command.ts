/**
 * The command `timeout` of GNU coreutils. The one of just-bash drops the output until the deadline, and cannot end a
 * program that keeps the thread.
 */
import { parseArgs } from "node:util";
import { type Command, type CommandContext, defineCommand, type ExecResult } from "just-bash";
import { type Announce, withDeadline } from "./deadlines.ts";
import { withOwnOutput } from "./live-output.ts";

/** The status of a command that was ended. */
const TIMED_OUT = 124;
/** The status of `timeout` when it fails itself. */
const FAILED = 125;
const USAGE = "timeout [-k DURATION] [-s SIGNAL] [--preserve-status] DURATION COMMAND [ARG]...";
/** Twelve days, which every timer takes. */
const MAX_MS = 2 ** 30;
const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ "": 1_000, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
};
const SIGNALS: Readonly<Record<string, number>> = {
  ...{ HUP: 1, INT: 2, QUIT: 3, ABRT: 6, KILL: 9, USR1: 10, USR2: 12, ALRM: 14, TERM: 15 },
};
const OPTIONS = {
  "kill-after": { type: "string", short: "k" },
  signal: { type: "string", short: "s" },
  "preserve-status": { type: "boolean", short: "p" },
  foreground: { type: "boolean", short: "f" },
  verbose: { type: "boolean", short: "v" },
  help: { type: "boolean" },
} as const;

/** @param outside runs work outside the restrictions of the shell's commands */
export const timeoutCommand = (announce: Announce, outside: <T>(work: () => T) => T): Command =>
  defineCommand("timeout", async (args, context) => {
    const parsed = parse(args);
    if (typeof parsed === "string") return failed(parsed);
    const { ms, command, status } = parsed;
    if (command === null) return { stdout: `Usage: ${USAGE}\n`, stderr: "", exitCode: 0 };
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, ...(context.signal ? [context.signal] : [])]);
    const run = () => start(command, context, signal);
    if (ms === 0) return run();
    const expire = () => stop.abort();
    const timer = outside(() => setTimeout(expire, ms));
    try {
      const { result, printed } = await withOwnOutput(() =>
        withDeadline(ms, expire, announce, run),
      );
      return stop.signal.aborted ? { ...printed, exitCode: status } : result;
    } finally {
      outside(() => clearTimeout(timer));
    }
  });

async function start(
  [name = "", ...args]: string[],
  { exec, cwd, stdin }: CommandContext,
  signal: AbortSignal,
): Promise<ExecResult> {
  if (!exec) return failed("no command can be run here");
  const quoted = `'${name.replaceAll("'", "'\\''")}'`;
  const input = stdin as unknown as string;
  return exec(quoted, { cwd, signal, stdin: input, stdinKind: "bytes", args });
}

const failed = (problem: string): ExecResult => ({
  stdout: "",
  stderr: `timeout: ${problem}\nUsage: ${USAGE}\n`,
  exitCode: FAILED,
});

/**
 * Returns the problem as a text. The command is null for `--help`, and 0 ms means no limit. `--kill-after` has no
 * effect, because nothing outlives the first signal.
 */
function parse(args: string[]) {
  const common = { options: OPTIONS, allowPositionals: true, tokens: true } as const;
  const first = parseArgs({ args, strict: false, ...common }).tokens.find(
    ({ kind }) => kind !== "option",
  );
  const own = args.slice(0, first?.index);
  const [duration, ...command] = args.slice(own.length + (first?.kind === "positional" ? 0 : 1));
  let values: ReturnType<typeof parseArgs<typeof common>>["values"];
  try {
    ({ values } = parseArgs({ args: own, ...common }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (values.help) return { ms: 0, command: null, status: 0 };
  if (duration === undefined || command.length === 0) return "missing operand";
  const { signal: given = "TERM", "kill-after": killAfter = "0" } = values;
  const [ms, killMs] = [msOf(duration), msOf(killAfter)];
  if (ms === null || killMs === null) {
    return `invalid time interval '${ms === null ? duration : killAfter}'`;
  }
  const signal = /^\d{1,2}$/.test(given)
    ? Number(given)
    : SIGNALS[given.toUpperCase().replace(/^SIG/, "")];
  if (signal === undefined) return `invalid signal '${given}'`;
  const keepsStatus = values["preserve-status"] || signal === SIGNALS.KILL;
  return { ms, command, status: keepsStatus ? 128 + signal : TIMED_OUT };
}

function msOf(duration: string): number | null {
  const [, number, unit = ""] = /^(\d+\.?\d*|\.\d+)([smhd]?)$/.exec(duration) ?? [];
  return number === undefined ? null : Math.min(Number(number) * (UNIT_MS[unit] ?? 0), MAX_MS);
}
