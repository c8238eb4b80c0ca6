/** Commands that language models write every day have the same effect in the embedded shell as in bash. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createLocalProvider } from "@platform/sandbox/local";
import { expect, test } from "vitest";

/** Programs of which some machines lack one. Their commands are left out there. */
const PROGRAMS = ["bc", "iconv", "jq", "python3", "sqlite3", "unzip", "xxd", "zip"];
const KNOWN = /^# known: .+\n/;

const FIXTURES: Readonly<Record<string, string>> = {
  "releases.csv": `title,artist,genre,date,streams
Night Drive,Mira Lund,Pop,2026-03-06,12450
Paper Boats,The Quiet Hours,Folk,2026-01-16,3310
Static,Mira Lund,Pop,2027-03-12,980
Harbour Lights,Ola Brandt,Jazz,2025-11-21,20117
`,
  "streams.tsv":
    "Night Drive\tMira Lund\t12450\nStatic\tMira Lund\t980\nHarbour Lights\tOla Brandt\t20117\n",
  "tracks.json": `{
  "artist": "Mira Lund",
  "tracks": [
    {"title": "Night Drive", "isrc": "DEA122600001", "seconds": 201, "explicit": false},
    {"title": "Static", "isrc": null, "seconds": 187, "explicit": true},
    {"title": "Öl & Salz", "isrc": "DEA122600003", "seconds": 240, "explicit": false}
  ]
}
`,
  "notes.txt":
    "# Meeting\n\nTODO call  the distributor\nPitch to editors, 4 weeks before\nTODO: artwork\n\nContacts\nmira@label.example\n",
  "promo/bio.md": "# Mira Lund\n\nMira Lund writes songs.\n",
  "promo/one sheet.txt": "TODO one sheet\n",
};

const run = promisify(execFile);

/** Returns each file with its content, and each folder. */
async function contentsOf(folder: string): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    contents[path.slice(folder.length + 1)] = entry.isFile() ? await readFile(path, "latin1") : "";
  }
  return contents;
}

test("the corpus of commands", { timeout: 120_000 }, async () => {
  const dir = await mkdtemp(join(tmpdir(), "shell-corpus-"));
  const provider = createLocalProvider({
    rootDir: join(dir, "sandboxes"),
    diskQuota: 64 * 1024 * 1024,
    startsAhead: false,
    allowedHosts: [],
  });
  const session = randomUUID();
  const state = await provider.provision(session, randomUUID());
  const sandbox = provider.open(state, randomUUID());
  const [real, embedded] = [join(dir, "real"), join(dir, "sandboxes", session, "home")];
  try {
    await mkdir(join(dir, "fixtures/promo"), { recursive: true });
    for (const [name, content] of Object.entries(FIXTURES)) {
      await writeFile(join(dir, "fixtures", name), content);
    }
    const file = await readFile(new URL("shell-corpus.txt", import.meta.url), "utf8");
    const present = await run("/bin/bash", [
      "-c",
      `for p in ${PROGRAMS.join(" ")}; do command -v $p; done; :`,
    ]);
    const absent = PROGRAMS.filter((name) => !new RegExp(`/${name}\n`).test(present.stdout));
    const commands = file.split(/^%%\n/m).map((text, index) => ({ name: String(index + 1), text }));
    const compared = commands.filter(
      ({ text }) => !absent.some((name) => new RegExp(`\\b${name}\\b`).test(text)),
    );
    const skipped = commands.length - compared.length;
    if (skipped > 0) console.warn(`${skipped} commands skipped without ${absent.join(", ")}`);
    for (const { name, text } of compared) {
      await cp(join(dir, "fixtures"), join(real, name), { recursive: true });
      await cp(join(dir, "fixtures"), join(embedded, name), { recursive: true });
      await writeFile(join(real, `${name}.sh`), text);
    }
    const all = `cd '${real}'; for f in *.sh; do n=\${f%.sh}
      (cd $n; exec bash ../$f) > $n.out 2> $n.err < /dev/null; echo $? > $n.status; done`;
    const env: NodeJS.ProcessEnv = {
      NODE_ENV: "test",
      PATH: process.env.PATH ?? "",
      HOME: real,
      LC_ALL: "C.UTF-8",
      TZ: "UTC",
    };
    await run("/bin/bash", ["-c", all], { env });
    const differences: string[] = [];
    for (const { name, text } of compared) {
      const result = await sandbox.run(text, {
        cwd: name,
        timeoutMs: 30_000,
        maxOutputChars: 20_000,
      });
      const ours = {
        stdout: result.stdout,
        status: result.exitCode,
        files: await contentsOf(join(embedded, name)),
      };
      const theirs = {
        stdout: await readFile(join(real, `${name}.out`), "utf8"),
        status: Number(await readFile(join(real, `${name}.status`), "utf8")),
        files: await contentsOf(join(real, name)),
      };
      const isSame = JSON.stringify(ours, order) === JSON.stringify(theirs, order);
      if (isSame === KNOWN.test(text)) {
        differences.push(
          `${text}embedded ${show(ours)} ${result.stderr}\nbash     ${show(theirs)}`,
        );
      }
    }
    expect(differences.join("\n\n")).toBe("");
  } finally {
    await provider.destroy(state);
    await rm(dir, { recursive: true, force: true });
  }

  function show({ files, ...rest }: { files: Record<string, string> }): string {
    const changed = Object.entries(files).filter(([name, content]) => FIXTURES[name] !== content);
    return JSON.stringify({ ...rest, changed, count: Object.keys(files).length });
  }
});

/** Sorts the keys of folders. */
function order(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
