/**
 * The guarantees of every adapter of the sandbox port. This file is long because it is one list of
 * guarantees, and each of them runs against every adapter.
 */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isolation } from "@platform/kit/isolation/isolation";
import { createLocalProvider } from "@platform/sandbox/local";
import {
  type CommandOptions,
  MAX_FILE_BYTES,
  MAX_LISTED_ENTRIES,
  type Sandbox,
  SandboxError,
  type SandboxProvider,
  type SandboxState,
} from "@platform/sandbox/port";
import { createSystemProvider } from "@platform/sandbox/system";
import { createVercelProvider } from "@platform/sandbox/vercel";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FakeVercel, startFakeVercel } from "../../../tests/support/fakes/vercel-sandbox.ts";

const options = { timeoutMs: 30_000, maxOutputChars: 10_000 } satisfies CommandOptions;

const account = randomUUID();
let dir: string;
let vercel: FakeVercel;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "sandbox-conformance-"));
  vercel = await startFakeVercel(join(dir, "vercel"));
});

afterAll(async () => {
  await vercel.close();
  await rm(dir, { recursive: true, force: true });
});

/** To the adapter, each call is a new server process. */
const adapters: Record<SandboxProvider["name"], () => SandboxProvider> = {
  local: () =>
    createLocalProvider({
      rootDir: join(dir, "local"),
      diskQuota: 64 * 1024 * 1024,
      allowedHosts: [],
    }),
  system: () =>
    createSystemProvider({
      rootDir: join(dir, "system"),
      diskQuota: 64 * 1024 * 1024,
      allowedHosts: [],
    }),
  vercel: () =>
    createVercelProvider({
      credentials: { token: "token", teamId: "team", projectId: "project" },
      allowedHosts: [],
      fetch: vercel.fetch,
    }),
};

const offered = Object.entries(adapters).filter(
  ([name]) => name !== "system" || isolation().kind === "namespaces",
);

describe.each(offered)("the %s sandbox", (name, connect) => {
  let provider: SandboxProvider;
  let sessionId: string;
  let state: SandboxState;
  let sandbox: Sandbox;

  const provision = async () => {
    provider ??= connect();
    sessionId = randomUUID();
    state = await provider.provision(sessionId, account);
    sandbox = provider.open(state, account);
    return () => provider.destroy(state);
  };
  /** One sandbox for the tests of a group, whose home is empty for each of them. */
  const shareSandbox = () => {
    beforeAll(provision);
    beforeEach(() => shell("rm -rf ./* ./.[!.]*"));
  };

  const shell = async (command: string, more: Partial<CommandOptions> = {}) =>
    sandbox.run(command, { ...options, ...more });
  const openFiles = () => provider.openFiles(state, account);
  const text = async (path: string) => Buffer.from(await sandbox.readFile(path)).toString();

  describe("provisioning", () => {
    beforeEach(provision);

    test("says what was made and keeps it for the next call", async () => {
      expect(state).toEqual({
        provider: name,
        name: sessionId,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        expiresAt: null,
        readyMs: expect.any(Number),
      });
      await sandbox.writeFile("kept.txt", "kept");
      expect((await provider.provision(sessionId, account)).name).toBe(state.name);
      expect(await text("kept.txt")).toBe("kept");
    });

    test("two calls at once make one sandbox", async () => {
      const id = randomUUID();
      const [first, second] = await Promise.all([
        provider.provision(id, account),
        connect().provision(id, account),
      ]);
      await provider.open(first, account).writeFile("one.txt", "one");
      const seen = await provider.open(second, account).readFile("one.txt");
      expect(Buffer.from(seen).toString()).toBe("one");
      await provider.destroy(first);
    });

    test("what one server wrote, the next one reads", async () => {
      await sandbox.writeFile("notes/a.txt", "before the restart");
      await shell("echo appended >> notes/a.txt");
      const next = connect().open(state, account);
      expect(Buffer.from(await next.readFile("notes/a.txt")).toString()).toBe(
        "before the restartappended\n",
      );
      expect(await next.run("ls notes", options)).toMatchObject({ stdout: "a.txt\n" });
    });

    test("sessions do not see each other's files", async () => {
      await sandbox.writeFile("secret.txt", "mine");
      const otherState = await provider.provision(randomUUID(), account);
      const other = provider.open(otherState, account);
      expect(await other.run("ls -A; cat secret.txt", options)).toMatchObject({ stdout: "" });
      await expect(other.readFile("secret.txt")).rejects.toMatchObject({ code: "not_found" });
      await provider.destroy(otherState);
    });

    test("destroying ends it, deletes the files and may be repeated", async () => {
      expect(await provider.status(state)).toBe("active");
      await sandbox.writeFile("a.txt", "a");
      await provider.destroy(state);
      await provider.destroy(state);
      expect(await provider.status(state)).toBe("expired");
      const reopened = provider.open(state, account);
      await expect(reopened.run("true", options)).rejects.toMatchObject({ code: "unavailable" });
      await expect(reopened.readFile("a.txt")).rejects.toMatchObject({ code: "unavailable" });
      const again = provider.open(await provider.provision(sessionId, account), account);
      expect(await again.run("ls -A", options)).toMatchObject({ exitCode: 0, stdout: "" });
    });

    test("what is gone cannot be looked into", async () => {
      await provider.destroy(state);
      await expect(openFiles().listFolder(".")).rejects.toMatchObject({ code: "unavailable" });
      await expect(openFiles().readFile("a.txt")).rejects.toMatchObject({ code: "unavailable" });
    });
  });

  describe("commands", () => {
    shareSandbox();

    test("give exit code, stdout and stderr", async () => {
      expect(await shell("echo out; echo err >&2; exit 3")).toEqual({
        exitCode: 3,
        stdout: "out\n",
        stderr: "err\n",
        truncated: false,
      });
    });

    test("a pipeline, a here-document and quotes do what bash does", async () => {
      const command = `cat <<'E' | sort -r | head -n 2\nb "x"\na $HOME\nc 'y'\nE`;
      expect(await shell(command)).toMatchObject({ stdout: `c 'y'\nb "x"\n` });
    });

    test("a here-document keeps its indentation, wherever it starts", async () => {
      const command = "echo 'a\n b'; cat > indented <<'EOF'\n  x\n\ty\nEOF\ncat indented";
      expect(await shell(command)).toMatchObject({ stdout: "a\n b\n  x\n\ty\n" });
    });

    // The fake machine of Vercel has the programs of this one.
    test.skipIf(name === "vercel")("have the programs that the provider names", async () => {
      expect(provider.programs.length).toBeLessThanOrEqual(300);
      const names = provider.programs.split(", ").map((program) => program.split(" with ")[0]);
      const { stdout } = await shell(
        `for p in ${names.join(" ")}; do command -v $p > /dev/null || echo $p; done`,
      );
      expect(stdout).toBe("");
    });

    test("a path that ends with a slash is a folder, and no file is made there", async () => {
      await sandbox.writeFile("slash/song.txt", "song\n");
      const inFolder = { cwd: "slash" };
      for (const command of [
        "cp song.txt none/",
        "mv song.txt none/",
        "echo x > none/",
        "echo x >> none/",
        "cp song.txt other/none/",
        "touch none/",
        "install song.txt none/",
        "tee none/ < song.txt",
      ]) {
        expect((await shell(command, inFolder)).exitCode, command).not.toBe(0);
      }
      const made =
        "mkdir new/ && mv song.txt new/ && cp -r new/ copy/ && cd new/ && pwd && cat ../*/*";
      const { stdout } = await shell(`ls; ${made}`, inFolder);
      expect(stdout).toMatch(/^song\.txt\n\S+\/slash\/new\nsong\nsong\n$/);
    });

    test("search and list files as the tools need it", async () => {
      await sandbox.writeFile("src/a.ts", "one\nTwo\n");
      await sandbox.writeFile("src/deep/b.ts", "two\n");
      await sandbox.writeFile("src/c.md", "two\n");
      const found = await shell("grep -rnEi --include='*.ts' 'tw(o)' src | sort");
      expect(found.stdout).toBe("src/a.ts:2:Two\nsrc/deep/b.ts:1:two\n");
      const perl = await shell("grep -rnP -e '^o\\w{2}$' -- src /dev/null");
      expect(perl.stdout).toBe("src/a.ts:1:one\n");
      const listed = await shell("find . \\( -name deep \\) -prune -o -type f -print | sort");
      expect(listed.stdout).toBe("./src/a.ts\n./src/c.md\n");
    });

    test("start in the home, or in the folder that is asked for", async () => {
      await shell("mkdir -p work/inner && echo here > work/inner/x");
      expect(await shell("cat x", { cwd: "work/inner" })).toMatchObject({ stdout: "here\n" });
      const { stdout } = await shell("cd work/inner && pwd");
      expect(await shell("cat x", { cwd: stdout.trim() })).toMatchObject({ stdout: "here\n" });
      const missing = await shell("echo ran", { cwd: "nowhere" });
      expect(missing).toMatchObject({ exitCode: 1, stdout: "" });
      expect(missing.stderr).not.toBe("");
    });

    test("an environment is the one command's alone", async () => {
      const env = { AGENT_API_AUTH_HEADER: "Authorization: Bearer s3cr3t-value" };
      const own = await shell('printf "%s" "$AGENT_API_AUTH_HEADER"', { env });
      expect(own.stdout).toBe("Authorization: Bearer s3cr3t-value");
      const next = await shell('echo "[$AGENT_API_AUTH_HEADER]"; env');
      expect(next.stdout).toContain("[]");
      expect(next.stdout).not.toContain("s3cr3t-value");
      const stored = await shell("grep -r s3cr3t-value . ; ls -A");
      expect(stored.stdout).toBe("");
    });

    test("the variables of one command are not those of the next", async () => {
      await shell("export LEFT=over; alias ll=ls; f() { echo f; }; cd /tmp");
      expect(await shell('echo "[$LEFT]"; f')).toMatchObject({ exitCode: 127, stdout: "[]\n" });
    });

    test("end at the deadline with 124, and the sandbox goes on", async () => {
      const late = await shell("echo kept | tee kept.txt; sleep 600", { timeoutMs: 5_000 });
      expect(late).toMatchObject({ exitCode: 124, stdout: "kept\n" });
      expect(late.stderr).toContain("deadline");
      expect(await shell("cat kept.txt")).toMatchObject({ exitCode: 0, stdout: "kept\n" });
    });

    test("end at the signal with 137, and the sandbox goes on", async () => {
      const stop = new AbortController();
      const running = shell("echo started > started.txt; sleep 600", { signal: stop.signal });
      const reader = connect().open(state, account);
      await expect
        .poll(() =>
          reader.readFile("started.txt").then(
            (bytes) => Buffer.from(bytes).toString(),
            () => null,
          ),
        )
        .toBe("started\n");
      stop.abort();
      expect(await running).toMatchObject({ exitCode: 137 });
      expect(await shell("cat started.txt")).toMatchObject({ exitCode: 0, stdout: "started\n" });
    });

    test("show their output while they run", async () => {
      const stop = new AbortController();
      const seen = { stdout: "", stderr: "" };
      const onOutput: CommandOptions["onOutput"] = (stream, text) => {
        seen[stream] += text;
      };
      const command = "for i in 1 2; do echo $i; echo e$i >&2; x=$(echo kept); done; sleep 600";
      const running = shell(command, { signal: stop.signal, onOutput });
      await expect.poll(() => seen).toEqual({ stdout: "1\n2\n", stderr: "e1\ne2\n" });
      stop.abort();
      expect(await running).toMatchObject({ exitCode: 137 });
    });

    test("do not start when the signal has come before", async () => {
      const result = await shell("echo ran > ran.txt", { signal: AbortSignal.abort() });
      expect(result).toMatchObject({ exitCode: 137 });
      await expect(sandbox.readFile("ran.txt")).rejects.toMatchObject({ code: "not_found" });
    });

    test("output is cut at the limit and says so", async () => {
      const cut = await shell("seq 1 20000; seq 1 20000 >&2", { maxOutputChars: 1_000 });
      expect(cut.truncated).toBe(true);
      expect(cut.stdout).toHaveLength(1_000);
      expect(cut.stderr).toHaveLength(1_000);
      expect(cut.stdout.startsWith("1\n2\n3\n")).toBe(true);
      expect(await shell("printf %01000d 0", { maxOutputChars: 1_000 })).toMatchObject({
        exitCode: 0,
        truncated: false,
      });
    });

    test("output is cut between characters, never inside one", async () => {
      await sandbox.writeFile("wide.txt", "😀".repeat(2_000));
      const { stdout, truncated } = await shell("cat wide.txt", { maxOutputChars: 1_001 });
      expect(truncated).toBe(true);
      expect(stdout).toBe("😀".repeat(500));
    });

    test("several at once all finish, each with its own result", async () => {
      const results = await Promise.all(
        [1, 2, 3, 4].map((n) => shell(`echo ${n} > f${n}; cat f${n}`)),
      );
      expect(results.map(({ stdout }) => stdout)).toEqual(["1\n", "2\n", "3\n", "4\n"]);
    });
  });

  describe("files", () => {
    shareSandbox();

    test("keep every byte", async () => {
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);
      await sandbox.writeFile("raw/bytes.bin", bytes);
      expect(Buffer.from(await sandbox.readFile("raw/bytes.bin")).equals(Buffer.from(bytes))).toBe(
        true,
      );
      expect(await shell("wc -c < raw/bytes.bin")).toMatchObject({
        stdout: expect.stringMatching(/^\s*70000\n$/),
      });
    });

    test("text is UTF-8, empty is empty, and a write replaces the whole", async () => {
      await sandbox.writeFile("t.txt", "a long first version");
      await sandbox.writeFile("t.txt", "zwölf €😀\n");
      expect(await text("t.txt")).toBe("zwölf €😀\n");
      expect(await shell("cat t.txt")).toMatchObject({ stdout: "zwölf €😀\n" });
      await sandbox.writeFile("t.txt", "");
      expect(await text("t.txt")).toBe("");
    });

    test("names may hold spaces, quotes and any letter", async () => {
      const path = `a b/"q" 'x' $y ü😀.txt`;
      await sandbox.writeFile(path, "named");
      expect(await text(path)).toBe("named");
      expect(await shell(`cat a*/*`)).toMatchObject({ stdout: "named" });
    });

    test("relative, absolute and winding paths are one file", async () => {
      await sandbox.writeFile("x/../y/./z.txt", "z");
      const { stdout } = await shell("cd y && pwd");
      expect(await text("y/z.txt")).toBe("z");
      expect(await text(`${stdout.trim()}/z.txt`)).toBe("z");
    });

    test("a name finds the file that differs only in its Unicode normalization", async () => {
      const [composed, decomposed] = [
        "Café/Übung.txt".normalize("NFC"),
        "Café/Übung.txt".normalize("NFD"),
      ];
      await sandbox.writeFile(decomposed, "decomposed");
      expect(await text(composed)).toBe("decomposed");
      expect(Buffer.from(await openFiles().readFile(composed)).toString()).toBe("decomposed");
      await expect(text("Cafe/Übung.txt")).rejects.toMatchObject({ code: "not_found" });
      if (name === "local") expect((await shell(`cat '${composed}'`)).stdout).toBe("decomposed");
    });

    test("a missing file is not_found, a folder is refused", async () => {
      await shell("mkdir folder && touch folder/inner");
      await expect(sandbox.readFile("missing.txt")).rejects.toBeInstanceOf(SandboxError);
      await expect(sandbox.readFile("missing.txt")).rejects.toMatchObject({ code: "not_found" });
      await expect(sandbox.readFile("folder")).rejects.toMatchObject({ code: "refused" });
      await expect(sandbox.writeFile("folder", "x")).rejects.toMatchObject({ code: "refused" });
    });

    test("more than the most bytes is too_large in both directions", async () => {
      const most = new Uint8Array(MAX_FILE_BYTES);
      await sandbox.writeFile("most.bin", most);
      expect((await sandbox.readFile("most.bin")).byteLength).toBe(MAX_FILE_BYTES);
      const more = new Uint8Array(MAX_FILE_BYTES + 1);
      await expect(sandbox.writeFile("more.bin", more)).rejects.toMatchObject({
        code: "too_large",
      });
      await shell("printf x >> most.bin");
      await expect(sandbox.readFile("most.bin")).rejects.toMatchObject({ code: "too_large" });
    });
  });

  describe("its files, listed and read from outside", () => {
    shareSandbox();

    test("lists the entries of a folder by name, with type, bytes and time", async () => {
      await sandbox.writeFile("work/b.txt", "zwölf\n");
      await sandbox.writeFile("work/a b/inner.txt", "inner");
      await sandbox.writeFile("work/.hidden", "");
      await sandbox.writeFile("work/Z.md", "z");
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const listing = await openFiles().listFolder("work");
      expect(listing).toEqual({
        path: (await shell("cd work && pwd")).stdout.trim(),
        entries: [
          { path: ".hidden", type: "file", size: 0, modifiedAt: time },
          { path: "Z.md", type: "file", size: 1, modifiedAt: time },
          { path: "a b", type: "directory", size: 0, modifiedAt: time },
          { path: "b.txt", type: "file", size: 7, modifiedAt: time },
        ],
        truncated: false,
      });
      expect(await openFiles().listFolder(`${listing.path}/./a b/../`)).toEqual(listing);
      expect((await openFiles().listFolder(".")).entries).toMatchObject([{ path: "work" }]);
    });

    test("names may hold spaces, quotes, tabs, line ends and any letter", async () => {
      const names = [`"q" 'x' $y`, "-rf", "a\nb", "tab\tf\t1\t2", "ü😀.txt"];
      for (const name of names) await sandbox.writeFile(`odd/${name}`, name);
      const { entries } = await openFiles().listFolder("odd");
      expect(entries.map(({ path }) => path)).toEqual(names);
    });

    test("an empty folder has no entries", async () => {
      await shell("mkdir empty");
      expect(await openFiles().listFolder("empty")).toMatchObject({
        entries: [],
        truncated: false,
      });
    });

    test("a large folder is cut at the most entries, and says so", async () => {
      await shell(`mkdir big && touch big/{10000..${10_000 + MAX_LISTED_ENTRIES}}`);
      const { entries, truncated } = await openFiles().listFolder("big");
      expect([entries.length, entries[0]?.path, truncated]).toEqual([
        MAX_LISTED_ENTRIES,
        "10000",
        true,
      ]);
      await shell("rm big/10000");
      const whole = await openFiles().listFolder("big");
      expect([whole.entries.length, whole.truncated]).toEqual([MAX_LISTED_ENTRIES, false]);
    });

    test("a missing folder is not_found, a file is refused", async () => {
      await sandbox.writeFile("a.txt", "a");
      await expect(openFiles().listFolder("missing")).rejects.toMatchObject({ code: "not_found" });
      await expect(openFiles().listFolder("a.txt")).rejects.toMatchObject({ code: "refused" });
    });

    test("reads files as the sandbox does", async () => {
      await sandbox.writeFile("a.txt", "a");
      expect(Buffer.from(await openFiles().readFile("a.txt")).toString()).toBe("a");
      await expect(openFiles().readFile("missing")).rejects.toMatchObject({ code: "not_found" });
      await expect(openFiles().readFile(".")).rejects.toMatchObject({ code: "refused" });
    });

    test("are written and removed while a command is running, which sees it", async () => {
      async function* content() {
        yield Buffer.from("go");
      }
      await openFiles().writeStream("wait.txt", content());
      const running = shell(
        "until [ -e go.txt ]; do sleep 0.05; done; while [ -e wait.txt ]; do sleep 0.05; done; cat go.txt",
      );
      await openFiles().writeStream("go.txt", content());
      await openFiles().remove("wait.txt");
      expect(await running).toMatchObject({ exitCode: 0, stdout: "go" });
    });

    test("does not wait for a command that is running", async () => {
      const stop = new AbortController();
      const running = shell("echo started > started.txt; sleep 600", {
        signal: stop.signal,
        timeoutMs: 600_000,
      });
      const started = async () =>
        (await openFiles().listFolder(".")).entries.map(({ path }) => path);
      await expect.poll(started).toContain("started.txt");
      await expect
        .poll(async () => Buffer.from(await openFiles().readFile("started.txt")).toString())
        .toBe("started\n");
      stop.abort();
      expect(await running).toMatchObject({ exitCode: 137 });
    });

    test("lists all that is below a folder, each folder before its entries", async () => {
      await sandbox.writeFile("work/b.txt", "zwölf\n");
      await sandbox.writeFile("work/deep/er/a b.txt", "a");
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const entries = await openFiles().listTree("work");
      const byPath = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
      expect(byPath).toEqual([
        { path: "b.txt", type: "file", size: 7, modifiedAt: time },
        { path: "deep", type: "directory", size: 0, modifiedAt: time },
        { path: "deep/er", type: "directory", size: 0, modifiedAt: time },
        { path: "deep/er/a b.txt", type: "file", size: 1, modifiedAt: time },
      ]);
      const paths = entries.map(({ path }) => path);
      expect(paths.indexOf("deep")).toBeLessThan(paths.indexOf("deep/er"));
      expect(paths.indexOf("deep/er")).toBeLessThan(paths.indexOf("deep/er/a b.txt"));
      await expect(openFiles().listTree("missing")).rejects.toMatchObject({ code: "not_found" });
      await expect(openFiles().listTree("work/b.txt")).rejects.toMatchObject({ code: "refused" });
    });
  });

  describe("its files, streamed and removed from outside", () => {
    shareSandbox();
    const MIB = 1024 * 1024;

    async function* pieces(count: number, bytes: number) {
      for (let index = 0; index < count; index++) yield new Uint8Array(bytes).fill(index);
    }
    const all = async (path: string) => {
      const read: Uint8Array[] = [];
      for await (const piece of openFiles().readStream(path)) read.push(piece);
      return Buffer.concat(read);
    };

    test("a stream becomes a file with its folders, and comes back piece by piece", async () => {
      const file = await openFiles().writeStream("in/ü b.bin", pieces(12, MIB));
      const { stdout } = await shell("cd in && pwd");
      expect(file).toEqual({
        path: `${stdout.trim()}/ü b.bin`,
        size: 12 * MIB,
        modifiedAt: expect.stringMatching(/Z$/),
        isNew: true,
      });
      const expected: Uint8Array[] = [];
      for await (const piece of pieces(12, MIB)) expected.push(piece);
      expect((await all("in/ü b.bin")).equals(Buffer.concat(expected))).toBe(true);
      expect((await shell("ls -A in")).stdout).toBe("ü b.bin\n");
    });

    test("an empty stream makes an empty file", async () => {
      expect(await openFiles().writeStream("empty", pieces(0, 0))).toMatchObject({ size: 0 });
      expect((await all("empty")).byteLength).toBe(0);
    });

    test("a file is replaced as a whole, and only when the stream has ended", async () => {
      await sandbox.writeFile("a.txt", "before");
      async function* watched() {
        yield Buffer.from("af");
        expect(await text("a.txt")).toBe("before");
        yield Buffer.from("ter");
      }
      const file = await openFiles().writeStream("a.txt", watched());
      expect(file).toMatchObject({ size: 5, isNew: false });
      expect(await text("a.txt")).toBe("after");
    });

    test("a stream that breaks leaves the old file, and nothing else", async () => {
      await sandbox.writeFile("in/a.txt", "before");
      async function* broken() {
        yield Buffer.from("half");
        throw new SandboxError("incomplete", "gone");
      }
      await expect(openFiles().writeStream("in/a.txt", broken())).rejects.toMatchObject({
        code: "incomplete",
      });
      expect(await text("in/a.txt")).toBe("before");
      expect((await shell("ls -A . in /tmp | grep upload")).stdout).toBe("");
    });

    test("a folder is not written over, nor a file taken for a folder", async () => {
      await sandbox.writeFile("in/a.txt", "a");
      for (const path of ["in", "in/a.txt/b"]) {
        await expect(openFiles().writeStream(path, pieces(1, 1))).rejects.toSatisfy((error) =>
          ["refused", "not_found"].includes((error as SandboxError).code),
        );
      }
      expect((await shell("find . | sort")).stdout).toBe(".\n./in\n./in/a.txt\n");
    });

    test("a missing file cannot be streamed, nor a folder", async () => {
      await shell("mkdir in");
      await expect(all("missing")).rejects.toMatchObject({ code: "not_found" });
      await expect(all("in")).rejects.toMatchObject({ code: "refused" });
    });

    test("files and whole folders are removed", async () => {
      await sandbox.writeFile("in/deep/a.txt", "a");
      await sandbox.writeFile("b 'c.txt", "b");
      await openFiles().remove("b 'c.txt");
      await openFiles().remove("./x/../in");
      expect((await shell("ls -A")).stdout).toBe("");
      await expect(openFiles().remove("in")).rejects.toMatchObject({ code: "not_found" });
    });

    test("a file that was changed since it was listed is neither replaced nor removed", async () => {
      await sandbox.writeFile("a.txt", "a");
      const [listed = null] = (await openFiles().listTree(".")).filter(
        ({ path }) => path === "a.txt",
      );
      await shell("echo more >> a.txt; echo new > b.txt");
      const changed = { code: "changed" };
      for (const path of ["a.txt", "b.txt"]) {
        const expected = path === "a.txt" ? listed : null;
        await expect(openFiles().writeStream(path, pieces(1, 1), expected)).rejects.toMatchObject(
          changed,
        );
      }
      await expect(openFiles().remove("a.txt", listed)).rejects.toMatchObject(changed);
      await expect(openFiles().remove("b.txt", null)).rejects.toMatchObject(changed);
      await expect(openFiles().remove("c.txt", listed)).rejects.toMatchObject({
        code: "not_found",
      });
      expect((await shell("cat a.txt b.txt; ls -A")).stdout).toBe("amore\nnew\na.txt\nb.txt\n");
      const [now = null] = (await openFiles().listTree(".")).filter(({ path }) => path === "a.txt");
      const written = await openFiles().writeStream("a.txt", pieces(1, 1), now);
      await openFiles().remove("a.txt", written);
      await openFiles().writeStream("c.txt", pieces(1, 1), null);
      expect((await shell("ls -A")).stdout).toBe("b.txt\nc.txt\n");
    });

    test("the home stays, and what is above it", async () => {
      await sandbox.writeFile("a.txt", "a");
      for (const path of [".", "", "..", "/", "../../..", "/home/agent/.."]) {
        await expect(openFiles().remove(path)).rejects.toMatchObject({ name: "SandboxError" });
      }
      expect(await text("a.txt")).toBe("a");
    });
  });
});

test("two servers together write no more to a local sandbox than its quota", async () => {
  const settings = { rootDir: join(dir, "two"), diskQuota: 1_000_000, allowedHosts: [] };
  const servers = [createLocalProvider(settings), createLocalProvider(settings)];
  const state = await servers[0]?.provision(randomUUID(), account);
  const [one, other] = servers.map((server) => state && server.open(state, account));
  await one?.writeFile("a", new Uint8Array(400_000));
  await other?.writeFile("b", new Uint8Array(400_000));
  await expect(one?.writeFile("c", new Uint8Array(400_000))).rejects.toMatchObject({
    code: "no_space",
  });
});

test("a local sandbox whose deletion was cut by a crash is deleted at the next start", async () => {
  const rootDir = join(dir, "cut");
  const left = join(rootDir, ".gone-session-1-2");
  await mkdir(join(left, "home"), { recursive: true });
  await mkdir(join(rootDir, "session", "home"), { recursive: true });
  createLocalProvider({ rootDir, diskQuota: 1024, allowedHosts: [] });
  await expect.poll(() => readdir(rootDir)).toEqual(["session"]);
});
