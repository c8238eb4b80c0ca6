/** The commands `zip` and `unzip`. */
import { posix } from "node:path";
import { inflateRawSync } from "node:zlib";
import { type Zippable, zipSync } from "fflate";
import { type Command, type CommandContext, defineCommand } from "just-bash";
import { failed, optionsOf, printed, printedBytes, reasonOf } from "./options.ts";
import { formatTime } from "./time-zone.ts";

const MAX_ENTRIES = 20_000;
/** The limit of a member and of an archive, which are held in memory. */
const MAX_BYTES = 32 * 1024 * 1024;
const SYMLINK = 0o120_000;
const FIRST_TIME = Date.UTC(1980, 0, 2);

interface Member {
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
  readonly isLink: boolean;
  /** Throws an Error for content that does not have its size. */
  readonly content: () => Uint8Array;
}

/** Reads the table of an archive. Throws an Error. */
function membersOf(zip: Buffer): Member[] {
  const end = zip.lastIndexOf("PK\x05\x06", undefined, "latin1");
  if (end === -1 || end + 22 > zip.length)
    throw new Error("End-of-central-directory signature not found");
  const count = zip.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) throw new Error("too many files in the archive");
  const members: Member[] = [];
  for (let at = zip.readUInt32LE(end + 16), index = 0; index < count; index++) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error("the central directory is damaged");
    const [flags, method] = [zip.readUInt16LE(at + 8), zip.readUInt16LE(at + 10)];
    const [time, day] = [zip.readUInt16LE(at + 12), zip.readUInt16LE(at + 14)];
    const [packed, size] = [zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 24)];
    const [nameLength, extra] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)];
    const start = zip.readUInt32LE(at + 42);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    const content = () => {
      if (flags & 1) throw new Error("encrypted files are not supported");
      if (size > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES} bytes`);
      const from = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
      const bytes = zip.subarray(from, from + packed);
      if (method !== 0 && method !== 8)
        throw new Error(`compression method ${method} is not supported`);
      const plain =
        method === 0 ? bytes : inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) });
      if (plain.length !== size) throw new Error("the content is damaged");
      return plain;
    };
    members.push({
      name,
      size,
      modified: new Date(
        Date.UTC(
          1980 + (day >> 9),
          ((day >> 5) & 15) - 1,
          day & 31,
          time >> 11,
          (time >> 5) & 63,
          (time & 31) * 2,
        ),
      ),
      isLink: ((zip.readUInt32LE(at + 38) >>> 16) & 0o170_000) === SYMLINK,
      content,
    });
    at += 46 + nameLength + extra + zip.readUInt16LE(at + 32);
  }
  return members;
}

const isUnsafe = (name: string) =>
  name.startsWith("/") || /[\0\\]/.test(name) || name.split("/").includes("..");

const matcher = (pattern: string): ((name: string) => boolean) => {
  const parts = pattern.split(/(\*|\?)/).map((part) => {
    if (part === "*") return ".*";
    return part === "?" ? "." : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  const expression = new RegExp(`^${parts.join("").replace(/(\.\*)+/g, ".*")}$`, "s");
  return (name) => expression.test(name);
};

const flag = (short: string) => ({ type: "boolean", short }) as const;
const UNZIP_OPTIONS = {
  list: flag("l"),
  overwrite: flag("o"),
  never: flag("n"),
  pipe: flag("p"),
  quiet: flag("q"),
  junk: flag("j"),
  names: flag("Z"),
  one: flag("1"),
  test: flag("t"),
  folder: { type: "string", short: "d" },
  exclude: { type: "string", short: "x", multiple: true },
} as const;

export const unzipCommand: Command = defineCommand("unzip", async (args, context) => {
  const { fs, cwd } = context;
  const parsed = optionsOf(args, UNZIP_OPTIONS);
  if (typeof parsed === "string") return failed("unzip", parsed, 10);
  const { values, positionals } = parsed;
  const [archive, ...patterns] = positionals;
  if (archive === undefined) return failed("unzip", "no archive is given", 10);
  let found: Member[];
  let name = fs.resolvePath(cwd, archive);
  try {
    if (!(await fs.exists(name)) && (await fs.exists(`${name}.zip`))) name += ".zip";
    found = membersOf(Buffer.from(await fs.readFileBuffer(name)));
  } catch (error) {
    return failed("unzip", `cannot find or open ${archive}: ${reasonOf(error)}`, 9);
  }
  const [wanted, excluded] = [patterns.map(matcher), (values.exclude ?? []).map(matcher)];
  const members = found.filter(
    ({ name }) =>
      (wanted.length === 0 || wanted.some((matches) => matches(name))) &&
      !excluded.some((matches) => matches(name)),
  );
  const title = `Archive:  ${archive}\n`;
  if (wanted.length > 0 && members.length === 0)
    return failed("caution", "filename not matched", 11);
  if (values.names || values.one)
    return printed(members.map((member) => `${member.name}\n`).join(""));
  const total = members.reduce((sum, { size }) => sum + size, 0);
  if (values.list) {
    const rows = members.map(
      ({ name, size, modified }) =>
        `${String(size).padStart(9)}  ${formatTime("%Y-%m-%d %H:%M", modified.getTime(), "UTC")}   ${name}\n`,
    );
    const head = "  Length      Date    Time    Name\n---------  ---------- -----   ----\n";
    const files = `${members.length} file${members.length === 1 ? "" : "s"}`;
    const foot = `---------                     -------\n${String(total).padStart(9)}                     ${files}\n`;
    return printed(title + head + rows.join("") + foot);
  }
  let [stdout, stderr, exitCode] = [values.quiet ? "" : title, "", 0];
  const problem = (text: string) => {
    stderr += `unzip: ${text}\n`;
    exitCode = Math.max(exitCode, 1);
  };
  const contents: Uint8Array[] = [];
  let extracted = 0;
  for (const member of members) {
    const isFolder = member.name.endsWith("/");
    if (isUnsafe(member.name) || member.isLink) {
      problem(
        `${member.name}: skipped, because it is ${member.isLink ? "a link" : "outside the folder"}`,
      );
      exitCode = 2;
      continue;
    }
    try {
      extracted += member.size;
      if (extracted > 8 * MAX_BYTES)
        throw new Error(`the archive is larger than ${8 * MAX_BYTES} bytes`);
      if (values.pipe || values.test) {
        const content = member.content();
        if (!values.test) contents.push(content);
        if (!values.test && extracted > MAX_BYTES)
          throw new Error(`larger than ${MAX_BYTES} bytes`);
        continue;
      }
      const target = values.junk ? posix.basename(member.name) : member.name;
      const shown = posix.join(values.folder ?? "", target);
      const path = fs.resolvePath(cwd, shown);
      if (isFolder) {
        if (!values.junk) await fs.mkdir(path, { recursive: true });
        continue;
      }
      if (await fs.exists(path)) {
        if (values.never) continue;
        if (!values.overwrite) {
          problem(`${shown}: skipped, because it exists; use -o to replace it, or -n to keep it`);
          continue;
        }
      }
      const content = member.content();
      await fs.mkdir(posix.dirname(path), { recursive: true });
      await fs.writeFile(path, content);
      await fs.utimes(path, member.modified, member.modified);
      if (!values.quiet) stdout += `  inflating: ${shown}  \n`;
    } catch (error) {
      problem(`${member.name}: ${reasonOf(error)}`);
      exitCode = 2;
    }
  }
  if (values.pipe) return printedBytes(Buffer.concat(contents), stderr, exitCode);
  return printed(
    values.test && exitCode === 0 ? `No errors detected in ${archive}.\n` : stdout,
    stderr,
    exitCode,
  );
});

const ZIP_OPTIONS = {
  recurse: flag("r"),
  quiet: flag("q"),
  junk: flag("j"),
  symlinks: flag("y"),
  update: flag("u"),
  delete: flag("d"),
  extra: flag("X"),
  folders: flag("D"),
  ...Object.fromEntries([..."0123456789"].map((level) => [`level${level}`, flag(level)])),
  exclude: { type: "string", short: "x", multiple: true },
} as const;

export const zipCommand: Command = defineCommand("zip", async (args, context) => {
  const { fs, cwd } = context;
  // Each operand after -x is a pattern.
  const cut = args.indexOf("-x");
  const parsed = optionsOf(cut === -1 ? args : args.slice(0, cut), ZIP_OPTIONS);
  if (typeof parsed === "string") return failed("zip error", parsed, 16);
  const { values, positionals } = parsed;
  const patterns = [...(values.exclude ?? []), ...(cut === -1 ? [] : args.slice(cut + 1))].map(
    matcher,
  );
  const [given, ...names] = positionals;
  if (given === undefined || names.length === 0) return failed("zip error", "Nothing to do!", 12);
  const shown = posix.extname(given) === "" ? `${given}.zip` : given;
  const path = fs.resolvePath(cwd, shown);
  const level = "level0" in values ? 0 : 6;
  // A member may have any name, also __proto__.
  const entries: Zippable = Object.create(null);
  let bytes = 0;
  const add = (name: string, content: Uint8Array, modified: Date): void => {
    bytes += content.length;
    if (bytes > 4 * MAX_BYTES) throw new Error(`more than ${4 * MAX_BYTES} bytes`);
    // The format has no earlier time.
    entries[name] = [content, { mtime: new Date(Math.max(modified.getTime(), FIRST_TIME)), level }];
  };
  try {
    if (await fs.exists(path)) {
      for (const { name, content, modified } of membersOf(
        Buffer.from(await fs.readFileBuffer(path)),
      )) {
        add(name, name.endsWith("/") ? new Uint8Array() : content(), modified);
      }
    }
    let stdout = "";
    let missing = "";
    const note = (action: string, name: string) => {
      if (!values.quiet) stdout += `${action.padStart(10)}: ${name}\n`;
    };
    if (values.delete) {
      for (const name of Object.keys(entries).filter((entry) =>
        names.some((pattern) => matcher(pattern)(entry)),
      )) {
        delete entries[name];
        note("deleting", name);
      }
    } else {
      const { files, absent } = await collect(names, values.recurse === true, context);
      missing = absent.map((name) => `zip warning: name not matched: ${name}\n`).join("");
      for (const { name, file, isFolder, mtime } of files) {
        if (file === path || (isFolder && (values.junk || values.folders))) continue;
        const stored = values.junk ? posix.basename(name) : name.replace(/^(\.{0,2}\/)+/, "");
        if (stored === "" || stored === "." || patterns.some((matches) => matches(stored)))
          continue;
        const entry = isFolder ? `${stored}/` : stored;
        note(entries[entry] ? "updating" : "adding", entry);
        add(entry, isFolder ? new Uint8Array() : await fs.readFileBuffer(file), mtime);
      }
    }
    if (Object.keys(entries).length === 0)
      return failed("zip error", `Nothing to do! (${shown})`, 12);
    await fs.writeFile(path, zipSync(entries));
    return printed(stdout, missing, missing ? 18 : 0);
  } catch (error) {
    return failed("zip error", reasonOf(error), 15);
  }
});

async function collect(names: readonly string[], recurse: boolean, { fs, cwd }: CommandContext) {
  const files: { name: string; file: string; isFolder: boolean; mtime: Date }[] = [];
  const absent: string[] = [];
  const pending = [...names].reverse();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const clean = name.replace(/\/+$/, "") || "/";
    const file = fs.resolvePath(cwd, clean);
    const found = await fs.stat(file).catch(() => null);
    if (!found) absent.push(name);
    else {
      files.push({ name: clean, file, isFolder: found.isDirectory, mtime: found.mtime });
      if (files.length > MAX_ENTRIES) throw new Error("too many files");
      if (!found.isDirectory || !recurse) continue;
      pending.push(
        ...(await fs.readdir(file))
          .sort()
          .reverse()
          .map((inner) => posix.join(clean, inner)),
      );
    }
  }
  return { files, absent };
}
