/**
 * The copies that a backup makes while commands replace folders, and of files that they make to break it.
 * This file is long because backups and restores share one installation's folders.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Headers } from "tar-stream";
import { beforeEach, describe, expect, test } from "vitest";
import { type LeaveOut, LeftOut } from "../../scripts/backup/left-out.ts";
import { linkSandboxes, removeLinks } from "../../scripts/backup/link-sandboxes.ts";
import { readArchive } from "../../scripts/backup/read-archive.ts";
import { writeArchive } from "../../scripts/backup/write-archive.ts";
import { compress, forge } from "../support/harness/backups.ts";

const HOME = "sandboxes/7e0cf0a5-b3f4-4ab0-9d6c-5ad6f4a5e5b1/home";
const HEADER = {
  format: 1,
  createdAt: "2026-11-28T00:00:00Z",
  postgres: 17,
  migrations: [],
} as const;

let dataDir: string;
let home: string;
/** A folder of the machine that no command may reach. */
let host: string;
let file: string;
/** The folder into which the backup is restored. */
let target: string;
let leftOut: Record<string, string>;
const note: LeaveOut = (name, reason) => {
  leftOut[name.replace(`${HOME}/`, "")] = reason;
};
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "backup-files-"));
  dataDir = join(folder, "data");
  home = join(dataDir, HOME);
  host = join(folder, "host");
  file = join(folder, "backup.tar.gz");
  target = join(folder, "restored");
  leftOut = {};
  for (const path of [home, host, target]) mkdirSync(path, { recursive: true });
  writeFileSync(join(host, "secrets.json"), "host");
  // Node.js refuses the longest paths.
  return () => execFileSync("sh", ["-c", 'chmod -R u+rwx "$0" && rm -rf "$0"', folder]);
});

const fifo = (name: string) => execFileSync("mkfifo", [join(home, name)]);
const link = (leaveOut: LeaveOut = note) => linkSandboxes(join(dataDir, "sandboxes"), leaveOut);

/** Backs up the sandboxes and restores them into `target`. */
async function copy(leaveOut: LeaveOut = note): Promise<void> {
  const { signal } = new AbortController();
  await writeArchive(
    file,
    async (archive) => {
      await archive.addHeader({ ...HEADER, migrations: [] });
      await archive.addFolder(link(leaveOut) ?? "", "sandboxes", undefined, leaveOut);
    },
    signal,
  );
  await readArchive(file, target, () => {}, signal);
}

const isLinux = platform() === "linux";

describe.runIf(isLinux)("a command that replaces a folder by a link to one of the machine", () => {
  /** Everything of the folder that a backup could have changed. */
  const stateOfHost = () => {
    const { mode, ctimeMs } = statSync(host);
    return { mode, ctimeMs, links: statSync(join(host, "secrets.json")).nlink };
  };
  const folder = (path: string, mode: number) => {
    mkdirSync(join(home, path));
    writeFileSync(join(home, path, "secrets.json"), "own");
    chmodSync(join(home, path), mode);
  };
  /** Replaces the folder at the moment at which the walk meets the FIFO. */
  const replacing = (path: string) => {
    const state = { isReplaced: false };
    const leaveOut: LeaveOut = (name, reason) => {
      note(name, reason);
      if (!name.endsWith("fifo")) return;
      renameSync(join(home, path), join(home, "aside"));
      symlinkSync(host, join(home, path));
      state.isReplaced = true;
    };
    return { state, leaveOut };
  };

  test.each([0o755, 0o077, 0])("after it was listed (mode %o)", async (mode) => {
    chmodSync(host, 0o311);
    fifo("a-fifo");
    folder("b", mode);
    const before = stateOfHost();
    const { state, leaveOut } = replacing("b");
    await copy(leaveOut);
    expect(state.isReplaced).toBe(true);
    expect(stateOfHost()).toEqual(before);
    expect(readdirSync(join(target, HOME))).toEqual([]);
    expect(leftOut).toMatchObject({ b: "it cannot be read (ENOTDIR)" });
  });

  test.each([0o755, 0o077, 0])("while its content is read (mode %o)", async (mode) => {
    chmodSync(host, 0o311);
    folder("b", 0o755);
    fifo("b/a-fifo");
    chmodSync(join(home, "b"), mode);
    const before = stateOfHost();
    const { state, leaveOut } = replacing("b");
    await copy(leaveOut);
    expect(state.isReplaced).toBe(true);
    expect(stateOfHost()).toEqual(before);
    expect(readFileSync(join(target, HOME, "b", "secrets.json"), "utf8")).toBe("own");
    expect(statSync(join(home, "aside")).mode & 0o777).toBe(mode);
  });

  test("above the one that is read", async () => {
    mkdirSync(join(home, "b"));
    folder("b/c", 0o755);
    fifo("b/c/a-fifo");
    mkdirSync(join(host, "c"));
    writeFileSync(join(host, "c", "secrets.json"), "host");
    const { leaveOut } = replacing("b");
    await copy(leaveOut);
    expect(readFileSync(join(target, HOME, "b/c/secrets.json"), "utf8")).toBe("own");
  });

  test("in the place of a file, which stays a link", async () => {
    fifo("a-fifo");
    writeFileSync(join(home, "b"), "own");
    const { leaveOut } = replacing("b");
    await copy(leaveOut);
    expect(readlinkSync(join(target, HOME, "b"))).toBe(host);
  });
});

describe("a backup of sandboxes", () => {
  test("has links as links, wherever they lead", async () => {
    const links: Record<string, string> = {
      python3: "/usr/bin/python3",
      python: "python3",
      lib64: "lib",
      dangling: "../../../nowhere",
      loop: "loop",
      host,
      up: "../../../../secrets.json",
      "ünïcode\n✓": "größe ✓",
      long: "l/".repeat(2_000),
    };
    mkdirSync(join(home, "lib"));
    writeFileSync(join(home, "lib", "module.py"), "pass");
    for (const [name, to] of Object.entries(links)) symlinkSync(to, join(home, name));
    mkdirSync(join(home, "deep"));
    symlinkSync("../lib", join(home, "deep", "lib"));
    await copy();
    const restored = join(target, HOME);
    for (const [name, to] of Object.entries(links)) {
      expect(readlinkSync(join(restored, name))).toBe(to);
    }
    expect(readlinkSync(join(restored, "deep", "lib"))).toBe("../lib");
    expect(readFileSync(join(restored, "lib64", "module.py"), "utf8")).toBe("pass");
    expect(leftOut).toEqual({});
  });

  test.runIf(isLinux)("leaves out what it cannot hold, by name, and has the rest", async () => {
    fifo("fifo");
    const server = createServer();
    const socket = join(dirname(dataDir), "s");
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    renameSync(socket, join(home, "socket"));
    const bytes = (name: string) => Buffer.concat([Buffer.from(`${home}/${name}-`), INVALID]);
    writeFileSync(bytes("name"), "");
    mkdirSync(bytes("folder"));
    symlinkSync(INVALID, join(home, "target"));
    const longest = join(home, ...Array(13).fill("d".repeat(250)));
    mkdirSync(longest, { recursive: true });
    writeFileSync(join(longest, "f"), "");
    mkdirBeyondPaths(join(home, "endless"));
    writeFileSync(join(home, "kept"), "kept");
    await copy();
    server.close();
    expect(readFileSync(join(target, HOME, "kept"), "utf8")).toBe("kept");
    const tooLong = Object.keys(leftOut).filter((name) => leftOut[name] === "its path is too long");
    expect(tooLong).toEqual([
      expect.stringMatching(/^(d{250}\/)+d+$/),
      expect.stringMatching(/^endless(\/e{200})+$/),
    ]);
    for (const name of tooLong) delete leftOut[name];
    expect(leftOut).toEqual({
      fifo: "it is neither a file, a folder nor a link",
      socket: "it is neither a file, a folder nor a link",
      "name-\uFFFD": "its name is not UTF-8",
      "folder-\uFFFD": "its name is not UTF-8",
      target: "its target is not UTF-8",
    });
  });

  test("restores the longest name into a DATA_DIR that is longer", async () => {
    const deep = Array(11).fill("n".repeat(254));
    const name = "n".repeat(3_072 - 1 - join(HOME, ...deep).length);
    mkdirSync(join(home, ...deep), { recursive: true });
    writeFileSync(join(home, ...deep, name), "long");
    target = join(target, ...Array(3).fill("t".repeat(250)));
    mkdirSync(target, { recursive: true });
    await copy();
    expect(leftOut).toEqual({});
    expect(readFileSync(join(target, HOME, ...deep, name), "utf8")).toBe("long");
  });

  test("leaves nothing in the folder of the sandboxes when it fails", () => {
    mkdirSync(join(home, "closed"));
    fifo("closed/fifo");
    chmodSync(join(home, "closed"), 0);
    const fail = () => {
      throw new Error("failed");
    };
    expect(() => link(fail)).toThrow("failed");
    expect(readdirSync(join(dataDir, "sandboxes"))).toHaveLength(1);
    expect(statSync(join(home, "closed")).mode & 0o777).toBe(0);
    link();
    removeLinks(join(dataDir, "sandboxes"));
    expect(readdirSync(join(dataDir, "sandboxes"))).toHaveLength(1);
  });
});

/** Not a character of UTF-8. */
const INVALID = Buffer.from([0xff]);

/** Makes folders in folders until their path is longer than a system call takes. */
function mkdirBeyondPaths(path: string): void {
  const before = process.cwd();
  mkdirSync(path);
  process.chdir(path);
  try {
    for (let depth = 0; depth < 25; depth++) {
      mkdirSync("e".repeat(200));
      process.chdir("e".repeat(200));
    }
  } finally {
    process.chdir(before);
  }
}

describe("a restore of forged links", () => {
  const entry = (header: Headers) => ({
    header: { mode: 0o777, ...header },
    content: Buffer.from(""),
  });
  const restoring = async (...headers: Headers[]) => {
    const head = Buffer.from(JSON.stringify(HEADER));
    const parts = [
      { header: { name: "backup.json", mode: 0o600, type: "file" as const }, content: head },
      ...headers.map(entry),
    ];
    return readArchive(await forge(file, parts), target, () => {}, new AbortController().signal);
  };
  const linkTo = (name: string): Headers => ({ name, type: "symlink", linkname: host });

  test.each([
    ["a file", { name: `${HOME}/a/secrets.json`, type: "file" as const }],
    ["a folder", { name: `${HOME}/a`, type: "directory" as const }],
    ["a link", { name: `${HOME}/a/b`, type: "symlink" as const, linkname: "c" }],
    ["the same link", { name: `${HOME}/a`, type: "symlink" as const, linkname: "c" }],
  ])("writes nothing through one: %s", async (_, header) => {
    for (const order of [
      [linkTo(`${HOME}/a`), header],
      [header, linkTo(`${HOME}/a`)],
    ]) {
      mkdirSync(join(target, HOME), { recursive: true });
      await expect(restoring(...order)).rejects.toThrow(/EEXIST/);
      expect(readdirSync(host)).toEqual(["secrets.json"]);
      expect(readFileSync(join(host, "secrets.json"), "utf8")).toBe("host");
      rmSync(target, { recursive: true });
    }
  });

  test.each([
    "secrets.json",
    "media",
    "media/account/home/file",
    "sandboxes",
    "sandboxes/one",
    "sandboxes/one/home",
    "sandboxes/one/tmp",
    "sandboxes/one/other/file",
  ])("refuses one at %s", async (name) => {
    await expect(restoring(linkTo(name))).rejects.toThrow(/is a symlink/);
    expect(readdirSync(target)).toEqual([]);
  });

  test("refuses one whose target was changed", async () => {
    symlinkSync("there", join(home, "link"));
    await copy();
    const tar = gunzipSync(readFileSync(file));
    // The same letters, because a header of tar has their sum.
    tar.write("three", tar.indexOf("there"));
    writeFileSync(file, compress(tar));
    mkdirSync(join(target, "again"));
    const read = readArchive(file, join(target, "again"), () => {}, new AbortController().signal);
    await expect(read).rejects.toThrow(/does not match its checksum/);
    expect(existsSync(join(target, "again", HOME, "link"))).toBe(false);
  });
});

test("the summary names some entries of each sandbox, without the characters that a terminal obeys", () => {
  const left = new LeftOut();
  expect(left.summary()).toBeUndefined();
  left.add("sandboxes/one/home/\u001B[2J\u202Egnp.\u2028x\u0085\u{E0041}ü", "reason");
  for (const name of ["a", "b", "c", "d"]) left.add(`sandboxes/two/home/${name}`, "reason");
  left.add(`sandboxes/three/home/${"x".repeat(3_000)}`, "reason");
  const summary = left.summary() ?? "";
  expect(summary.split("\n")).toEqual([
    "Left out of the backup: 6 entries of sandboxes",
    '  "sandboxes/one/home/\\u001b[2J\\u{202e}gnp.\\u{2028}x\\u{85}\\u{e0041}ü": reason',
    '  "sandboxes/two/home/a": reason',
    '  "sandboxes/two/home/b": reason',
    '  "sandboxes/two/home/c": reason',
    '  "sandboxes/two": 1 more',
    expect.stringMatching(/^ {2}"sandboxes\/three\/home\/x+…x+": reason$/),
  ]);
  expect(summary.length).toBeLessThan(700);
});
