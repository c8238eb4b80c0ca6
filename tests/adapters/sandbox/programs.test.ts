/**
 * Python and SQLite in the embedded sandbox, whose process has no worker threads. This file is long because
 * each start of Python takes time, so a test makes many attempts in one script.
 */
import { randomUUID } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalProvider } from "@platform/sandbox/local";
import type { Sandbox, SandboxProvider } from "@platform/sandbox/port";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

const MIB = 1024 * 1024;
const DISK_QUOTA = 64 * MIB;
const SECRET = "the-canary-outside-the-jail";

const account = randomUUID();
let dir: string;
let canary: string;
let provider: SandboxProvider;
let sandbox: Sandbox;
let home: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "sandbox-programs-"));
  canary = join(dir, "canary.txt");
  await writeFile(canary, SECRET);
  provider = createLocalProvider({
    rootDir: join(dir, "sandboxes"),
    diskQuota: DISK_QUOTA,
    startsAhead: false,
    allowedHosts: [],
  });
});

afterAll(() => rm(dir, { recursive: true, force: true }));

beforeEach(async () => {
  const opened = await openSandbox();
  ({ sandbox, home } = opened);
  return opened.close;
});

async function openSandbox() {
  const sessionId = randomUUID();
  const state = await provider.provision(sessionId, account);
  return {
    sandbox: provider.open(state, account),
    home: join(dir, "sandboxes", sessionId, "home"),
    close: () => provider.destroy(state),
  };
}

const shell = (command: string, timeoutMs = 60_000) =>
  sandbox.run(command, { timeoutMs, maxOutputChars: 50_000 });

/** Runs a script of Python. */
async function python(script: string, timeoutMs?: number) {
  await sandbox.writeFile("script.py", script);
  return shell("python3 script.py", timeoutMs);
}

describe("python3", () => {
  describe("in a process that goes on", () => {
    /** Scripts reuse programs that an earlier script has loaded. */
    let opened: Awaited<ReturnType<typeof openSandbox>>;
    beforeAll(async () => {
      opened = await openSandbox();
    });
    afterAll(() => opened.close());
    beforeEach(() => {
      ({ sandbox } = opened);
    });

    test("changes a workbook with openpyxl", async () => {
      const { stdout, stderr } = await python(`
import openpyxl, os
book = openpyxl.Workbook()
book.active.append(["Net", 12.5])
book.active["B2"] = "=SUM(B1:B1)"
book.save("book.xlsx")
book = openpyxl.load_workbook("book.xlsx")
print([[cell.value for cell in row] for row in book.active.rows])
try:
    open(os.path.dirname(os.path.dirname(openpyxl.__file__)), "r+b", buffering=0).write(b"x")
except OSError as error:
    print(error.strerror)
`);
      expect(stderr).toBe("");
      expect(stdout).toBe("[['Net', 12.5], [None, '=SUM(B1:B1)']]\nRead-only file system\n");
    });

    test("is started like any other", async () => {
      await sandbox.writeFile("args.py", "import sys\nprint(sys.argv, __name__)\n");
      const { stdout, stderr, exitCode } = await shell(`python3 --version
      python -c 'import sys; print(sys.argv, sys.executable)' a 'b c'
      python3 args.py x; echo 'print("stdin")' | python3; echo 'print("dash")' | python3 - y
      python3 -m json.tool --compact <<< '{"ü": 1}'
      mkdir deep; cd deep; X='a b' python3 -c 'import os; print(os.getcwd(), os.environ["X"], os.environ["TMPDIR"], "UNSET" in os.environ)'
      python3 -c 'import tempfile; print(tempfile.gettempdir())'
      python3 -c 'print(input(), "ü€")' <<< 'wörd'
      python3 -c 'from zoneinfo import *; from datetime import *; print(datetime(2027, 7, 1, tzinfo=ZoneInfo("Europe/Berlin")))'`);
      expect(stdout.split("\n")).toEqual([
        "Python 3.13.2",
        "['-c', 'a', 'b c'] /usr/bin/python3",
        "['args.py', 'x'] __main__",
        "stdin",
        "dash",
        '{"ü":1}'.replace("ü", "\\u00fc"),
        "/home/agent/deep a b /tmp False",
        "/tmp",
        "wörd ü€",
        "2027-07-01 00:00:00+02:00",
        "",
      ]);
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    });

    test("ends with the status and the traceback of the script", async () => {
      await sandbox.writeFile("fails.py", "def f():\n    raise ValueError('no')\n\nf()\n");
      const failed = await shell("python3 fails.py; echo $?");
      expect(failed.stdout).toBe("1\n");
      expect(failed.stderr).toMatch(/^Traceback .*\n {2}File "\/home\/agent\/fails\.py", line 4/);
      expect(failed.stderr).toMatch(/\nValueError: no\n$/);
      const { stdout, stderr } =
        await shell(`python3 -c 'exit(7)'; echo $?; python3 -c 'exit(-1)'; echo $?
      python3 -c 'exit("words")'; echo $?; python3 missing.py; echo $?; python3 -c 'f('; echo $?
      python3 -c 'import os; os.abort()'; echo $?`);
      expect(stdout).toBe("7\n255\n1\n2\n1\n134\n");
      expect(stderr).toMatch(/^words\n.*can't open file '\/home\/agent\/missing\.py'.*\n/);
      expect(stderr).toContain("SyntaxError: '(' was never closed");
    });

    test("adds decimals of a large file exactly, from standard input and by its name", async () => {
      const made = await python(`
with open("rows.csv", "w") as f:
    for n in range(10_000): f.write(f"{n},{'Track number ' + str(n):>2300},0.{n % 10}0000001\\n")
`);
      expect(made).toMatchObject({ exitCode: 0, stderr: "" });
      expect((await stat(join(opened.home, "rows.csv"))).size).toBeGreaterThan(22 * MIB);
      const sum = `
import csv, decimal, sys
rows = csv.reader(sys.stdin if len(sys.argv) < 2 else open(sys.argv[1], newline=""))
amounts = [decimal.Decimal(row[2]) for row in rows]
print(len(amounts), sum(amounts))
`;
      await sandbox.writeFile("sum.py", sum);
      const { stdout } = await shell("python3 sum.py < rows.csv; python3 sum.py rows.csv");
      expect(stdout).toBe("10000 4500.00010000\n".repeat(2));
    });

    test("passes the output of one script on to the next", async () => {
      await sandbox.writeFile("in.txt", "b\na\nc\n");
      await sandbox.writeFile(
        "a.py",
        "import sys\nfor l in sorted(sys.stdin): print(l.strip() * 2)\n",
      );
      await sandbox.writeFile("b.py", "import sys\nprint(sys.stdin.read().split())\n");
      expect(await shell("cat in.txt | python3 a.py | python3 b.py")).toMatchObject({
        stdout: "['aa', 'bb', 'cc']\n",
        exitCode: 0,
      });
      const compared = await shell(
        "python3 -c 'import sys; print(*[open(a).read() for a in sys.argv[1:]])' <(echo one) <(echo two)",
      );
      expect(compared).toMatchObject({ stdout: "one\n two\n\n", stderr: "" });
      const discarded = "python3 -c 'print(\"x\" * 2_000_000)' > /dev/null; wc -c < /dev/null";
      expect(await shell(discarded)).toMatchObject({ stdout: "0\n", stderr: "" });
      const bytes = await shell(
        "python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)))' | tee copy | wc -c",
      );
      expect(bytes.stdout.trim()).toBe("256");
      expect(await readFile(join(opened.home, "copy"))).toEqual(
        Buffer.from(Array.from({ length: 256 }, (_, n) => n)),
      );
    });

    test("gets a MemoryError at the limit, and leaves memory to the next command", async () => {
      const attempt = (code: string) => `
try:
    ${code}
except MemoryError: print("MemoryError")
`;
      const { stdout } = await python(
        [
          ...["bytearray(2**30)", "l = []\n    while True: l.append(bytes(1_000_000))"].map(
            attempt,
          ),
          "del l; print(len(bytes(150_000_000)))\n",
        ].join(""),
      );
      expect(stdout).toBe("MemoryError\nMemoryError\n150000000\n");
      // Together they would exceed the limit of the process.
      const thrice = await shell(
        "for n in 1 2 3; do python3 -c 'print(len(bytes(200_000_000)))'; done",
      );
      expect(thrice).toMatchObject({ stdout: "200000000\n".repeat(3), exitCode: 0 });
    });

    test("survives recursion, as its own limit promises", async () => {
      const { stdout, stderr } = await python(`
import json
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
print(depth(900), len(str(json.loads("[" * 900 + "]" * 900))))
for work in (lambda: depth(10**6), lambda: json.loads("[" * 100_000)):
    try: work()
    except RecursionError: print("RecursionError")
`);
      expect({ stdout, stderr }).toEqual({
        stdout: "900 1800\nRecursionError\nRecursionError\n",
        stderr: "",
      });
    });

    test("has no output without end", async () => {
      const cut = await shell("python3 -c 'while True: print(\"y\" * 99)' | head -n 2");
      expect(cut.stdout).toBe(`${"y".repeat(99)}\n`.repeat(2));
      expect(cut.stderr).toMatch(/^python3: stopped after \d+ bytes of output\n$/);
      const errors = await shell(
        `python3 -uc 'import sys\nwhile True:\n  try: sys.stderr.write("n" * 999)\n  except BaseException: pass'`,
      );
      expect(errors).toMatchObject({ exitCode: 1, truncated: true });
    });

    test("has no processes, threads, network, native code or JavaScript", async () => {
      const { stdout, stderr } = await python(
        `import os, signal, socket, _socket, subprocess, threading, urllib.request\n${failing([
          ...["os.system('ls')", "os.popen('ls')", "os.fork()", "os.execv('/bin/sh', ['sh'])"],
          ...["subprocess.run(['ls'])", "os.pipe()", "os.posix_spawn('/bin/sh', ['sh'], {})"],
          ...["threading.Thread(target=print).start()", "__import__('multiprocessing').Pool(2)"],
          ...[
            "socket.socket()",
            "_socket.socket.__base__()",
            "socket.getaddrinfo('localhost', 80)",
          ],
          ...["urllib.request.urlopen('http://127.0.0.1:1/')", "socket.gethostbyname('localhost')"],
          ...["__import__('ctypes')", "__import__('js')", "__import__('pyodide_js')"],
          ...["__import__('emscripten').run_script('1')", "__import__('_emscripten')"],
          ...["signal.setitimer(0, 0.1)", "os.kill(1, 9) or 1/0"],
        ])}`,
      );
      expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "" });
      const words = await shell(
        `python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1")'; python3 -c 'import os; os.system("ls")'; python3 -c 'import sqlite3'`,
      );
      expect(words.stderr).toContain("Python has no network in this sandbox: use curl");
      expect(words.stderr).toContain("Python cannot start programs in this sandbox");
      expect(words.stderr).toContain("use the command sqlite3");
    });

    test("shows its lines while it runs, unless they go elsewhere", async () => {
      await sandbox.writeFile(
        "ends.py",
        'import os\nos.write(1, b"\\xc3"); os.write(1, b"\\xbc\\n")\n',
      );
      await sandbox.writeFile(
        "waits.py",
        'import sys, time\nprint("a"); print("b", file=sys.stderr); time.sleep(600)\n',
      );
      const stop = new AbortController();
      const seen = { stdout: "", stderr: "" };
      const running = sandbox.run(
        `python3 ends.py > f; x=$(python3 ends.py); python3 ends.py | tr -d '\\n' | wc -l
      python3 ends.py; timeout 60 python3 waits.py`,
        {
          timeoutMs: 60_000,
          maxOutputChars: 1_000,
          signal: stop.signal,
          onOutput: (stream, text) => {
            seen[stream] += text;
          },
        },
      );
      await expect
        .poll(() => seen, { timeout: 30_000 })
        .toEqual({ stdout: expect.stringMatching(/^\s*0\nü\na\n$/), stderr: "b\n" });
      stop.abort();
      expect(await running).toMatchObject({ exitCode: 137 });
    });

    test("ends at the deadline", async () => {
      expect(await shell("python3 -c 'while True: pass'", 500)).toMatchObject({ exitCode: 124 });
      expect(await shell("python3 -c 'print(1)'")).toMatchObject({ stdout: "1\n" });
    });
  });

  test("changes files as the shell does", async () => {
    await writeFile(join(home, "backed-up"), "old");
    await link(join(home, "backed-up"), join(dir, "backup"));
    const { stdout, stderr } = await python(`
import os, pathlib, shutil, tempfile
os.makedirs("a/b"); pathlib.Path("a/b/one").write_text("1")
os.rename("a/b/one", "a/two"); shutil.move("a/two", "/tmp/three"); shutil.copy("/tmp/three", "a/four")
with open("a/four", "r+") as f: f.seek(0, 2); f.write("+"); f.seek(0); print(f.read())
os.chmod("a/four", 0o600); os.utime("a/four", (1, 1_000_000))
print(oct(os.stat("a/four").st_mode), os.path.getmtime("a/four"), sorted(os.listdir("a")))
with tempfile.TemporaryFile() as f: f.write(b"gone"); f.seek(0); print(f.read())
with open("backed-up", "a") as f: f.write(" and new")
open("short", "w").write("truncate me"); os.truncate("short", 8)
shutil.rmtree("a/b"); print(os.path.exists("a/b"), os.listdir("/tmp"))
`);
    expect(stderr).toBe("");
    expect(stdout).toBe("1+\n0o100600 1000000.0 ['b', 'four']\nb'gone'\nFalse ['three']\n");
    expect((await readdir(home)).sort()).toEqual(["a", "backed-up", "script.py", "short"]);
    expect(await readFile(join(home, "short"), "utf8")).toBe("truncate");
    expect(await readFile(join(home, "backed-up"), "utf8")).toBe("old and new");
    expect(await readFile(join(dir, "backup"), "utf8")).toBe("old");
  });

  test("cannot exceed the quota", async () => {
    await mkdir(join(home, "many"));
    for (let index = 0; index < 19_000; index++) {
      closeSync(openSync(join(home, "many", String(index)), "w"));
    }
    const { stdout } = await python(`
import os
def attempt(work):
    try: work()
    except OSError as e: print(e.strerror)
def fill():
    with open("full", "wb", buffering=0) as f:
        while True: f.write(bytes(1_000_000))
def stretch(): os.truncate("sparse", 2**31 - 1)
def jump():
    with open("sparse", "r+b", buffering=0) as f: f.seek(2**31 - 2); f.write(b"x")
def clutter():
    for n in range(2_000): os.mkdir(f"d{n}")
attempt(fill); print(os.path.getsize("full") > 60_000_000); os.remove("full")
open("sparse", "w").close(); attempt(stretch); attempt(jump); print(os.path.getsize("sparse"))
open("again", "wb").write(bytes(50_000_000)); attempt(clutter)
`);
    const full = "No space left on device";
    expect(stdout.split("\n")).toEqual([full, "True", full, full, "0", full, ""]);
    expect((await readdir(home, { recursive: true })).length).toBeLessThan(20_000);
  });

  test("keeps no other session waiting", async () => {
    const other = await openSandbox();
    const stop = new AbortController();
    const script = `
l = []
while True:
    try: l.append(bytes(1_000_000))
    except MemoryError: pass
`;
    await sandbox.writeFile("endless.py", script);
    const endless = sandbox.run("python3 endless.py", {
      timeoutMs: 100_000,
      maxOutputChars: 100,
      signal: stop.signal,
    });
    const served = await other.sandbox.run("python3 -c 'print(1)'", {
      timeoutMs: 60_000,
      maxOutputChars: 100,
    });
    expect(served).toMatchObject({ stdout: "1\n", exitCode: 0 });
    stop.abort();
    expect(await endless).toMatchObject({
      exitCode: 137,
      stderr: expect.stringContaining("stopped"),
    });
    await other.close();
  });

  test("reaches nothing outside of the session's folders", async () => {
    await symlink(dir, join(home, "link"));
    await symlink(canary, join(home, "planted"));
    const up = "../".repeat(12);
    const attempts = [
      ...[canary, `/home/agent/${up}${canary}`, `${up}${canary}`, "link/canary.txt", "planted"],
      ...["/etc/passwd", process.execPath, "/proc/self/environ", "/proc/1/environ"],
      ...["/proc/self/root/etc/passwd", "/proc/self/cwd/script.py", "/dev/tty", "../escaped.txt"],
    ].flatMap((path) => [
      `open(${JSON.stringify(path)}).read()`,
      `open(${JSON.stringify(path)}, "a")`,
      `os.remove(${JSON.stringify(path)})`,
    ]);
    const { stdout, stderr } = await python(
      `import os\n${failing([
        ...attempts,
        ...["os.listdir('link')", "os.readlink('planted')", "os.chmod('planted', 0o777)"],
        ...[
          "os.rename('planted', 'moved')",
          "os.symlink('/etc', 'mine')",
          "os.rmdir('/home/agent/..')",
        ],
        ...["os.rename('script.py', '..')", "os.rename('script.py', '../script.py')"],
        ...["os.rename('link', 'renamed')", "os.mkdir('link/folder')", "open('link/new', 'w')"],
        ...["open('/usr/lib/python3.13/os.py', 'w')", "os.truncate('/usr/lib/python313.zip', 0)"],
        ...["open('/dev/shm/file', 'w')", "os.chmod('/', 0o777)", "os.mkdir('/folder')"],
      ])}\nprint(os.listdir("/home"), sorted(os.listdir(".")))\n`,
    );
    expect(stderr).toBe("");
    expect(stdout).toBe("['agent'] ['script.py']\n");
    expect(await readFile(canary, "utf8")).toBe(SECRET);
    expect((await readdir(dir)).filter((name) => name !== "backup").sort()).toEqual([
      "canary.txt",
      "sandboxes",
    ]);
    expect((await readdir(home)).sort()).toEqual(["link", "planted", "script.py"]);
  });

  test("follows no link that replaces a folder while it runs", async () => {
    await mkdir(join(home, "folder"));
    await writeFile(join(home, "folder/canary.txt"), "its own");
    const running = python(`
import os
print(open("folder/canary.txt").read())
open("ready", "w").close()
while not os.path.exists("go"): pass
${failing(['open("folder/canary.txt").read()', 'open("folder/canary.txt", "w")', 'os.remove("folder/canary.txt")'])}
`);
    await expect.poll(() => readdir(home)).toContain("ready");
    await rename(join(home, "folder"), join(home, "moved"));
    await symlink(dir, join(home, "folder"));
    await writeFile(join(home, "go"), "");
    expect(await running).toMatchObject({ stdout: "its own\n", stderr: "", exitCode: 0 });
    expect(await readFile(canary, "utf8")).toBe(SECRET);
  });
});

/** Returns a script that prints the expressions which do not fail. */
const failing = (expressions: readonly string[]): string =>
  expressions
    .map((text) => `try: print(${text}, ${JSON.stringify(text)})\nexcept Exception: pass`)
    .join("\n");

describe("sqlite3", () => {
  test("imports, queries and sums, and keeps the database in a file", async () => {
    await sandbox.writeFile(
      "sales.csv",
      'isrc,store,units\nA1,"One, Inc.",9007199254740993\nB2,Two,5\nC3,Two,\n',
    );
    await shell(`sqlite3 sales.db '.import --csv sales.csv sales' 'ALTER TABLE sales ADD rate REAL'
      sqlite3 sales.db "UPDATE sales SET rate = 2.0, units = CAST(units AS INTEGER) WHERE units <> ''"`);
    const query = "SELECT store, sum(units) units, max(rate) rate FROM sales GROUP BY store";
    const { stdout, stderr } = await shell(`q='${query}'; sqlite3 sales.db "$q"
      sqlite3 -csv -header sales.db "$q"; sqlite3 -json sales.db "$q"; sqlite3 -box sales.db "$q"
      printf '.mode column\\n.nullvalue none\\n%s,\\n  null n;\\n.tables\\n' 'SELECT 1 one' | sqlite3 sales.db
      cat sales.csv | sqlite3 sales.db 'CREATE TABLE t(a, b, c)' '.import --csv --skip 1 /dev/stdin t' 'SELECT count(*) FROM t'`);
    expect(stderr).toBe("");
    expect(stdout.split("\n")).toEqual([
      ...["One, Inc.|9007199254740993|2.0", "Two|5.0|2.0"],
      ...["store,units,rate", '"One, Inc.",9007199254740993,2.0', "Two,5.0,2.0"],
      '[{"store":"One, Inc.","units":9007199254740993,"rate":2.0},',
      '{"store":"Two","units":5.0,"rate":2.0}]',
      "┌───────────┬──────────────────┬──────┐",
      "│ store     │ units            │ rate │",
      "├───────────┼──────────────────┼──────┤",
      "│ One, Inc. │ 9007199254740993 │ 2.0  │",
      "│ Two       │ 5.0              │ 2.0  │",
      "└───────────┴──────────────────┴──────┘",
      ...["one  n", "---  ----", "1    none", "sales", "3", ""],
    ]);
    expect((await readdir(home)).sort()).toEqual(["sales.csv", "sales.db"]);
  });

  test("fails with a message, and changes nothing outside of the session's folders", async () => {
    await symlink(canary, join(home, "planted.db"));
    await symlink(dir, join(home, "link"));
    const attempts = [
      ...["sqlite3 a.db 'SELEC 1'", "sqlite3 a.db '.nothing'", "sqlite3 /etc/a.db 'SELECT 1'"],
      ...["sqlite3 ../../a.db 'CREATE TABLE t(x)'", "sqlite3 planted.db 'CREATE TABLE t(x)'"],
      ...[
        `sqlite3 ${canary} 'CREATE TABLE t(x)'`,
        "sqlite3 link/new.db 'CREATE TABLE t(x)'",
        "sqlite3 a.db '.import --csv link/canary.txt t'",
        `sqlite3 a.db "ATTACH '${canary}' AS c; SELECT 1 FROM c.t"`,
        "sqlite3 a.db \"/* */ attach 'b.db' AS b\"",
        "sqlite3 a.db \"VACUUM INTO 'b.db'\"",
      ],
      ...[`sqlite3 a.db ".import --csv ${canary} t"`, "sqlite3 a.db '.import --csv planted.db t'"],
      ...["sqlite3 a.db \"SELECT load_extension('x')\"", "sqlite3 a.db '.read /etc/passwd'"],
    ];
    for (const attempt of attempts) {
      const result = await shell(attempt);
      expect(result, attempt).toMatchObject({ exitCode: 1, stdout: "" });
      expect(result.stderr, attempt).toMatch(/^Error: /);
      expect(result.stderr.replaceAll(canary, ""), attempt).not.toContain(dir);
    }
    expect(await readFile(canary, "utf8")).toBe(SECRET);
  });

  test("cannot exceed the quota", async () => {
    const rows = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000)";
    const insert = `sqlite3 a.db 'CREATE TABLE t(x)' '${rows} INSERT INTO t SELECT randomblob(9999) FROM n'`;
    await writeFile(join(home, "fill"), new Uint8Array(DISK_QUOTA - 5 * MIB));
    const { stderr, stdout } = await shell(`${insert}; ls -A`);
    expect({ stderr, stdout }).toEqual({
      stderr: "Error: ENOSPC: /home/agent/a.db\n",
      stdout: "fill\n",
    });
  });
});

describe("timeout", () => {
  const ENDLESS =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n";
  beforeEach(() =>
    sandbox.writeFile(
      "loop.py",
      'open("kept", "w").write("kept")\nprint("start", flush=True)\nwhile True:\n  try:\n    while True: pass\n  except BaseException: pass\n',
    ),
  );

  test.each([
    ["a program", "timeout 5 python3 loop.py; echo $?; cat kept", "start\n124\nkept"],
    ["sqlite3", `timeout 5 sqlite3 a.db "SELECT 'row'; ${ENDLESS}"; echo $?`, "row\n124\n"],
    [
      "a loop of the shell",
      "timeout 1 bash -c 'echo in; while :; do :; done'; echo $?",
      "in\n124\n",
    ],
    ["a loop of arithmetic", "timeout 1 bash -c 'for ((;;)); do ((i++)); done'; echo $?", "124\n"],
    ["what sleeps", "timeout 0.5 bash -c 'echo in; sleep 60; echo out'; echo $?", "in\n124\n"],
    ["the first part of a pipe", "timeout 5 python3 loop.py | tr a-z A-Z; echo $?", "START\n0\n"],
    ["the last part of a pipe", "echo a | timeout 5 python3 loop.py; echo $?", "start\n124\n"],
    ["a substitution", 'x=$(timeout 5 python3 loop.py); echo "$? $x"', "124 start\n"],
    ["what is redirected", "timeout 5 python3 loop.py > f; echo $?; cat f", "124\nstart\n"],
  ])("ends %s, and keeps its output", async (_, script, stdout) => {
    expect(await shell(script)).toMatchObject({ stdout, exitCode: 0 });
    expect(await shell("echo on")).toMatchObject({ stdout: "on\n", exitCode: 0 });
  });

  test("is the smallest of nested ones, in scripts, functions and subshells", async () => {
    await sandbox.writeFile("inner.sh", "timeout 0.3 python3 loop.py > f; echo inner $?\n");
    await sandbox.writeFile("never.sh", "timeout 60 python3 loop.py > f; echo never\n");
    const { stdout, stderr } = await shell(`timeout 0.3 timeout 60 python3 loop.py > f; echo $?
      timeout 60 timeout 0.3 python3 loop.py > f; echo $?
      timeout 0.3 bash never.sh; echo $?
      timeout 60 bash inner.sh; echo $?
      (timeout 0.3 python3 loop.py > f; exit $?); echo $?
      f() { timeout 0.3 python3 loop.py > f; }; f; echo $?
      echo loop.py | xargs timeout 0.3 python3 > f; echo $?
      timeout 0.3 bash -c 'timeout 60 true; sqlite3 :memory: "${ENDLESS}"; echo never'; echo $?`);
    expect(stdout).toBe("124\n124\n124\ninner 124\n0\n124\n124\n123\n124\n");
    expect(stderr).toBe("Error: stopped by timeout, the database is unchanged\n");
  });

  test.each([
    ["0.3s", 124],
    [".005m", 124],
    ["-k 1 0.3", 124],
    ["-k1s -s INT 0.3", 124],
    ["--signal=SIGTERM --kill-after=1 0.3", 124],
    ["-s KILL 0.3", 137],
    ["-s 9 0.3", 137],
    ["--preserve-status 0.3", 143],
    ["--preserve-status -s HUP -- 0.3", 129],
    ["--foreground -v 0.3", 124],
  ])("has the status of coreutils for %s", async (options, exitCode) => {
    const script = `timeout ${options} python3 loop.py > f`;
    expect(await shell(script)).toMatchObject({ exitCode });
  });

  test("changes nothing of a command that ends by itself", async () => {
    const commands = [
      ...[
        "printf 'a\\0\\377' | $T cat | od",
        '$T echo "it\'s"',
        "$T none; echo $?",
        "$T 'no ne'; echo $?",
      ],
      `$T python3 -c 'import sys; print(sys.argv[1:], sys.stdin.read()); sys.exit(3)' "a b" "c'd" <<< in; echo $?`,
      "$T bash -c 'echo out; echo err >&2; exit 4'; echo $?; $T false || echo failed",
      "$T sqlite3 a.db 'CREATE TABLE IF NOT EXISTS t(x)' 'INSERT INTO t VALUES (1)' 'SELECT max(x) FROM t'",
      "printf '#!/bin/bash\\necho script $1\\n' > s.sh; chmod +x s.sh; $T ./s.sh a; x=$($T ./s.sh b); echo $x",
    ].join("\n");
    const plain = await shell(commands.replaceAll("$T ", ""));
    expect(plain.stdout).toContain("failed\n");
    for (const prefix of ["timeout 60", "timeout 0", "timeout 60 timeout 50", "timeout -k 1 5m"]) {
      expect(await shell(commands.replaceAll("$T", prefix)), prefix).toEqual(plain);
    }
  });

  test.each([
    "",
    "5",
    "x true",
    "-5 true",
    "-s NONE 5 true",
    "-k x 5 true",
    "--none 5 true",
    "5x true",
  ])("refuses the arguments %j", async (args) => {
    const { exitCode, stderr } = await shell(`timeout ${args}`);
    expect([exitCode, stderr]).toEqual([125, expect.stringMatching(/^timeout: .*\nUsage: /)]);
  });

  test("leaves a database as it was, and the next command can use it", async () => {
    await shell("sqlite3 a.db 'CREATE TABLE t(x)'");
    const script = `timeout 1 sqlite3 a.db 'INSERT INTO t VALUES (1)' "${ENDLESS}"; echo $?
      sqlite3 a.db 'SELECT count(*) FROM t'`;
    expect(await shell(script)).toMatchObject({
      stdout: "124\n0\n",
      stderr: expect.stringContaining("the database is unchanged"),
    });
  });

  test("ends the whole command when it cannot end a part of it, and says so", async () => {
    await sandbox.writeFile("rows.csv", "1\n2\n");
    // Loaded before the time counts.
    await shell("sqlite3 :memory: 'SELECT 1'");
    const trigger = `CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT (${ENDLESS}); END`;
    const script = `echo kept > f; echo first
      timeout 2 sqlite3 :memory: 'CREATE TABLE t(x)' "${trigger}" '.import rows.csv t'; echo never`;
    expect(await shell(script)).toEqual({
      exitCode: 124,
      stdout: "first\n",
      stderr: "Killed: the whole command, because timeout could not end a part of it\n",
      truncated: false,
    });
    expect(await shell("cat f")).toMatchObject({ stdout: "kept\n", exitCode: 0 });
  });
});
