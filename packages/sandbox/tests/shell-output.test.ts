/**
 * The output of the embedded sandbox's shell while a script runs. Watching it must change nothing, so each script runs
 * with and without it. This file is long because it lists scripts of all shapes.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of the shell.
import { Bash, defineCommand } from "just-bash";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type LiveStreams,
  liveStreams,
  withLiveOutput,
} from "../src/adapters/local/live-output.ts";

const LIMITS = { maxOutputSize: 100_000, maxLoopIterations: 2_000 };
const FILES = {
  "/w/s.sh": "echo one $1; echo err >&2; x=sourced; [ $1 = fail ] && exit 3; echo two",
  "/w/lines": "a\nb\nc\n",
  "/w/bytes": new Uint8Array([0xff, 0xfe, 0x41, 0x0a]),
};

type Piece = readonly [stream: "stdout" | "stderr", text: string];

async function execute(script: string, pieces?: Piece[]) {
  const bash = new Bash({ files: FILES, cwd: "/w", executionLimits: LIMITS, env: { MARK: "m" } });
  const run = async () => {
    const { stdout, stderr, exitCode } = await bash.exec(script);
    return { stdout, stderr, exitCode };
  };
  const result = await (pieces
    ? withLiveOutput(10_000_000, (...piece) => pieces.push(piece), run)
    : run()
  ).catch((error: Error) => ({ thrown: error.message, stdout: "", stderr: "" }));
  const files = await bash.exec("cd /w && for f in *; do echo $f; od -c $f; done", { cwd: "/w" });
  return { ...result, files: files.stdout };
}

const joined = (pieces: readonly Piece[], stream: Piece[0]) =>
  pieces
    .filter(([of]) => of === stream)
    .map(([, text]) => text)
    .join("");

/** All that they print is also shown while they run. */
const scripts = [
  "",
  ":",
  "echo a; echo b >&2; echo c",
  "echo -n a; printf '%s' b; echo ü€😀; printf '\\xc3'; printf '\\xbc\\n'",
  "for i in 1 2 3; do echo $i; sleep 0.01; done; echo after $i",
  "for ((i = 0; i < 3; i++)); do echo $i; ((i == 1)) && continue; echo . >&2; done",
  "i=0; while [ $i -lt 3 ]; do echo $((i++)); done; until [ $i -eq 0 ]; do echo $((i--)); done",
  "while echo cond; do echo body; break; done",
  "if echo yes; then echo then; else echo else; fi; if false; then :; elif echo elif; then echo e; fi",
  "case abc in a*) echo one ;& x) echo two ;; *) echo three ;; esac",
  "{ echo a; cd /tmp; x=1; }; pwd; echo $x",
  "(echo a; cd /tmp; x=1; exit 4); echo $? $x; pwd",
  "for i in 1 2; do for j in a b c; do echo $i$j; [ $j = b ] && break 2; done; done; echo $j",
  "for i in 1 2; do for j in a b; do echo $i$j; continue 2; done; done",
  "f() { echo in $1; return 5; echo never; }; f x; echo $?; f y | tr a-z A-Z; echo ${PIPESTATUS[@]}",
  'f() { echo out; echo err >&2; }; f; x=$(f); echo "<$x>"; f 2>&1; f >/dev/null; f 2>/dev/null; f &>/dev/null',
  "f() { echo hidden; } >/dev/null; f; g() { echo shown; }; g; h() { echo e >&2; } 2>/dev/null; h",
  "f() { [ $1 -gt 0 ] && echo $1 && f $(($1 - 1)); }; f 5",
  "echo a | cat | tr a b; echo x | while read l; do echo got $l; done; echo ${PIPESTATUS[1]}",
  "{ echo out; echo err >&2; } | cat; ls /none | cat; ls /none |& cat",
  "for i in 1 2; do echo $i; ls /none; done 2>&1; for i in 1 2; do echo $i; echo e >&2; done 2>/dev/null",
  "for i in 1 2; do echo $i; done > f; while read l; do echo $l; done < lines; cat f",
  "while read l; do echo $l; cat; done < lines; mapfile -t a < lines; echo ${#a[@]}",
  "cat <<E; cat <<'F' | sort -r; cat <<<word\n$MARK $(echo sub)\nE\n2\n1\nF",
  "false && echo no; true && echo yes || echo no; false || echo or; ! true; echo $?; echo a && false && echo b",
  "set -e; echo a; false || true; if false; then :; fi; ! true; echo b; false; echo never",
  "set -e; f() { false; echo in; }; f || echo caught; f; echo never",
  "echo a; exit 3; echo never",
  "for i in 1 2 3; do echo $i; exit 7; done; echo never",
  "set -o pipefail; false | true; echo $?; true | false | cat; echo ${PIPESTATUS[*]}",
  "exec > out; echo hidden; echo shown >&2; exec 3>&1; echo three >&3",
  "exec 2>&1; echo a; echo b >&2; ls /none; exec 3>&2; echo c >&3",
  "exec > out; bash s.sh a; echo b | bash; exec 2>&1; bash s.sh c",
  "exec 2>err; bash s.sh a; ls /none; f() { echo e >&2; }; f; cat err",
  "exec 3>&1; echo a 1<&2; { echo b; } 1<&2; { echo c; bash s.sh d; } >&3",
  "exec 3>f; echo x >&3; exec 3>&-; cat f; echo y >> f; cat < f",
  "echo a & echo b; wait; echo $!",
  "x=$(echo a; echo b >&2; exit 3); echo $? $x; y=`echo old`; echo $y $(echo $(echo deep))",
  "diff <(echo a) <(echo b); cat <(echo sub); echo x > >(cat)",
  "for x in $(echo 1; ls /none; echo 2); do echo $x; done",
  "bash s.sh a; sh s.sh fail; echo $?; bash -c 'echo $0 $1; echo $(echo sub); exit 9' n a; echo $?",
  ". ./s.sh b; echo $x; source s.sh fail; echo never",
  'eval "echo a; echo b >&2"; eval "echo $(echo 1)"; eval \'f() { echo f; }\'; f',
  "bash s.sh $(echo sub; echo err >&2); bash s.sh x > f; bash s.sh y | cat; bash <<< 'echo here; echo $(echo h)'",
  "printf '#!/bin/bash\\necho script $1\\n' > x.sh; chmod +x x.sh; ./x.sh a; x=$(./x.sh b); echo $x",
  "timeout 5 bash s.sh a; timeout 5 echo b; env X=1 bash -c 'echo $X'; echo 'echo piped' | bash",
  "seq 3 | xargs -n 1 echo n; find . -name lines -exec cat {} \\;; echo a b | xargs -I{} bash -c 'echo {}'",
  "set -x; echo a; x=1; for i in 1; do echo $i; done; set +x; echo b",
  'command echo b; builtin echo c; \\echo d; "echo" e',
  "trap 'echo bye' EXIT; echo a; trap - EXIT; trap 'echo err' ERR; false; echo b",
  "echo $LINENO\necho $LINENO; for i in 1; do\necho $LINENO\ndone; f() { echo $LINENO; }; f; echo $_ $BASH_SUBSHELL",
  "cat bytes | od -c; cat bytes > copy; head -c 2 bytes | xxd; gzip -c lines | gunzip",
  "declare -A m=([a]=1 [b]=2); for k in a b; do echo $k ${m[$k]}; done; declare -p m; readonly r=1",
  "shopt -s expand_aliases; alias e='echo aliased'\ne x; x=echo; $x dynamic; shopt -s lastpipe; echo v | read v; echo $v",
  "read -r a b <<< 'x y z'; echo $a-$b; select_none=1; [[ a == a ]] && echo t; (( 0 )) || echo f; let x=2; echo $x",
  "echo a 2>&1 >/dev/null; ls /none 2>&1 >/dev/null; ls /none >/dev/null 2>&1; ls /none 2>f; cat f; echo x >/dev/stderr",
  "{ echo a; echo b >&2; } 2>&1; { echo c; { echo d >&2; } 2>&1; } > f; ( echo e >&2 ) 2>&1; cat f",
  "for i in 1 2; do { echo $i; echo e$i >&2; } 2>&1 | sed s/^/p/; done",
  "yes | head -n 3; echo done; seq 1 1000 | tail -n 1",
];

/** The shown output may lack a message, or have the lines of stderr in another order. */
const others = [
  "set -x; f() { echo f; }; f; x=$(f); eval 'echo a'; bash -c 'echo b' $(f)",
  "set -v\necho a\nfor i in 1; do echo $i; done",
  "f() { echo e >&2; }; f $(ls /none); echo a",
  "echo a; if then fi; echo b",
  "echo a\n{ echo b\n",
  "echo a; set -u; echo $nothing; echo after",
  "set -u; for i in 1 2; do echo $i; echo $nothing; done; echo after",
  "echo a; echo ${x:?is missing}; echo after",
  "for i in 1 2; do echo $((1 / 0)); done; echo after; echo $((2 / 0)); echo end",
  "readonly r=1; echo a; r=2; echo after; for i in 1; do r=3; echo in; done; echo end",
  "echo ${x!y}; echo after; f() { echo ${#a:1:2}; echo in; }; f; echo end",
  "f() { echo $1; f $(($1 + 1)); }; f 1; echo after",
  "while true; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done",
  'x=$(seq 1 20000); while true; do echo "$x"; done; echo after',
  "while true; do :; done",
  "echo a; nothing_here; echo $?; ./none; cat none; cd none; echo x > /none/f; echo b",
  "timeout 0.05 bash -c 'echo early; sleep 1; echo late'; echo $?; for i in 1 2; do echo $i; done",
  "set -o posix; echo a; shift 5; echo b; export 1x=2; echo c",
  "shopt -s failglob; echo a; echo *.none; echo b; echo {z..A}; echo c",
  "break; echo a; continue; return 3; echo b; exit abc; echo c",
  "for i in 1 2; do echo $i; (exit 3) | exit 4 | { echo e >&2; exit 5; }; echo $?; done",
  "bash -c 'if'; eval 'for'; echo 'fi' > bad; . ./bad; bash bad; echo $?",
];

const expected = new Map<string, Awaited<ReturnType<typeof execute>>>();

beforeAll(async () => {
  // Before anything is observed.
  for (const script of [...scripts, ...others]) expected.set(script, await execute(script));
}, 60_000);

describe("the output of a script is shown while it runs, and its result is the same", () => {
  test.each(scripts)("%s", async (script) => {
    const pieces: Piece[] = [];
    const watched = await execute(script, pieces);
    expect(watched).toEqual(expected.get(script));
    const { stdout, stderr } = watched;
    expect({ stdout: joined(pieces, "stdout"), stderr: joined(pieces, "stderr") }).toEqual({
      stdout,
      stderr,
    });
  });
});

describe("a script that fails or is traced has the same result", () => {
  test.each(others)("%s", async (script) => {
    expect(await execute(script, [])).toEqual(expected.get(script));
  });
});

test("scripts that run at once show their own output", async () => {
  const shown = ["a", "b", "c"].map(async (name) => {
    const pieces: Piece[] = [];
    await execute(`for i in 1 2 3; do echo ${name}$i; sleep 0.01; done`, pieces);
    return joined(pieces, "stdout");
  });
  expect(await Promise.all(shown)).toEqual(["a1\na2\na3\n", "b1\nb2\nb3\n", "c1\nc2\nc3\n"]);
});

test("a flood is sent in few pieces, up to the limit", async () => {
  const pieces: Piece[] = [];
  const script = "for ((i = 0; i < 1000; i++)); do echo $i; done";
  await withLiveOutput(
    2_001,
    (...piece) => pieces.push(piece),
    () => new Bash().exec(script),
  );
  expect(joined(pieces, "stdout")).toHaveLength(2_001);
  expect(pieces.length).toBeLessThan(60);
});

test("a program that prints after the script has ended is not shown", async () => {
  const pieces: Piece[] = [];
  let streams: LiveStreams = {};
  const late = defineCommand("late", async () => {
    streams = liveStreams();
    return { stdout: "", stderr: "", exitCode: 0 };
  });
  await withLiveOutput(
    10_000,
    (...piece) => pieces.push(piece),
    () => new Bash({ customCommands: [late] }).exec("echo in time; late"),
  );
  streams.stdout?.(Buffer.from("much too late for the script\n"));
  expect(pieces).toEqual([["stdout", "in time\n"]]);
});
