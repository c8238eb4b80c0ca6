/** Commands that try to take the whole machine. */
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import type { Sandbox } from "@platform/sandbox/port";
import { pack } from "tar-stream";

const MIB = 1024 * 1024;

/** Each must end by itself or at the deadline, with an error, while others are served. */
export const attacks: Record<string, string> = {
  "an endless loop in awk": "awk 'BEGIN { while (1) x++ }'",
  "a nested loop in awk":
    "awk 'BEGIN { for (i = 0; i < 999999; i++) for (j = 0; j < 999999; j++) x++ }'",
  "endless recursion in awk": "awk 'function f(n) { return f(n) f(n) } BEGIN { f(1) }'",
  "an endless loop in sed": "echo a | sed ':a; ba'",
  "a growing loop in sed": "echo a | sed ':a; s/a/aa/; ta'",
  "an endless loop in the shell": "while true; do :; done",
  "endless recursion in the shell": "f() { f | f; }; f",
  "endless recursion in jq": "jq -n 'def f: f | f; f'",
  "an endless list in jq": "jq -n '[range(1e12)] | length'",
  "a fork bomb": ":(){ :|:& };:",
  "a fork bomb of shells":
    "f() { bash -c 'f() { bash -c \"$F\" & bash -c \"$F\"; }; f'; }; export F='f'; while true; do f; done",
  "an endless sleep": "sleep infinity || sleep 100000",
  "a slow regular expression": `printf '%0200d!' 0 | grep -P '^(0+)+$'; while true; do [[ x =~ ((x+)+)+y ]]; done`,
  "a string that doubles": 'x=aaaaaaaaaaaaaaaa; while true; do x="$x$x"; done',
  "strings that fill an array": 'x=$(printf %01000000d 0); while true; do a+=("$x$RANDOM"); done',
  "strings that fill an array of awk": `awk 'BEGIN { s = "0"; for (i = 0; i < 16; i++) s = s s; for (i = 0; i < 900000; i++) a[i] = toupper(s i) }'`,
  "a brace expansion": "echo {1..9999}{1..9999}{1..9999} | wc -c; false",
  "a wide number": "printf '%02000000000d' 1",
  "an endless output": "while true; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done",
  "an endless error output": "while true; do echo nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn >&2; done",
  "an endless awk output": `awk 'BEGIN { while (1) print "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy" }'`,
  "files without end": 'while true; do echo x > "f$((n++))"; done',
  "folders without end": "while true; do mkdir d && cd d; done",
  "a file that grows": 'x=$(printf %01000000d 0); while true; do echo "$x" >> f || exit 1; done',
  "a file that is copied":
    'printf %010000000d 0 > f0; n=0; while true; do cp f0 "f$((++n))" || exit 1; done',
  "an endless loop in Python": "python3 -c 'while True: pass'",
  "an endless list in Python": `python3 -c 'l = []
while True: l.append("x" * 100_000)'`,
  "a great allocation in Python": "python3 -c 'bytearray(2**31 - 1)'",
  "endless recursion in Python": `python3 -c 'f = lambda: f()
f()'`,
  "an endless output of Python": `python3 -c 'while True: print("y" * 1000)'; false`,
  "a file of Python that grows": `python3 -c 'f = open("f", "wb")
while True: f.write(bytes(1_000_000))'`,
  "an endless query of SQLite":
    "sqlite3 :memory: 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n'",
  "a database that grows":
    "sqlite3 big.db 'CREATE TABLE t(x)' 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) INSERT INTO t SELECT randomblob(9999) FROM n'",
  "a gzip bomb": "gzip -dc bomb.gz > bomb; false",
  "a tar bomb": "mkdir out && cd out && tar xzf ../bomb.tgz",
};

/** Attacks of the same kind as another one, which are made only with `SOAK=1`. */
const repeated = new Set([
  "a nested loop in awk",
  "an endless loop in sed",
  "endless recursion in the shell",
  "an endless list in jq",
  "strings that fill an array of awk",
  "a wide number",
  "an endless error output",
  "an endless awk output",
  "a file that is copied",
  "a great allocation in Python",
  "a database that grows",
]);

export const madeAttacks = Object.entries(attacks).filter(
  ([name]) => process.env.SOAK === "1" || !repeated.has(name),
);

/** Attacks that have reached no limit when the deadline of the tests ends them. */
export const endless: ReadonlySet<string> = new Set([
  "an endless loop in awk",
  "a nested loop in awk",
  "an endless loop in sed",
  "a growing loop in sed",
  "an endless loop in Python",
  "an endless query of SQLite",
  "an endless loop in the shell",
  "an endless sleep",
  "a slow regular expression",
  "a fork bomb of shells",
  "strings that fill an array",
  "an endless output",
  "an endless error output",
  "an endless awk output",
  "an endless output of Python",
  "files without end",
  "folders without end",
]);

/** Each is 1 GiB of zeros in about a megabyte, made of many members to be created quickly. */
export async function plantBombs(sandbox: Sandbox): Promise<void> {
  const zeros = gzipSync(new Uint8Array(16 * MIB));
  await sandbox.writeFile("bomb.gz", Buffer.concat(Array.from({ length: 64 }, () => zeros)));
  const archive = pack();
  for (let n = 0; n < 16; n++) archive.entry({ name: `zeros${n}` }, Buffer.alloc(4 * MIB));
  archive.finalize();
  await sandbox.writeFile("bomb.tgz", gzipSync(await buffer(archive)));
}
