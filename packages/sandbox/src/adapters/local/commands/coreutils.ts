/** Commands of GNU coreutils that just-bash does not have. */
import { randomInt, randomUUID } from "node:crypto";
import { posix } from "node:path";
import { type Command, decodeBytesToUtf8, defineCommand } from "just-bash";
import { failed, inputOf, optionsOf, printed, reasonOf } from "./options.ts";

const flag = (short: string) => ({ type: "boolean", short }) as const;
const text = (short: string) => ({ type: "string", short }) as const;
const MAX_LINES = 1_000_000;

export const installCommand: Command = defineCommand("install", async (args, { fs, cwd }) => {
  const parsed = optionsOf(args, {
    ...{
      directory: flag("d"),
      parents: flag("D"),
      verbose: flag("v"),
      preserve: flag("p"),
      c: flag("c"),
    },
    ...{ mode: text("m"), owner: text("o"), group: text("g"), "target-directory": text("t") },
  });
  if (typeof parsed === "string") return failed("install", parsed);
  const { values, positionals } = parsed;
  const mode = values.mode ?? "755";
  if (!/^0?[0-7]{3,4}$/.test(mode)) return failed("install", `invalid mode '${mode}'`);
  const folder = values["target-directory"];
  const target = values.directory ? undefined : (folder ?? positionals.pop());
  if (positionals.length === 0) return failed("install", "missing file operand");
  const bits = Number.parseInt(mode, 8) & 0o777;
  let problems = "";
  const path = target === undefined ? "" : fs.resolvePath(cwd, target);
  const isFolder = async () => (await fs.stat(path).catch(() => null))?.isDirectory === true;
  if (folder !== undefined && values.parents) await fs.mkdir(path, { recursive: true });
  const intoFolder = target !== undefined && (await isFolder());
  if (!values.directory && !intoFolder && (positionals.length > 1 || folder !== undefined)) {
    return failed("install", `target '${target}' is not a directory`);
  }
  for (const name of positionals) {
    const source = fs.resolvePath(cwd, name);
    const final = values.directory
      ? source
      : intoFolder
        ? posix.join(path, posix.basename(name))
        : path;
    try {
      if (values.directory) await fs.mkdir(source, { recursive: true });
      else {
        const content = await fs.readFileBuffer(source);
        if (values.parents && !intoFolder)
          await fs.mkdir(posix.dirname(final), { recursive: true });
        await fs.writeFile(final, content);
      }
      await fs.chmod(final, bits);
    } catch (error) {
      const shown = (await fs.exists(source)) ? (target ?? name) : name;
      problems += `install: cannot ${values.directory ? "create directory" : "install"} '${shown}': ${reasonOf(error)}\n`;
    }
  }
  return printed("", problems);
});

export const shufCommand: Command = defineCommand("shuf", async (args, context) => {
  const parsed = optionsOf(args, {
    ...{ echo: flag("e"), repeat: flag("r"), "zero-terminated": flag("z") },
    ...{
      "input-range": text("i"),
      "head-count": text("n"),
      output: text("o"),
      "random-source": { type: "string" },
    },
  });
  if (typeof parsed === "string") return failed("shuf", parsed);
  const { values, positionals } = parsed;
  const end = values["zero-terminated"] ? "\0" : "\n";
  let lines: string[];
  if (values["input-range"] !== undefined) {
    const [, low, high] = /^(\d{1,15})-(\d{1,15})$/.exec(values["input-range"]) ?? [];
    const count = Number(high) - Number(low) + 1;
    if (!(count >= 0 && count <= MAX_LINES))
      return failed("shuf", `invalid input range: '${values["input-range"]}'`);
    lines = Array.from({ length: count }, (_, index) => String(Number(low) + index));
  } else if (values.echo) lines = [...positionals];
  else {
    const bytes = await inputOf(positionals[0], context).catch(reasonOf);
    if (typeof bytes === "string") return failed("shuf", `${positionals[0]}: ${bytes}`);
    lines = decodeBytesToUtf8(bytes.toString("latin1") as never).split(end);
    if (lines.at(-1) === "") lines.pop();
  }
  const wanted = Number(values["head-count"] ?? (values.repeat ? MAX_LINES : lines.length));
  if (!Number.isSafeInteger(wanted) || wanted < 0)
    return failed("shuf", `invalid line count: '${values["head-count"]}'`);
  const chosen: string[] = [];
  while (
    chosen.length < Math.min(wanted, values.repeat ? MAX_LINES : lines.length) &&
    lines.length > 0
  ) {
    const from = values.repeat ? 0 : chosen.length;
    const at = randomInt(from, lines.length);
    const line = lines[at] ?? "";
    if (!values.repeat) [lines[at], lines[from]] = [lines[from] ?? "", line];
    chosen.push(line);
  }
  const output = chosen.map((line) => line + end).join("");
  if (values.output === undefined) return printed(output);
  await context.fs.writeFile(context.fs.resolvePath(context.cwd, values.output), output);
  return printed("");
});

export const realpathCommand: Command = defineCommand("realpath", async (args, { fs, cwd }) => {
  const parsed = optionsOf(args, {
    ...{
      "canonicalize-existing": flag("e"),
      "canonicalize-missing": flag("m"),
      quiet: flag("q"),
      strip: flag("s"),
    },
    ...{ zero: flag("z"), "relative-to": { type: "string" }, "relative-base": { type: "string" } },
  });
  if (typeof parsed === "string") return failed("realpath", parsed);
  const { values, positionals } = parsed;
  if (positionals.length === 0) return failed("realpath", "missing operand");
  let [stdout, stderr] = ["", ""];
  const base = values["relative-to"];
  for (const name of positionals) {
    const path = posix.resolve(fs.resolvePath(cwd, name));
    const real = await fs.realpath(path).catch(() => null);
    const needed = values["canonicalize-existing"] ? path : posix.dirname(path);
    if (
      real === null &&
      !values["canonicalize-missing"] &&
      !(real === null && needed !== path && (await fs.exists(needed)))
    ) {
      stderr += values.quiet ? "" : `realpath: ${name}: No such file or directory\n`;
      if (values.quiet) return printed(stdout, "", 1);
      continue;
    }
    const found = real ?? path;
    stdout +=
      (base === undefined ? found : posix.relative(fs.resolvePath(cwd, base), found) || ".") +
      (values.zero ? "\0" : "\n");
  }
  return printed(stdout, stderr);
});

export const mktempCommand: Command = defineCommand("mktemp", async (args, { fs, cwd, env }) => {
  // The value of these options is optional.
  const given = args.map((arg) =>
    arg === "--tmpdir" ? "-t" : arg.replace(/^--tmpdir=/, "--folder="),
  );
  const parsed = optionsOf(given, {
    ...{ directory: flag("d"), "dry-run": flag("u"), quiet: flag("q"), t: flag("t") },
    ...{ folder: text("p"), suffix: { type: "string" } },
  });
  if (typeof parsed === "string") return failed("mktemp", parsed);
  const { values, positionals } = parsed;
  const template = (positionals[0] ?? "tmp.XXXXXXXXXX") + (values.suffix ?? "");
  const [, before, marks, after] = /^(.*?)(X{3,})([^X/]*)$/s.exec(template) ?? [];
  if (marks === undefined) return failed("mktemp", `too few X's in template '${template}'`);
  const name =
    before +
    randomUUID().replaceAll("-", "").padEnd(marks.length, "0").slice(0, marks.length) +
    after;
  const inTemporary = positionals.length === 0 || values.t || values.folder !== undefined;
  const shown = inTemporary ? posix.join(values.folder ?? env.get("TMPDIR") ?? "/tmp", name) : name;
  const path = fs.resolvePath(cwd, shown);
  try {
    if (values["dry-run"]) return printed(`${shown}\n`);
    if (values.directory) await fs.mkdir(path);
    else await fs.writeFile(path, "");
    await fs.chmod(path, values.directory ? 0o700 : 0o600);
    return printed(`${shown}\n`);
  } catch (error) {
    const kind = values.directory ? "directory" : "file";
    return failed(
      "mktemp",
      `failed to create ${kind} via template '${template}': ${reasonOf(error)}`,
    );
  }
});

export const cmpCommand: Command = defineCommand("cmp", async (args, context) => {
  const parsed = optionsOf(args, {
    silent: flag("s"),
    quiet: { type: "boolean" },
    verbose: flag("l"),
  });
  if (typeof parsed === "string") return failed("cmp", parsed, 2);
  const [first, second = "-"] = parsed.positionals;
  if (first === undefined) return failed("cmp", "missing operand", 2);
  const contents: Buffer[] = [];
  for (const name of [first, second]) {
    const bytes = await inputOf(name, context).catch(reasonOf);
    if (typeof bytes === "string") return failed("cmp", `${name}: ${bytes}`, 2);
    contents.push(bytes);
  }
  const [a = Buffer.alloc(0), b = Buffer.alloc(0)] = contents;
  if (a.equals(b)) return printed("");
  if (parsed.values.silent || parsed.values.quiet) return printed("", "", 1);
  const at = a.findIndex((byte, index) => byte !== b[index]);
  if (at === -1 || at >= b.length) {
    return failed(
      "cmp",
      `EOF on ${a.length < b.length ? first : second} after byte ${Math.min(a.length, b.length)}`,
    );
  }
  const line = a.subarray(0, at).toString("latin1").split("\n").length;
  return printed(`${first} ${second} differ: byte ${at + 1}, line ${line}\n`, "", 1);
});
