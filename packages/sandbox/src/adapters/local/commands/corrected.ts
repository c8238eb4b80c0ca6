/** Commands of just-bash with arguments that it would refuse, or would silently misinterpret. */
import { posix } from "node:path";
import { structuredPatch } from "diff";
import { type Command, type CommandContext, defineCommand, type ExecResult } from "just-bash";
import { withTimeFunctions } from "./awk-time.ts";
import { listWithTimes } from "./ls-time.ts";
import { failed, inputOf, printed } from "./options.ts";
import { parseTime, zoneOf } from "./time-zone.ts";

/** The short options whose value may be attached to them. */
const VALUED: Readonly<Record<string, string>> = {
  awk: "Fvf",
  gawk: "Fvf",
  od: "AjNtw",
  paste: "d",
  du: "d",
};

/** Splits values off the options that they are attached to, before the first operand of awk and in all of others. */
function splitAttached(name: string, args: readonly string[]): string[] {
  const valued = VALUED[name] ?? "";
  const result: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--" || (name.endsWith("awk") && !arg.startsWith("-")))
      return [...result, ...args.slice(at)];
    const [, flags = "", option = "", value = ""] =
      new RegExp(`^-([^-${valued}]*)([${valued}])(.*)$`, "s").exec(arg) ?? [];
    if (option === "") result.push(arg);
    else {
      if (flags !== "") result.push(`-${flags}`);
      result.push(`-${option}`);
      if (value !== "") result.push(value);
      else if (at + 1 < args.length) result.push(args[++at] ?? "");
    }
  }
  return result;
}

const VERSIONS: Readonly<Record<string, string>> = {
  awk: "GNU Awk 5.2.1 (compatible)",
  gawk: "GNU Awk 5.2.1 (compatible)",
  sed: "sed (GNU sed) 4.9 (compatible)",
  grep: "grep (GNU grep) 3.8 (compatible)",
  jq: "jq-1.7",
  tar: "tar (GNU tar) 1.34 (compatible)",
  ls: "ls (GNU coreutils) 9.1 (compatible)",
  sort: "sort (GNU coreutils) 9.1 (compatible)",
  bash: "GNU bash, version 5.1.0 (compatible)",
};

type Correct = (
  args: string[],
  context: CommandContext,
) => string[] | ExecResult | Promise<string[] | ExecResult>;

const corrections: Readonly<Record<string, Correct>> = {
  awk: withTimeFunctions,
  gawk: withTimeFunctions,
  cp: (args) =>
    args.flatMap((arg) =>
      /^-[a-zA-Z]*a/.test(arg) ? [arg.replace("a", "rp")] : arg === "--archive" ? ["-rp"] : [arg],
    ),
  /** The original does not know `--complement`. */
  cut(args) {
    const at = args.findIndex((arg) => /^-[fbc]./.test(arg));
    const list = at === -1 ? undefined : args[at]?.slice(2);
    if (!args.includes("--complement") || list === undefined) return args;
    let next = 1;
    const kept: string[] = [];
    const ranges = list.split(",").map((range) => range.split("-"));
    for (const [low = "", high = low] of ranges.sort(([a], [b]) => Number(a) - Number(b))) {
      if (Number(low) > next) kept.push(`${next}-${Number(low) - 1}`);
      next = Math.max(next, high === "" ? Number.POSITIVE_INFINITY : Number(high) + 1);
    }
    if (next !== Number.POSITIVE_INFINITY) kept.push(`${next}-`);
    const plain = args.with(at, `${args[at]?.slice(0, 2)}${kept.join(",")}`);
    return plain.filter((arg) => arg !== "--complement");
  },
  /** The original prints each difference as `diff -u` does, after a line that no other diff prints. */
  async diff(args, context) {
    const [left, right, ...others] = args.filter((arg) => !arg.startsWith("-") || arg === "-");
    const isUnified = args.some((arg) => /^-[a-zA-Z]*[uU]|^--unified/.test(arg));
    const result = await context.origCommand?.(args);
    if (!result?.stdout.startsWith("=====")) return result ?? args;
    if (isUnified) return { ...result, stdout: result.stdout.replace(/^=+\n/, "") };
    if (left === undefined || right === undefined || others.length > 0) return result;
    const [a, b] = await Promise.all([left, right].map((name) => inputOf(name, context)));
    return { ...result, stdout: normalDiff(`${a}`, `${b}`) };
  },
  du: (args) => {
    const at = args.indexOf("-d");
    return at === -1
      ? args
      : [...args.slice(0, at), `--max-depth=${args[at + 1]}`, ...args.slice(at + 2)];
  },
  /** The original refuses negative numbers. */
  async head(args, context) {
    const at = args.findIndex((arg) => /^(-n|--lines=)-\d+$/.test(arg) || arg === "-n");
    const count = Number(
      /-?\d+$/.exec(args[at] === "-n" ? (args[at + 1] ?? "") : (args[at] ?? "").slice(2))?.[0],
    );
    const [name, ...others] = args.toSpliced(at, args[at] === "-n" ? 2 : 1);
    if (at === -1 || !(count < 0) || others.length > 0) return args;
    const lines = (await inputOf(name, context)).toString("latin1").split(/(?<=\n)/);
    return { stdout: lines.slice(0, count).join(""), stdoutKind: "bytes", stderr: "", exitCode: 0 };
  },
  jq: (args) => args.map((arg) => arg.replace(/([{,]\s*)\$(\w+)(?=\s*[,}])/g, "$1$2: $$$2")),
  ln: (args) =>
    args.some((arg) => /^-[a-z]*s|^--symbolic$/.test(arg))
      ? failed("ln", "symbolic links are not available here; copy the file with cp")
      : args,
  async ls(args, context) {
    const options = args.filter((arg) => /^-./.test(arg));
    const names = args.filter((arg) => !/^-./.test(arg));
    const result = await listWithTimes(options, names, context);
    return {
      ...result,
      stderr: result.stderr.replace(/^ls: (.+): (No such file)/gm, "ls: cannot access '$1': $2"),
    };
  },
  // Without a file the original prints its usage.
  paste: (args) =>
    args.every((arg, at) => (arg.startsWith("-") && arg !== "-") || args[at - 1] === "-d")
      ? [...args, "-"]
      : args,
  /** The original encodes each byte of an escape sequence as a character. */
  async printf(args, { origCommand }) {
    const byte = /\\(?:x([89a-f][0-9a-f])|0?([23][0-7]{2}))/gi;
    if (args[0] === "-v" || !args.some((arg) => arg.search(byte) !== -1)) return args;
    const marked = args.map((arg) =>
      arg.replace(byte, (_, hex?: string, octal?: string) =>
        String.fromCharCode(
          MARK + (hex ? Number.parseInt(hex, 16) : Number.parseInt(octal ?? "", 8)),
        ),
      ),
    );
    const result = await origCommand?.(marked);
    if (!result) return args;
    const bytes = result.stdout.split(/([\uf700-\uf7ff])/).map((part) => {
      const code = part.charCodeAt(0) - MARK;
      return code >= 0 && code < 256 && part.length === 1 ? Buffer.from([code]) : Buffer.from(part);
    });
    return { ...result, stdout: Buffer.concat(bytes).toString("latin1"), stdoutKind: "bytes" };
  },
  /** The original prints the type of a file among its permissions. */
  async stat(args, context) {
    const at = args.findIndex((arg) => /^(-c|--format|--printf)/.test(arg));
    const joined = /^(?:-c|--(?:format|printf)=)(.+)$/s.exec(args[at] ?? "");
    const format = joined?.[1] ?? args[at + 1] ?? "";
    const names = args.slice(at + (joined ? 1 : 2));
    if (at === -1 || !format.includes("%a") || names.some((name) => name.startsWith("-")))
      return args;
    const output = { stdout: "", stderr: "", exitCode: 0 };
    for (const name of names) {
      const found = await context.fs
        .stat(context.fs.resolvePath(context.cwd, name))
        .catch(() => null);
      const mode = ((found?.mode ?? 0) & 0o7777).toString(8);
      const one = await context.origCommand?.([
        ...args.slice(0, at),
        "-c",
        format.replaceAll("%a", mode),
        name,
      ]);
      output.stdout += one?.stdout ?? "";
      output.stderr += one?.stderr ?? "";
      output.exitCode = Math.max(output.exitCode, one?.exitCode ?? 1);
    }
    return output;
  },
  /** The original aligns its counts in another column. */
  async uniq(args, { origCommand }) {
    const result = args.some((arg) => /^-[a-z]*c|^--count$/.test(arg))
      ? await origCommand?.(args)
      : null;
    return result
      ? {
          ...result,
          stdout: result.stdout.replace(/^ *(\d+) /gm, (_, n: string) => `${n.padStart(7)} `),
        }
      : args;
  },
  async sed(args, context) {
    const at = args.findIndex((arg) => /^(?:-[nErsz]*i|--in-place=)./s.test(arg));
    const [, flags = "", suffix = ""] =
      /^(?:-([nErsz]*)i|--in-place=)(.+)$/s.exec(args[at] ?? "") ?? [];
    if (suffix === "") return args;
    await backUp(suffix, args.slice(at + 1), context);
    return args.with(at, `-${flags}i`);
  },
  async touch(args, context) {
    const at = args.findIndex((arg) => /^(-d|--date=)/.test(arg));
    const inOwn = args[at]?.replace(/^(-d|--date=)/, "") ?? "";
    const given = inOwn || args[at + 1];
    if (at === -1 || given === undefined) return args;
    const zone = zoneOf(context.env.get("TZ"));
    const ms = parseTime(given, Date.now(), zone);
    if (ms === null) return failed("touch", `invalid date format '${given}'`);
    return args.toSpliced(at, inOwn ? 1 : 2, "-d", new Date(ms).toISOString());
  },
};

export const correctedCommand = (name: string): Command =>
  defineCommand(name, async (args, context) => {
    const version = VERSIONS[name];
    if (version && args.length === 1 && args[0] === "--version") return printed(`${version}\n`);
    const split = VALUED[name] ? splitAttached(name, args) : args;
    const corrected = (await corrections[name]?.(split, context)) ?? split;
    if (!Array.isArray(corrected)) return corrected;
    const original = name === "gawk" ? "awk" : name;
    if (name !== original && context.exec) {
      return context.exec(original, {
        cwd: context.cwd,
        args: corrected,
        stdin: context.stdin as unknown as string,
        stdinKind: "bytes",
      });
    }
    return (await context.origCommand?.(corrected)) ?? failed(name, "command not found", 127);
  });

/** The first of the characters that encode bytes. */
const MARK = 0xf700;

function normalDiff(a: string, b: string): string {
  const { hunks } = structuredPatch("", "", a, b, "", "", { context: 0, timeout: 5_000 }) ?? {
    hunks: [],
  };
  const range = (start: number, lines: number) =>
    lines > 1 ? `${start},${start + lines - 1}` : `${start}`;
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) => {
      const removed = lines
        .filter((line) => line.startsWith("-"))
        .map((line) => `< ${line.slice(1)}\n`);
      const added = lines
        .filter((line) => line.startsWith("+"))
        .map((line) => `> ${line.slice(1)}\n`);
      const action = oldLines === 0 ? "a" : newLines === 0 ? "d" : "c";
      const [from, to] = [
        range(oldLines === 0 ? oldStart - 1 : oldStart, oldLines),
        range(newLines === 0 ? newStart - 1 : newStart, newLines),
      ];
      return `${from}${action}${to}\n${removed.join("")}${action === "c" ? "---\n" : ""}${added.join("")}`;
    })
    .join("");
}

/** Replaces files by copies before `sed -i.bak`, whose suffix just-bash ignores. */
async function backUp(suffix: string, names: readonly string[], { fs, cwd }: CommandContext) {
  for (const name of names) {
    const path = fs.resolvePath(cwd, name);
    const found = await fs.stat(path).catch(() => null);
    if (found?.isFile)
      await fs.cp(
        path,
        suffix.includes("*")
          ? posix.join(posix.dirname(path), suffix.replaceAll("*", posix.basename(path)))
          : path + suffix,
      );
  }
}
