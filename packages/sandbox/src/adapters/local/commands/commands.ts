/** The commands that this sandbox adds to just-bash's, or replaces, each loaded at its first use. */
import { type Command, type CustomCommand, defineCommand } from "just-bash";
import { failed, printed } from "./options.ts";

/** The alternative to each absent program that models try. */
const ABSENT: readonly (readonly [names: string, alternative: string])[] = [
  ["git svn hg", "keep versions of a file under other names"],
  ["wget aria2c", "use curl, or the tool fetch"],
  ["pip pip3 uv conda poetry pipx", "python3 has its standard library and no packages"],
  ["node npm npx yarn pnpm bun deno", "use python3, jq or awk"],
  [
    "apt apt-get yum dnf apk brew sudo su",
    "no program can be installed, and none needs more rights",
  ],
  ["docker podman kubectl systemctl service crontab", "only commands on files run here"],
  [
    "ffmpeg ffprobe sox lame mediainfo exiftool convert magick",
    "media files cannot be changed here",
  ],
  [
    "pandoc pdftotext pdftoppm qpdf libreoffice soffice wkhtmltopdf",
    "use the tools read and write, which know documents",
  ],
  [
    "vim vi nano emacs ed less more top htop man",
    "no program can be interactive; use sed, cat or head",
  ],
  ["ssh scp sftp rsync ftp telnet nc ping", "only curl reaches the network; copy files with cp"],
  ["psql mysql mongosh redis-cli", "use sqlite3 for files, or the tools for data"],
  ["perl ruby php java gcc cc make go cargo rustc R", "use python3, awk or sed"],
];

/** The commands of just-bash whose arguments are corrected. */
const CORRECTED =
  "awk bash cp cut diff du gawk grep head jq ln ls od paste printf sed sort stat tar touch uniq".split(
    " ",
  );

const lazy = (name: string, load: () => Promise<Command>): CustomCommand => ({ name, load });

/** A command of this sandbox, which says so where a script asks for its version. */
const own = (name: string, load: () => Promise<Command>): CustomCommand =>
  lazy(name, async () => {
    const command = await load();
    return defineCommand(name, async (args, context) =>
      /^--(?:version|help)$/.test(args[0] ?? "")
        ? printed(`${name} of this sandbox, compatible with the usual options\n`)
        : command.execute(args, context),
    );
  });

const absentCommands = ABSENT.flatMap(([names, alternative]) =>
  names
    .split(" ")
    .map((name) =>
      defineCommand(name, async () =>
        failed("bash", `${name} is not available here; ${alternative}`, 127),
      ),
    ),
);

/** @param outside runs work outside the restrictions of the shell's commands */
export const addedCommands = (outside: <T>(work: () => T) => T): CustomCommand[] => [
  ...absentCommands,
  ...(["cmp", "install", "mktemp", "realpath", "shuf"] as const).map((name) =>
    own(name, () => outside(async () => (await import("./coreutils.ts"))[`${name}Command`])),
  ),
  ...(["zip", "unzip"] as const).map((name) =>
    own(name, () => outside(async () => (await import("./zip.ts"))[`${name}Command`])),
  ),
  ...(["xxd", "iconv"] as const).map((name) =>
    own(name, () => outside(async () => (await import("./bytes.ts"))[`${name}Command`])),
  ),
  own("bc", () => outside(async () => (await import("./bc.ts")).bcCommand)),
  own("date", () => outside(async () => (await import("./date.ts")).dateCommand)),
  own("xargs", () => outside(async () => (await import("./xargs.ts")).xargsCommand)),
  ...CORRECTED.map((name) =>
    lazy(name, () => outside(async () => (await import("./corrected.ts")).correctedCommand(name))),
  ),
];
