/** Measures folders of sandboxes while commands tamper with them. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { bytesOf } from "../../../packages/sandbox/src/adapters/local/folders.ts";
import { measureFolder } from "../../../packages/sandbox/src/adapters/local/measure-folder.ts";

const LEFT_OVER = ".just-bash-write-1";
const QUOTA = 1_000;

let root: string;
/** A folder of the machine that no command may reach. */
let host: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "measure-"));
  root = join(folder, "session");
  host = join(folder, "host");
  for (const path of [root, host]) mkdirSync(path);
  // Deletes paths of any length.
  return () => void execFileSync("rm", ["-rf", folder]);
});

/** Runs a script of Node.js in the folder of the session. */
const inSession = (script: string) =>
  execFileSync(process.execPath, ["-e", `const fs = require("fs");${script}`], { cwd: root });
const DEEPER = `const deeper = () => { fs.mkdirSync("d".repeat(100)); process.chdir("d".repeat(100)); };`;
/** Counts the folder's descriptors only, because the test runner opens files, too. */
const openDescriptors = () =>
  readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(root);
    } catch (error) {
      return Object(error).code === "ENAMETOOLONG";
    }
  });
const plant = (folder: string) => {
  writeFileSync(join(folder, LEFT_OVER), "left over");
  utimesSync(join(folder, LEFT_OVER), 0, 0);
};

test("the sizes of files in all folders, of some of them at most", async () => {
  mkdirSync(join(root, "a", "b"), { recursive: true });
  writeFileSync(join(root, "one"), "1");
  writeFileSync(join(root, "a", "b", "two"), "22");
  expect(await measureFolder(root)).toEqual({ bytes: 3, files: 4 });
  expect((await measureFolder(root, 2)).files).toBe(2);
});

test("a folder that does not exist is told from one that cannot be measured", async () => {
  await expect(measureFolder(join(root, "none"))).rejects.toMatchObject({ code: "ENOENT" });
  expect(await bytesOf(join(root, "none"), QUOTA)).toBeNull();
  writeFileSync(join(root, "file"), "");
  await expect(measureFolder(join(root, "file"))).rejects.toMatchObject({ code: "ENOTDIR" });
  expect(await bytesOf(join(root, "file"), QUOTA)).toBe(QUOTA);
});

test("folders that a command has closed to everybody, which stay closed", async () => {
  const closed = join(root, "closed");
  mkdirSync(join(closed, "inner"), { recursive: true });
  writeFileSync(join(closed, "inner", "file"), "123");
  for (const path of [join(closed, "inner"), closed]) chmodSync(path, 0);
  expect(await measureFolder(root)).toEqual({ bytes: 3, files: 3 });
  expect(statSync(closed).mode & 0o777).toBe(0);
});

test("leftovers of killed commands are deleted, and links to them are not followed", async () => {
  for (const folder of [root, host]) plant(folder);
  symlinkSync(host, join(root, "link"));
  mkdirSync(join(root, ".just-bash-write-folder"));
  const { files } = await measureFolder(root);
  expect(files).toBe(3);
  expect(readdirSync(root).sort()).toEqual([".just-bash-write-folder", "link"]);
  expect(existsSync(join(host, LEFT_OVER))).toBe(true);
});

describe.runIf(platform() === "linux")("on Linux", () => {
  test("folders deeper than any path may be", async () => {
    inSession(
      `${DEEPER} for (let n = 0; n < 400; n++) deeper(); fs.writeFileSync("end", "12345");`,
    );
    expect(await measureFolder(root)).toEqual({ bytes: 5, files: 401 });
    expect(openDescriptors()).toEqual([]);
  });

  test("a tree that needs too many descriptors is not measured in part", async () => {
    inSession(`${DEEPER} for (let n = 0; n < 600; n++) { fs.mkdirSync("a"); fs.mkdirSync("z");
      process.chdir(n % 2 ? "a" : "z"); }`);
    const measured = await measureFolder(root).catch((error: unknown) => String(error));
    if (typeof measured === "string") expect(measured).toContain("too many branches");
    else expect(measured.files).toBe(1_200);
    expect(openDescriptors()).toEqual([]);
  });

  test("the room of a file beyond its end", async () => {
    writeFileSync(join(root, "file"), "");
    execFileSync("fallocate", ["-n", "-l", "5000000", join(root, "file")]);
    expect(statSync(join(root, "file")).size).toBe(0);
    expect((await measureFolder(root)).bytes).toBeGreaterThan(4_900_000);
  });

  test("nothing behind a folder that a command swaps for a link", async () => {
    writeFileSync(join(host, "large"), "x".repeat(1_000_000));
    plant(host);
    for (let n = 0; n < 50; n++) mkdirSync(join(root, "folder", String(n)), { recursive: true });
    const swap = `for (;;) {
      fs.renameSync("folder", "aside"); fs.symlinkSync(${JSON.stringify(host)}, "folder");
      fs.rmSync("folder"); fs.renameSync("aside", "folder");
    }`;
    const child = spawn(process.execPath, ["-e", `const fs = require("fs");${swap}`], {
      cwd: root,
    });
    try {
      await expect.poll(() => existsSync(join(root, "aside")), { interval: 1 }).toBe(true);
      for (let n = 0; n < 100; n++) expect((await measureFolder(root)).bytes).toBeLessThan(100_000);
    } finally {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    expect(existsSync(join(host, LEFT_OVER))).toBe(true);
  });
});
