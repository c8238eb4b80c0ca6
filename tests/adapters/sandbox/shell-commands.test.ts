/** The commands that the embedded shell adds to just-bash's, where bash cannot be compared with. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalProvider } from "@platform/sandbox/local";
import type { Sandbox } from "@platform/sandbox/port";
import { strToU8, zipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";

const MIB = 1024 * 1024;

let dir: string;
let home: string;
let sandbox: Sandbox;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "shell-commands-"));
  const options = { rootDir: dir, diskQuota: 48 * MIB, startsAhead: false, allowedHosts: [] };
  const provider = createLocalProvider(options);
  const state = await provider.provision(randomUUID(), randomUUID());
  home = join(dir, state.name, "home");
  sandbox = provider.open(state, randomUUID());
  return () => provider.destroy(state);
});

afterAll(() => rm(dir, { recursive: true, force: true }));

const shell = (command: string, cwd = ".") =>
  sandbox.run(command, { cwd, timeoutMs: 60_000, maxOutputChars: 50_000 });

test("programs that are absent name an alternative", async () => {
  const { stdout, stderr } = await shell("git status; echo $?; sudo ls; pip3 install x; vim f");
  expect(stdout).toBe("127\n");
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(/^bash: git is not available here; .+/),
    expect.stringMatching(/^bash: sudo is not available here; .+/),
    expect.stringMatching(/^bash: pip3 is not available here; .+standard library/),
    expect.stringMatching(/^bash: vim is not available here; .+/),
    "",
  ]);
});

test("unzip writes nothing outside its folder and reports omitted entries", async () => {
  await mkdir(join(home, "in"), { recursive: true });
  const link = [strToU8("/etc/passwd"), { os: 3, attrs: (0o120777 << 16) >>> 0 }] as const;
  const hostile = zipSync({
    "../../escaped.txt": strToU8("x"),
    "/absolute.txt": strToU8("x"),
    "a/../../dots.txt": strToU8("x"),
    link: [...link],
    "good/one.txt": strToU8("good"),
  });
  await writeFile(join(home, "in/hostile.zip"), hostile);
  const { exitCode, stderr } = await shell("unzip -q -o hostile.zip", "in");
  expect(exitCode).toBe(2);
  for (const name of ["../../escaped.txt", "/absolute.txt", "a/../../dots.txt", "link"]) {
    expect(stderr).toContain(`unzip: ${name}: skipped`);
  }
  expect((await readdir(home, { recursive: true })).sort()).toEqual(
    ["in", "in/good", "in/good/one.txt", "in/hostile.zip"].sort(),
  );
});

test("a bomb is refused before it is unpacked, and the quota applies", async () => {
  const zeros = new Uint8Array(30 * MIB);
  const bomb = Buffer.from(zipSync({ a: zeros, b: zeros, c: zeros }));
  await writeFile(join(home, "bomb.zip"), bomb);
  const full = await shell("unzip -o bomb.zip -d full; echo $?; ls full | wc -l; rm -r full");
  expect(full).toMatchObject({ stdout: expect.stringMatching(/2\n1\n$/) });
  expect(full.stderr).toContain("No space left on device");
  // The size that it states is a lie.
  const lies = Buffer.from(bomb);
  const directory = lies.lastIndexOf("PK\x01\x02", undefined, "latin1");
  lies.writeUInt32LE(10, directory + 24);
  await writeFile(join(home, "lies.zip"), lies);
  expect((await shell("unzip -o lies.zip c; echo $?; ls c")).stdout).toMatch(/2\n$/);
  await writeFile(join(home, "cut.zip"), bomb.subarray(0, 5_000));
  expect(await shell("unzip cut.zip")).toMatchObject({ exitCode: 9 });
  await shell("rm *.zip");
});

test("a calculation and a date without end stop", async () => {
  const deep = await shell(`printf '%s1%s' "$(printf '(%.0s' {1..5000})" ")" | bc
  echo '9^9^9^9' | bc; echo 'x=9; x^9999999' | bc; echo 'scale=999999; 1/3' | bc; date -d "$(printf '1 %.0s' {1..5000})"`);
  expect(deep.stdout).toBe("");
  expect(deep.stderr.split("\n")).toHaveLength(6);
});

test("dates take words, zones and formats", async () => {
  const { stdout, stderr } = await shell(`
    date -d '2027-03-12 14:00 +0200 + 2 hours' +%FT%T; date -d '@0' +%G-W%V-%u; date -d '1 January 2027 next week' +%F
    TZ=America/New_York date -d '2027-07-01 12:00' '+%s %Z %:z'; date -u -d 2027-03-12T10:00:00+05:30 -Iseconds
    [ $(date -d tomorrow +%j) != $(date +%j) ] && date -d '2027-02-30'`);
  expect(stdout.split("\n")).toEqual([
    ...["2027-03-12T14:00:00", "1970-W01-4", "2027-01-08", "1814457600 EDT -04:00"],
    ...["2027-03-12T04:30:00+00:00", ""],
  ]);
  expect(stderr).toBe("date: invalid date '2027-02-30'\n");
});

test("iconv converts between encodings, and refuses characters that it cannot convert", async () => {
  const { stdout, stderr } = await shell(`
    for e in ISO-8859-15 WINDOWS-1252 UTF-16LE UTF-16; do printf '€é' | iconv -t $e | iconv -f $e; echo; done
    for e in SHIFT_JIS EUC-JP; do printf '日本語' | iconv -t $e | iconv -f $e; echo; done
    printf '日€' | iconv -t ISO-8859-1; echo $?; printf 'a日b' | iconv -c -t ISO-8859-1; echo
    printf '\\xff' | iconv -f UTF-8 -t UTF-16; echo $?`);
  expect(stdout).toBe(`${"€é\n".repeat(4)}${"日本語\n".repeat(2)}1\nab\n1\n`);
  expect(stderr).toContain("iconv: illegal input sequence");
});

test("traps run when a script ends, and report the ones that never will", async () => {
  const { stdout, stderr, exitCode } = await shell(`
    f() { echo "end $?"; }; trap f EXIT; trap 'echo "failed $?"' ERR; trap 'x' INT DEBUG
    (trap 'echo inner' EXIT); x=$(trap 'echo sub' EXIT; echo a); echo $x; false; eval 'trap -p' | wc -l; exit 3`);
  expect(stdout).toMatch(/^a sub\nfailed 1\n\s*2\nend 3\n$/);
  expect(stderr.match(/is not supported here and never runs/g)).toHaveLength(2);
  expect(exitCode).toBe(3);
});
