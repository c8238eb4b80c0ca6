/**
 * The features of the system sandbox alone: programs of this machine run in it, and see, reach and
 * use nothing else of it. This file is long because all of it shares one provider and two servers.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  access,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { isolation } from "@platform/kit/isolation/isolation";
import type { Sandbox, SandboxProvider, SandboxState } from "@platform/sandbox/port";
import { createSystemProvider } from "@platform/sandbox/system";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { linkSandboxes, removeLinks } from "../../../scripts/backup/link-sandboxes.ts";

const MIB = 1024 * 1024;
const DISK_QUOTA = 24 * MIB;
const SECRET = `canary-${randomUUID()}`;
const account = randomUUID();

let dir: string;
let provider: SandboxProvider;
let state: SandboxState;
let sandbox: Sandbox;
/** The service itself. */
let service: Server;
/** Some other server on this machine. */
let internal: Server;
let internalRequests = 0;

const portOf = (server: Server) => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
};
const listen = async (answer: (path: string, headers: IncomingHttpHeaders) => string) => {
  const server = createServer(({ url = "/", headers }, response) => {
    response.end(answer(url, headers));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
};
const origin = () => `http://127.0.0.1:${portOf(service)}`;
const home = () => join(dir, "sandboxes", state.name, "home");

beforeAll(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "sandbox-system-")));
  await writeFile(join(dir, "canary.txt"), SECRET);
  internal = await listen(() => {
    internalRequests += 1;
    return SECRET;
  });
  service = await listen((path, headers) =>
    path === "/api/headers" ? JSON.stringify(headers) : `served ${path}`,
  );
  provider = createSystemProvider({
    rootDir: join(dir, "sandboxes"),
    diskQuota: DISK_QUOTA,
    // As careless as an operator can be: private names and addresses are on the list.
    allowedHosts: [
      ...["169.254.169.254", "10.0.0.1", "[fd00:ec2::254]"],
      ...["127.0.0.1", "[::1]", "localhost", hostname()].flatMap((host) => [
        `${host}:${portOf(internal)}`,
      ]),
    ],
    serviceOrigin: origin(),
  });
});
afterAll(async () => {
  service.close();
  internal.close();
  await rm(dir, { recursive: true, force: true });
});

const shell = (command: string, timeoutMs = 30_000, env: Record<string, string> = {}) =>
  sandbox.run(command, { timeoutMs, env, maxOutputChars: 50_000 });

test("a machine without namespaces is refused with what it lacks", async () => {
  const found = { kind: "none", missing: "bubblewrap (the program bwrap)" } as const;
  const rootDir = join(dir, "lacking");
  const lacking = createSystemProvider({ rootDir, diskQuota: 1, allowedHosts: [] }, found);
  await expect(lacking.provision(randomUUID(), account)).rejects.toMatchObject({
    code: "unavailable",
  });
  expect(await lacking.check?.(AbortSignal.timeout(1_000))).toEqual([
    {
      outcome: "address",
      detail: "SANDBOX=system needs what this machine lacks: bubblewrap (the program bwrap)",
      settings: ["SANDBOX"],
      remedy: "Install bubblewrap and allow it user namespaces, or remove SANDBOX.",
    },
  ]);
});

describe.runIf(isolation().kind === "namespaces")("the system sandbox", () => {
  beforeEach(async () => {
    state = await provider.provision(randomUUID(), account);
    sandbox = provider.open(state, account);
    return () => provider.destroy(state);
  });

  test("its check says which programs sessions find", async () => {
    expect(await provider.check?.(AbortSignal.timeout(60_000))).toMatchObject([
      { outcome: "accepted", detail: expect.stringContaining("run isolated") },
    ]);
  });

  test("commands have the programs of this machine", async () => {
    await sandbox.writeFile("royalties.csv", "track,units\nOne,20\nTwo,22\n");
    const python = `import csv; print(sum(int(r["units"]) for r in csv.DictReader(open("royalties.csv"))))`;
    expect(await shell(`python3 -c '${python}'`)).toMatchObject({ exitCode: 0, stdout: "42\n" });
    const git = `git init -q demo && cd demo && git config user.email a@example.com &&
      git config user.name Agent && git commit -q --allow-empty -m first && git log --format=%s`;
    expect(await shell(git)).toMatchObject({ exitCode: 0, stdout: "first\n" });
    const real = `declare -A map=([a]=1); echo "\${map[a]} \${BASH_VERSINFO[0]}"; whoami; node -p 6*7`;
    expect(await shell(real)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^1 \d+\nagent\n42\n$/),
    });
  });

  test("a command that traces the process which ends its namespaces is killed at once", async () => {
    // The numbers of ptrace(2), by architecture; 16 is PTRACE_ATTACH.
    const attach = `my %n = (x86_64 => 101, aarch64 => 117); chomp(my $m = \`uname -m\`);
      syscall($n{$m}, 16, 1, 0, 0) == 0 or die "refused"; print "traced\\n"; sleep 600`;
    await sandbox.writeFile("attach.pl", attach);
    const result = await shell("perl attach.pl", 120_000);
    expect(result).toMatchObject({
      exitCode: 137,
      stderr: expect.stringContaining("traced a process of its sandbox"),
    });
  });

  describe("what it sees", () => {
    test("is the system's programs and its own folders, and no file of the server", async () => {
      const { stdout } = await shell("ls / /etc; ls -A /home /run /run/agent /var /root /opt /srv");
      for (const name of ["root", "var", "work", "srv", "opt", "sys", "shadow", "hostname"]) {
        expect(stdout.split("\n"), name).not.toContain(name);
      }
      const places = [dir, join(dir, "canary.txt"), process.cwd(), "/etc/shadow", "/var", "/root"];
      for (const place of places) {
        const result = await shell(
          `ls -d '${place}' '/proc/self/root${place}' '/proc/1/root${place}'`,
        );
        expect(result.stdout, place).toBe("");
      }
      expect((await shell("cat /etc/passwd")).stdout).toContain("agent:x:1000");
      expect((await shell("cat /etc/passwd; hostname")).stdout).not.toContain(hostname());
    });

    test("is no other session", async () => {
      const other = await provider.provision(randomUUID(), account);
      await provider.open(other, account).writeFile("secret.txt", SECRET);
      const { stdout } = await shell(
        `grep -rs ${SECRET} /home /tmp /run /etc /dev/shm; ls -A /home/agent /tmp /home`,
      );
      expect(stdout).not.toContain(SECRET);
      expect(stdout).not.toContain(other.name);
      await provider.destroy(other);
    });

    test("is no process and no environment but its own, and others do not see its own", async () => {
      vi.stubEnv("SANDBOX_TEST_CANARY", SECRET);
      const token = randomUUID();
      const held = shell(`sleep 600.5 # ${token}`, 600_000, { AGENT_API_AUTH_HEADER: token });
      await expect.poll(() => commandLines("sleep\u0000600.5")).toHaveLength(1);
      expect(await commandLines(token)).toEqual([]);
      await provider.destroy(state);
      expect(await held).toMatchObject({ exitCode: 137 });
      state = await provider.provision(randomUUID(), account);
      sandbox = provider.open(state, account);
      const seen = await shell("cat /proc/*/environ /proc/*/cmdline; env; ls /proc");
      expect(seen.stdout).not.toContain("SANDBOX_TEST_CANARY");
      expect(seen.stdout.split("\n")).not.toContain(String(process.pid));
    });

    test("cannot be changed", async () => {
      const places = [
        "/usr/planted",
        "/etc/planted",
        "/planted",
        "/dev/planted",
        "/run/agent/planted",
      ];
      const settings = ["/proc/sys/kernel/core_pattern", "/proc/self/oom_score_adj", "/etc/passwd"];
      for (const place of [...places, ...settings, "/run/agent/bin/node"]) {
        expect((await shell(`: >> '${place}'`)).exitCode, place).not.toBe(0);
      }
    });

    test("has no privileges, and cannot get any", async () => {
      const { stdout } = await shell("grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status");
      expect(stdout).toMatch(/CapEff:\s+0{16}\n/);
      expect(stdout).toMatch(/CapBnd:\s+0{16}\n/);
      expect(stdout).toMatch(/NoNewPrivs:\s+1\n/);
      expect(await shell("unshare -Ur id || unshare -m id || mount -t tmpfs x /tmp")).toMatchObject(
        {
          stdout: "",
        },
      );
    });
  });

  describe("links", () => {
    test("of a command lead nowhere outside, for whoever reads, writes or deletes", async () => {
      await shell(`ln -s '${dir}' folder; ln -s '${join(dir, "canary.txt")}' soft; ln -s / root`);
      const files = provider.openFiles(state, account);
      for (const path of ["soft", "folder/canary.txt", `root${dir}/canary.txt`]) {
        await expect(files.readFile(path)).rejects.toMatchObject({ name: "SandboxError" });
        await sandbox.writeFile(path, "broken").catch(() => undefined);
      }
      await expect(files.listFolder("folder")).rejects.toMatchObject({ name: "SandboxError" });
      await symlink(dir, join(home(), "planted"));
      expect((await shell("cat soft planted/canary.txt; rm -rf planted/ folder/")).stdout).toBe("");
      await provider.destroy(state);
      expect(await readFile(join(dir, "canary.txt"), "utf8")).toBe(SECRET);
    });

    test("do not bring files of the machine into a backup while a command swaps them", async () => {
      await sandbox.writeFile(
        "swap.py",
        `import os
os.mkdir("folder")
for n in range(10000):
    os.rename("folder", "aside"); os.symlink("${dir}", "folder")
    os.unlink("folder"); os.rename("aside", "folder")`,
      );
      let isRunning = true;
      const swapping = shell("python3 swap.py", 120_000).finally(() => {
        isRunning = false;
      });
      const names: string[] = [];
      while (isRunning) {
        const copy = linkSandboxes(join(dir, "sandboxes"), () => {}) ?? "";
        const home = join(copy, state.name, "home");
        for (const entry of await readdir(home, { withFileTypes: true })) {
          // A link is copied as a link, with nothing behind it.
          if (entry.isDirectory()) names.push(...(await readdir(join(home, entry.name))));
        }
        removeLinks(join(dir, "sandboxes"));
      }
      expect(await swapping).toMatchObject({ exitCode: 0 });
      expect(names).toEqual([]);
    });

    test("and pipes do not keep a backup from being made", async () => {
      expect(await shell("python3 -m venv --without-pip env; mkfifo env/pipe")).toMatchObject({
        exitCode: 0,
      });
      const leftOut: string[] = [];
      const copy = linkSandboxes(join(dir, "sandboxes"), (name) => leftOut.push(name)) ?? "";
      const env = (folder: string) => join(folder, state.name, "home", "env", "bin", "python3");
      expect(await readlink(env(copy))).toBe(await readlink(env(join(dir, "sandboxes"))));
      expect(leftOut).toEqual([`sandboxes/${state.name}/home/env/pipe`]);
      removeLinks(join(dir, "sandboxes"));
    });

    test("and pipes, sockets and folders are refused to a reader, who does not wait", async () => {
      const socket = `python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'`;
      expect(await shell(`mkfifo pipe; mkdir folder; ${socket}`)).toMatchObject({ exitCode: 0 });
      const files = provider.openFiles(state, account);
      for (const path of ["pipe", "socket", "folder"]) {
        const refused = { code: "refused" };
        await expect(sandbox.readFile(path), path).rejects.toMatchObject(refused);
        await expect(files.readFile(path), path).rejects.toMatchObject(refused);
        await expect(
          files.readStream(path)[Symbol.asyncIterator]().next(),
          path,
        ).rejects.toMatchObject(refused);
      }
      expect((await files.listTree(".")).map(({ path }) => path)).toEqual(["folder"]);
      await expect(sandbox.writeFile("pipe", "text")).rejects.toMatchObject({ code: "refused" });
    });

    test("and a pipe that a command puts in the place of a file does not keep a reader waiting", async () => {
      await sandbox.writeFile(
        "swap.py",
        `import os
for n in range(20000):
    os.mkfifo("pipe"); os.rename("pipe", "file")
    open("copy", "w").close(); os.rename("copy", "file")`,
      );
      let isRunning = true;
      const swapping = shell("python3 swap.py", 120_000).finally(() => {
        isRunning = false;
      });
      const outcomes = new Set<unknown>();
      while (isRunning) {
        const reading = provider.openFiles(state, account).readFile("file");
        outcomes.add(
          await reading.then(
            () => "read",
            (error) => error.code,
          ),
        );
      }
      expect(await swapping).toMatchObject({ exitCode: 0 });
      expect([...outcomes]).not.toContain("unavailable");
    });

    test("and folders without any rights do not survive the sandbox", async () => {
      await shell("mkdir -p a/b && touch a/b/c && chmod 000 a/b a && ln -s .. a-link");
      const folder = home();
      await provider.destroy(state);
      await expect(access(folder)).rejects.toMatchObject({ code: "ENOENT" });
      expect(await readdir(join(dir, "sandboxes"))).not.toContain(state.name);
    });
  });

  describe("the network", () => {
    test("is the service's API, marked, whatever a command sends", async () => {
      const env = { AGENT_API_URL: origin() };
      const forged = `-H 'X-Agent-Sandbox;' -H 'X-Forwarded-For: 203.0.113.9' -H 'Connection: x-agent-sandbox' -H 'Via: 203.0.113.9'`;
      const { stdout } = await shell(`curl -s ${forged} "$AGENT_API_URL/api/headers"`, 30_000, env);
      expect(JSON.parse(stdout)).toMatchObject({
        "x-agent-sandbox": "1",
        forwarded: "for=_sandbox",
      });
      expect(stdout).not.toContain("203.0.113.9");
      const python = `import os, urllib.request as r; print(r.urlopen(os.environ["AGENT_API_URL"] + "/api/x").read().decode())`;
      expect(await shell(`python3 -c '${python}'`, 30_000, env)).toMatchObject({
        stdout: "served /api/x\n",
      });
      const node = `fetch(process.env.AGENT_API_URL + "/api/y").then((r) => r.text()).then(console.log)`;
      expect(await shell(`/run/agent/bin/node -e '${node}'`, 30_000, env)).toMatchObject({
        stdout: "served /api/y\n",
      });
    });

    test("has nothing else of the service, and says why", async () => {
      const result = await shell(
        `curl -sS -X POST -d '{}' ${origin()}/.well-known/workflow/v1/flow`,
      );
      expect(result).toMatchObject({ stdout: "" });
      expect(result.exitCode).not.toBe(0);
      expect(result.stderr).toContain("only the service's /api/ is allowed");
    });

    test("is the same in a tunnel, which cannot hide from the service that it is a sandbox", async () => {
      const forged = "-H 'X-Agent-Sandbox;' -H 'Connection: x-agent-sandbox'";
      const { stdout } = await shell(`curl -sSp ${forged} ${origin()}/api/headers`);
      expect(JSON.parse(stdout)).toMatchObject({ "x-agent-sandbox": "1" });
      for (const url of [`${origin()}/`, `${origin().replace("http", "https")}/api/headers`]) {
        const refused = await shell(`curl -sSkp '${url}'`);
        expect(refused).toMatchObject({ stdout: "" });
        expect(refused.exitCode).not.toBe(0);
      }
    });

    test("has no other server, by whatever name, directly or through the proxy", async () => {
      internalRequests = 0;
      const names = ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0", "0.0.0.0", "localhost"];
      const urls = [...names, "[::1]", "[::ffff:127.0.0.1]", hostname(), "LOCALHOST."].map(
        (name) => `http://${name}:${portOf(internal)}/`,
      );
      const metadata = [
        "169.254.169.254",
        "2852039166",
        "[fd00:ec2::254]",
        "metadata.google.internal",
      ];
      urls.push(...metadata.map((name) => `http://${name}/latest/meta-data/`));
      const calls = urls.flatMap((url) => [
        `curl -sS -m 5 '${url}' && echo REACHED`,
        `curl -sS -m 5 -p '${url}' && echo REACHED`,
        `curl -sS -m 5 --noproxy '*' '${url}' && echo REACHED`,
      ]);
      const { stdout } = await shell(
        `${calls.map((call) => `{ ${call}; } &`).join("\n")}\nwait`,
        120_000,
      );
      expect(stdout).toBe("");
      expect(internalRequests).toBe(0);
    });
  });

  describe("limits", () => {
    test("all that a command has started ends with it, and at the deadline", async () => {
      const mark = 600_000 + Math.floor(Math.random() * 100_000);
      const fork = `(setsid sleep ${mark} &) ; nohup sleep ${mark} >/dev/null 2>&1 & disown;`;
      expect(await shell(`${fork} echo started`)).toMatchObject({ stdout: "started\n" });
      await expect.poll(() => commandLines(`sleep\u0000${mark}`)).toEqual([]);
      const late = await shell(`${fork} echo kept; sleep 600`, 1_500);
      expect(late).toMatchObject({ exitCode: 124, stdout: "kept\n" });
      await expect.poll(() => commandLines(`sleep\u0000${mark}`)).toEqual([]);
    });

    test("memory, of one process and of several together", async () => {
      const one = await shell(`python3 -c 'x = bytearray(3 << 30)'`);
      expect(one.exitCode).not.toBe(0);
      const each = `python3 -c 'import time; x = b"x" * (400 << 20); time.sleep(60)'`;
      const several = await shell(`for n in 1 2 3 4; do ${each} & done; wait`);
      expect(several).toMatchObject({ exitCode: 137 });
      expect(several.stderr).toContain("too much memory");
    });

    test("processes", async () => {
      const bomb = await shell("for n in $(seq 1000); do sleep 60 & done; wait", 20_000);
      expect(bomb.exitCode).not.toBe(0);
      expect(bomb.stderr).toMatch(/too many processes|Resource temporarily unavailable/);
      expect(await shell("echo alive")).toMatchObject({ stdout: "alive\n" });
    });

    test("disk: a command that exceeds it loses what it created, and room can be made", async () => {
      await sandbox.writeFile("old.txt", "old");
      const large = await shell("head -c 100000000 /dev/zero > large; ls");
      expect(large.exitCode).not.toBe(0);
      const many = await shell(
        "mkdir new; for n in $(seq 40); do head -c 1000000 /dev/zero > new/$n; done; sleep 20",
      );
      expect(many).toMatchObject({
        exitCode: 137,
        stderr: expect.stringContaining("No space left"),
      });
      await shell("rm -f large");
      expect(await shell("ls; cat old.txt; echo more > more.txt")).toMatchObject({
        exitCode: 0,
        stdout: "old.txt\nold",
      });
      const files = await shell("mkdir many; seq 20100 | sed s,^,many/, | xargs touch");
      expect(files).toMatchObject({ exitCode: 137 });
      expect((await readdir(home())).sort()).toEqual(["more.txt", "old.txt"]);
    });

    test("disk: what is uploaded while a command exceeds it stays", async () => {
      const command = shell(
        `until [ -e up.txt ]; do sleep 0.05; done
        mkdir new; for n in $(seq 40); do head -c 1000000 /dev/zero > new/$n; done; sleep 20`,
      );
      async function* content() {
        yield Buffer.from("uploaded");
      }
      await provider.openFiles(state, account).writeStream("up.txt", content());
      expect(await command).toMatchObject({ exitCode: 137 });
      expect(await readdir(home())).toContain("up.txt");
      expect(await readdir(home())).not.toContain("new");
    });

    test("disk: a folder deeper than any path, whose files are deleted with it", async () => {
      await sandbox.writeFile("old.txt", "old");
      await sandbox.writeFile(
        "deep.py",
        `import os, time
for n in range(300):
    os.mkdir("d" * 100); os.chdir("d" * 100)
for n in range(4):
    open(str(n), "wb").write(b"x" * ${10 * MIB})
if n: os.chmod(".", 0)
time.sleep(60)`,
      );
      expect(await shell("python3 deep.py", 60_000)).toMatchObject({
        exitCode: 137,
        stderr: expect.stringContaining("No space left"),
      });
      expect((await readdir(home())).sort()).toEqual(["deep.py", "old.txt"]);
      expect(await shell("echo more > more.txt; cat more.txt")).toMatchObject({ stdout: "more\n" });
    });

    test.each<[string, string]>([
      ["deleted", `f = open(str(n), "wb"); os.unlink(str(n))`],
      ["without a name", `f = os.fdopen(os.open(".", os.O_TMPFILE | os.O_RDWR), "wb")`],
    ])("disk: files that are open and %s", async (_, create) => {
      await sandbox.writeFile(
        "open.py",
        `import os, time
kept = []
for n in range(4):
    ${create}
    f.write(b"x" * ${10 * MIB}); f.flush(); kept.append(f)
print("written", flush=True); time.sleep(60)`,
      );
      expect(await shell("python3 open.py", 60_000)).toMatchObject({
        exitCode: 137,
        stderr: expect.stringContaining("filled the disk"),
      });
    });

    test("disk: deleted files that only a thread has open", async () => {
      await sandbox.writeFile(
        "thread.py",
        `import ctypes, os, threading, time
libc = ctypes.CDLL(None)
def work():
    assert libc.unshare(0x400) == 0
    kept = []
    for n in range(4):
        kept.append(os.open(str(n), os.O_CREAT | os.O_WRONLY)); os.unlink(str(n))
        os.write(kept[-1], b"x" * ${10 * MIB})
    time.sleep(60)
thread = threading.Thread(target=work)
thread.start()
libc.syscall(ctypes.c_long(60 if os.uname().machine == "x86_64" else 93), 0)`,
      );
      expect(await shell("python3 thread.py", 60_000)).toMatchObject({ exitCode: 137 });
    });

    test("disk: room that is taken beyond the end of a file", async () => {
      const taken = await shell(": > file; fallocate -n -l 40M file && sleep 60", 60_000);
      expect(taken).toMatchObject({
        exitCode: 137,
        stderr: expect.stringContaining("filled the disk"),
      });
      expect(await readdir(home())).toEqual([]);
    });

    test("shared memory counts as files, and the temporary folder is the session's", async () => {
      await shell("echo shared > /dev/shm/a; echo temporary > /tmp/b");
      expect(await shell("cat /tmp/a /tmp/b")).toMatchObject({ stdout: "shared\ntemporary\n" });
    });
  });
});

/** The command lines of all processes of this machine with these words. */
async function commandLines(words: string): Promise<string[]> {
  const lines = await Promise.all(
    (await readdir("/proc")).map((name) =>
      readFile(`/proc/${name}/cmdline`, "utf8").catch(() => ""),
    ),
  );
  return lines.filter((line) => line.includes(words));
}
