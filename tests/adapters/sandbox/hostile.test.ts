/**
 * Hostile commands do no harm to the machine that runs them, and the server keeps answering. It
 * tests the local sandbox, whose commands run beside the server. This file is long because all its
 * attacks share one provider, two servers and the measurement of the answers during an attack.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { createLocalProvider } from "@platform/sandbox/local";
import type { CommandResult, Sandbox, SandboxProvider, SandboxState } from "@platform/sandbox/port";
import { pack } from "tar-stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { listConfined } from "../../support/harness/confined.ts";
import { attacks, endless, madeAttacks, plantBombs } from "./attacks.ts";

const MIB = 1024 * 1024;
const DISK_QUOTA = 24 * MIB;
const SECRET = "the-canary-outside-the-jail";

const account = randomUUID();
let dir: string;
let canary: string;
let provider: SandboxProvider;
let sessionId: string;
let state: SandboxState;
let sandbox: Sandbox;
/** The service itself, which the sandbox may call and which must keep answering. */
let service: Server;
/** Some other server on this machine, which the sandbox must never reach. */
let internal: Server;
let internalRequests = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "sandbox-hostile-"));
  canary = join(dir, "canary.txt");
  internal = await serve((_path, answer) => {
    internalRequests += 1;
    answer(200, SECRET);
  });
  service = await serve((path, answer, headers) => {
    const { pathname, searchParams } = new URL(path, "http://service");
    const to = searchParams.get("to");
    if (pathname === "/api/headers") answer(200, JSON.stringify(headers));
    else if (to) answer(Number(searchParams.get("status") ?? 302), "", { location: to });
    else answer(200, `served ${pathname}`);
  });
  provider = createLocalProvider({
    rootDir: join(dir, "sandboxes"),
    diskQuota: DISK_QUOTA,
    startsAhead: false,
    // As careless as an operator can be: private names and addresses are on the list.
    allowedHosts: [
      ...["169.254.169.254", "[fd00:ec2::254]", "[::ffff:a9fe:a9fe]", "10.0.0.1", "0.0.0.0"],
      ...["127.0.0.1", "[::1]", "localhost", hostname()].map((host) => `${host}:${port(internal)}`),
    ],
    serviceOrigin: `http://127.0.0.1:${port(service)}`,
  });
});

afterAll(async () => {
  service.close();
  internal.close();
  await rm(dir, { recursive: true, force: true });
});

beforeEach(async () => {
  await writeFile(canary, SECRET);
  sessionId = randomUUID();
  state = await provider.provision(sessionId, account);
  sandbox = provider.open(state, account);
  const made = state;
  return () => provider.destroy(made);
});

async function* oneOf(content: string) {
  yield Buffer.from(content);
}
async function readAll(stream: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const piece of stream) bytes += piece.byteLength;
  return bytes;
}
const shell = (command: string, timeoutMs = 30_000) =>
  sandbox.run(command, { timeoutMs, maxOutputChars: 50_000 });
const withTwoJails = () =>
  createLocalProvider({
    rootDir: join(dir, "sandboxes"),
    diskQuota: DISK_QUOTA,
    allowedHosts: [],
    maxJails: 2,
  });
const listJails = (session: string) => listConfined("local/runner.", session);
const home = () => join(dir, "sandboxes", sessionId, "home");

describe("files outside the sandbox", () => {
  const untouched = async () => {
    expect(await readFile(canary, "utf8")).toBe(SECRET);
    expect((await readdir(dir)).sort()).toEqual(["canary.txt", "sandboxes"]);
    expect(await readdir(join(dir, "sandboxes", sessionId))).toEqual(["home", "tmp"]);
  };
  const ways = () => [
    canary,
    `../../../..${canary}`,
    "../../../canary.txt",
    "/proc/self/root/etc/passwd",
  ];

  test("are not read by any path", async () => {
    for (const path of [...ways(), "/etc/passwd", "/etc/hostname", process.execPath]) {
      const result = await shell(
        `cat '${path}'; head -c 100 '${path}'; cp '${path}' stolen && cat stolen`,
      );
      expect(result).toMatchObject({ exitCode: 1, stdout: "" });
      await expect(sandbox.readFile(path)).rejects.toMatchObject({ code: "not_found" });
    }
    const listed = await shell("ls -R / 2>/dev/null | grep -c canary");
    expect(listed.stdout.trim()).toBe("0");
  });

  test("are not written by any path", async () => {
    for (const path of [...ways(), "/etc/motd", "../escaped.txt", "../../escaped.txt"]) {
      await shell(`echo broken > '${path}'`);
      await shell(`cp /dev/null '${path}'; mv '${path}' moved; rm -rf '${path}'; touch '${path}'`);
      await sandbox.writeFile(path, "broken").catch(() => undefined);
    }
    await shell("rm -rf / /* ../* ../../*");
    await untouched();
  });

  test("are not reached by links that a command makes", async () => {
    const { stdout } = await shell(
      `ln -s '${canary}' soft; ln '${canary}' hard; ln -s / root; ln -s ../../../canary.txt up
       cat soft hard up root${canary}; echo broken > soft; echo broken > up; ls -A root/tmp`,
    );
    expect(stdout).not.toContain(SECRET);
    await untouched();
  });

  test("are not reached by links that were planted in its folder", async () => {
    await symlink(canary, join(home(), "soft"));
    await symlink(dir, join(home(), "folder"));
    await link(canary, join(home(), "hard"));
    const { stdout } = await shell(
      `cat soft folder/canary.txt; cp -r folder copied; tar cf a.tar soft folder; grep -r canary soft folder
       echo broken > soft; echo broken >> soft; echo broken > folder/new.txt; rm -rf folder/*
       echo broken > hard; echo broken >> hard; sed -i s/the/broken/ soft; mv soft moved; chmod 777 moved soft`,
    );
    expect(stdout).not.toContain(SECRET);
    await expect(sandbox.readFile("folder/canary.txt")).rejects.toMatchObject({
      name: "SandboxError",
    });
    await sandbox.writeFile("folder/new.txt", "broken").catch(() => undefined);
    await sandbox.writeFile("hard", "broken").catch(() => undefined);
    await untouched();
  });

  test("keep what they have when they are linked into it and changed there", async () => {
    await link(canary, join(home(), "written"));
    await link(canary, join(home(), "appended"));
    await link(canary, join(home(), "touched"));
    const { mode, mtimeMs } = await lstat(canary);
    const changed = await shell(
      "echo new > written && echo more >> appended && chmod 777 touched && touch touched && cat *",
    );
    expect(changed).toMatchObject({ exitCode: 0, stdout: `${SECRET}more\n${SECRET}new\n` });
    await sandbox.writeFile("written", "newest");
    await untouched();
    expect(await lstat(canary)).toMatchObject({ mode, mtimeMs, nlink: 1 });
  });

  test("are not seen by whoever looks into it, through links or by any path", async () => {
    await symlink(canary, join(home(), "soft"));
    await symlink(dir, join(home(), "folder"));
    await link(canary, join(home(), "hard"));
    await sandbox.writeFile("own.txt", "own");
    const files = provider.openFiles(state, account);
    const { entries } = await files.listFolder(".");
    expect(entries.map(({ path }) => path)).not.toEqual(expect.arrayContaining(["soft", "folder"]));
    for (const path of ["soft", "folder/canary.txt", ...ways()]) {
      await expect(files.readFile(path)).rejects.toMatchObject({ name: "SandboxError" });
    }
    for (const path of ["folder", dir, `../../..${dir}`, "/proc/self/root"]) {
      await expect(files.listFolder(path)).rejects.toMatchObject({ name: "SandboxError" });
    }
  });

  test("are not changed by uploads and removals, through links or by any path", async () => {
    await symlink(canary, join(home(), "soft"));
    await symlink(dir, join(home(), "folder"));
    await link(canary, join(home(), "hard"));
    const files = provider.openFiles(state, account);
    const hostile = ["folder/new.txt", "folder/canary.txt", "/etc/motd", "../../new.txt", "/dev/x"];
    for (const path of hostile) {
      await expect(files.writeStream(path, oneOf("broken"))).rejects.toMatchObject({
        name: "SandboxError",
      });
      await expect(files.remove(path)).rejects.toMatchObject({ name: "SandboxError" });
      await expect(readAll(files.readStream(path))).rejects.toMatchObject({ name: "SandboxError" });
    }
    // The first of them is a path in the sandbox's own /tmp, too.
    for (const path of ways()) {
      await files.writeStream(path, oneOf("broken")).catch(() => undefined);
      await files.remove(path).catch(() => undefined);
    }
    await files.writeStream("hard", oneOf("own"));
    await files.writeStream("soft", oneOf("own")).catch(() => undefined);
    await files.remove("folder").catch(() => undefined);
    expect((await files.listTree(".")).map(({ path }) => path)).not.toContain("folder");
    await untouched();
  });

  test("are not reached by the names and links in an archive", async () => {
    const archive = pack();
    archive.entry({ name: "../../../canary.txt" }, "broken");
    archive.entry({ name: canary }, "broken");
    archive.entry({ name: "../../../escaped.txt" }, "broken");
    archive.entry({ name: "soft", type: "symlink", linkname: canary });
    archive.entry({ name: "folder", type: "symlink", linkname: dir });
    archive.entry({ name: "hard", type: "link", linkname: canary });
    archive.entry({ name: "folder/escaped.txt" }, "broken");
    archive.entry({ name: "soft" }, "broken");
    archive.finalize();
    await sandbox.writeFile("evil.tar", await buffer(archive));
    const { stdout } = await shell(
      "tar xf evil.tar; tar xPf evil.tar; tar xf evil.tar -C /; cat soft hard folder/canary.txt",
    );
    expect(stdout).not.toContain(SECRET);
    await untouched();
  });

  test("the server's own environment is not there", async () => {
    vi.stubEnv("SANDBOX_TEST_CANARY", SECRET);
    const { stdout } = await shell("env; set; cat /proc/self/environ /proc/*/environ; printenv");
    expect(stdout).not.toContain("SANDBOX_TEST_CANARY");
  });
});

describe("a command that takes the whole machine", () => {
  /** All attacks are on one sandbox, which each of them must leave in order. */
  const attacked = randomUUID();

  test.each(madeAttacks)("%s ends, and the server answers meanwhile", async (name, command) => {
    sessionId = attacked;
    state = await provider.provision(sessionId, account);
    sandbox = provider.open(state, account);
    if (command.includes("bomb.")) await plantBombs(sandbox);
    // A first command: what follows is about the attack, not about the start of a process.
    await shell("true");
    // A command that reaches no limit within half a second reaches none later; a soak waits longer.
    const deadlineMs = endless.has(name) && process.env.SOAK !== "1" ? 500 : 1_500;
    const { result, answers, tookMs } = await whileAnswering(() => shell(command, deadlineMs));
    expect(result.exitCode).not.toBe(0);
    expect(result.stderr).not.toBe("");
    expect(result.stdout.length).toBeLessThanOrEqual(50_000);
    expect(await bytesOnDisk(join(dir, "sandboxes", sessionId))).toBeLessThanOrEqual(DISK_QUOTA);
    // A server that was held up would answer its first request only when the attack is over. One that
    // ends by itself may be over before a second request.
    expect(answers).toBeGreaterThan(tookMs >= 500 ? 1 : 0);
    expect(await shell("rm -rf f* d* out bomb; echo alive")).toMatchObject({ stdout: "alive\n" });
  });

  test.each([
    ["a script that waits", "echo started > started; sleep 600; echo more > more", true],
    ["a loop", "echo started > started; awk 'BEGIN { for (;;) for (;;) x++ }'", false],
    ["Python", "echo started > started; python3 -c 'while True: pass'; echo more > more", false],
  ])("%s that is stopped does nothing more", async (_, command, keepsProcess) => {
    await shell("true");
    const before = await listJails(sessionId);
    expect(before).toHaveLength(1);
    const stop = new AbortController();
    const options = { timeoutMs: 600_000, maxOutputChars: 10, signal: stop.signal };
    const running = sandbox.run(command, options);
    const files = () => readdir(home());
    await expect.poll(files).toEqual(["started"]);
    stop.abort();
    expect(await running).toMatchObject({ exitCode: 137 });
    expect(await shell("ls")).toMatchObject({ stdout: "started\n" });
    // A loop may be ended before its process has to be.
    if (keepsProcess) expect(await listJails(sessionId)).toEqual(before);
  });

  test("nothing of a stopped script is shown after its result", async () => {
    const stop = new AbortController();
    const seen: string[] = [];
    const running = sandbox.run("for n in $(seq 1 100); do echo $n; done; sleep 600", {
      timeoutMs: 600_000,
      maxOutputChars: 1_000,
      signal: stop.signal,
      onOutput: (_, text) => seen.push(text),
    });
    // More than the first pieces waits for the next second, or for the end of the script.
    await expect.poll(() => seen.join("")).toContain("20\n");
    stop.abort();
    const { stdout } = await running;
    expect(seen.join("")).toBe(stdout);
    await shell("true");
    expect(seen.join("")).toBe(stdout);
  });

  test("a process that takes too much memory is ended with 137", async () => {
    // The fastest of the attacks that fill the memory.
    const fill = attacks["strings that fill an array of awk"] ?? "";
    expect(await shell(fill)).toMatchObject({ exitCode: 137, stdout: "" });
    expect(await shell("echo alive")).toMatchObject({ stdout: "alive\n" });
  });

  // Elsewhere the kernel ends it when it has used up its CPU time, which takes minutes.
  test.runIf(tiesToParent())(
    "a process in an endless loop does not outlive its server",
    async () => {
      const code = `
      import { createLocalProvider } from ${JSON.stringify(join(process.cwd(), "packages/sandbox/src/adapters/local/provider.ts"))};
      const provider = createLocalProvider({ rootDir: process.argv[1], diskQuota: 1e6, allowedHosts: [] });
      const sandbox = provider.open(await provider.provision(process.argv[2], "account"), "account");
      await sandbox.run("true", { timeoutMs: 30_000, maxOutputChars: 10 });
      process.send("looping");
      await sandbox.run("awk 'BEGIN { for (;;) for (;;) x++ }'", { timeoutMs: 600_000, maxOutputChars: 10 });`;
      const id = randomUUID();
      const argv = ["--input-type=module", "-e", code, join(dir, "sandboxes"), id];
      const server = spawn(process.execPath, argv, {
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      expect(await once(server, "message")).toEqual(["looping", undefined]);
      expect(await listJails(id)).toHaveLength(1);
      server.kill("SIGKILL");
      await expect.poll(() => listJails(id)).toEqual([]);
    },
  );

  test("many at once leave room for the commands of others", async () => {
    const states = await Promise.all(
      Array.from({ length: 6 }, () => provider.provision(randomUUID(), account)),
    );
    await shell("true");
    const { answers } = await whileAnswering(async () => {
      const running = states.map((state, index) =>
        provider.open(state, account).run(Object.values(attacks)[index % 5] ?? "", {
          timeoutMs: 1_000,
          maxOutputChars: 1_000,
        }),
      );
      for (let round = 0; round < 10; round++) {
        expect(await shell(`echo ${round}`)).toMatchObject({ stdout: `${round}\n` });
      }
      const results = await Promise.all(running);
      expect(results.filter(({ exitCode }) => exitCode === 0)).toEqual([]);
      return results;
    });
    expect(answers).toBeGreaterThan(2);
    await Promise.all(states.map((state) => provider.destroy(state)));
  });

  test("commands of a session run in the order in which they came", async () => {
    const numbers = Array.from({ length: 40 }, (_, index) => String(index));
    await Promise.all(numbers.map((number) => shell(`echo ${number} >> order`)));
    const { stdout } = await shell("cat order; rm order");
    expect(stdout.trim().split("\n")).toEqual(numbers);
  });

  test("more sessions than there are processes are served in turn", async () => {
    const few = withTwoJails();
    const states = await Promise.all(
      Array.from({ length: 3 }, () => few.provision(randomUUID(), account)),
    );
    const commands = states.flatMap((state, index) => [
      few
        .open(state, account)
        .run("awk 'BEGIN { while (1) for (;;) x++ }'", { timeoutMs: 100, maxOutputChars: 100 }),
      few.open(state, account).run(`echo ${index}`, { timeoutMs: 30_000, maxOutputChars: 100 }),
    ]);
    const results = await Promise.all(commands);
    expect(results.filter((_, index) => index % 2 === 1).map(({ stdout }) => stdout)).toEqual(
      states.map((_, index) => `${index}\n`),
    );
    await Promise.all(states.map((state) => few.destroy(state)));
  });

  test("a new sandbox starts ahead in the place of the one that has been idle longest", async () => {
    const few = withTwoJails();
    const sessions = Array.from({ length: 5 }, () => randomUUID());
    const states: SandboxState[] = [];
    for (const session of sessions) {
      const started = await few.provision(session, account);
      await expect.poll(() => listJails(session)).toHaveLength(1);
      // Comes after the start, which takes the account's share of the slots.
      await few.open(started, account).run(":", { timeoutMs: 30_000, maxOutputChars: 0 });
      states.push(started);
    }
    const running = await Promise.all(sessions.map(listJails));
    expect(running.map(({ length }) => length)).toEqual([0, 0, 1, 1, 1]);
    await Promise.all(states.map((state) => few.destroy(state)));
  });
});

describe("the disk quota", () => {
  test("a file larger than what is left is refused whole, and room that is freed is room again", async () => {
    const half = new Uint8Array(9 * MIB);
    await sandbox.writeFile("a.bin", half);
    await sandbox.writeFile("b.bin", half);
    await expect(sandbox.writeFile("c.bin", half)).rejects.toMatchObject({ code: "no_space" });
    await expect(sandbox.readFile("c.bin")).rejects.toMatchObject({ code: "not_found" });
    const full = await shell("cp a.bin c.bin; cat b.bin b.bin > /tmp/d.bin");
    expect(full.exitCode).not.toBe(0);
    expect(full.stderr).toContain("no space left on device");
    await shell("rm a.bin");
    await sandbox.writeFile("c.bin", half);
    expect(await bytesOnDisk(join(dir, "sandboxes", sessionId))).toBe(18 * MIB);
  });

  test("an upload of more than what is left is refused whole, and takes no room", async () => {
    await sandbox.writeFile("a.bin", new Uint8Array(9 * MIB));
    const files = provider.openFiles(state, account);
    async function* upload(pieces: number) {
      for (let index = 0; index < pieces; index++) yield new Uint8Array(MIB);
    }
    for (const tooMany of [DISK_QUOTA / MIB - 8, DISK_QUOTA / MIB + 1]) {
      await expect(files.writeStream("b.bin", upload(tooMany))).rejects.toMatchObject({
        code: "no_space",
      });
    }
    expect(await readdir(join(dir, "sandboxes", sessionId))).toEqual(["home", "tmp"]);
    expect(await bytesOnDisk(join(dir, "sandboxes", sessionId))).toBe(9 * MIB);
    expect(await files.writeStream("b.bin", upload(9))).toMatchObject({ size: 9 * MIB });
  });

  test("what an upload left over when its server died is removed", async () => {
    const left = join(dir, "sandboxes", sessionId, ".upload-0123");
    await writeFile(left, new Uint8Array(DISK_QUOTA));
    await utimes(left, new Date(), new Date(Date.now() - 2 * 3_600_000));
    await sandbox.writeFile("a.bin", new Uint8Array(2 * MIB));
    expect(await readdir(join(dir, "sandboxes", sessionId))).toEqual(["home", "tmp"]);
  });

  test("32 MiB are not held in memory: each piece is on disk before the next is taken", async () => {
    const large = createLocalProvider({
      rootDir: join(dir, "sandboxes"),
      diskQuota: 64 * MIB,
      allowedHosts: [],
    });
    const folder = join(dir, "sandboxes", sessionId);
    let given = 0;
    let most = 0;
    async function* upload() {
      while (given < 32 * MIB) {
        const staged = (await readdir(folder)).find((name) => name.startsWith(".upload-"));
        const stored = staged ? (await lstat(join(folder, staged))).size : 0;
        most = Math.max(most, given - stored);
        given += MIB;
        yield new Uint8Array(MIB);
      }
    }
    const files = large.openFiles(state, account);
    expect(await files.writeStream("large.bin", upload())).toMatchObject({ size: 32 * MIB });
    expect(most).toBeLessThanOrEqual(MIB);
    expect(await readAll(files.readStream("large.bin"))).toBe(32 * MIB);
  });

  test("counts what an earlier process of the server wrote", async () => {
    await writeFile(join(home(), "before.bin"), new Uint8Array(DISK_QUOTA - MIB));
    await expect(sandbox.writeFile("a.bin", new Uint8Array(2 * MIB))).rejects.toMatchObject({
      code: "no_space",
    });
  });

  test("what a killed command left half written is not counted for ever", async () => {
    const left = join(home(), ".just-bash-write-0123456789abcdef");
    await writeFile(left, new Uint8Array(DISK_QUOTA));
    await utimes(left, new Date(), new Date(Date.now() - 3_600_000));
    await sandbox.writeFile("a.bin", new Uint8Array(2 * MIB));
    expect(await shell("ls -A")).toMatchObject({ stdout: "a.bin\n" });
  });

  test("counts files and folders as well as bytes", async () => {
    await mkdir(join(home(), "many"));
    // A fifth of the time that asynchronous calls take.
    for (let index = 0; index < 20_000; index++) {
      closeSync(openSync(join(home(), "many", String(index)), "w"));
    }
    const more = await shell("mkdir folder; touch file; ln many/1 linked; ls");
    expect(more.stdout).toBe("many\n");
    await expect(sandbox.writeFile("file", "")).rejects.toMatchObject({ code: "no_space" });
  });
});

describe("the network", () => {
  /** One sandbox for all: no request leaves anything in it. */
  let calling: SandboxState;
  beforeAll(async () => {
    calling = await provider.provision(randomUUID(), account);
  });
  afterAll(() => provider.destroy(calling));
  beforeEach(() => {
    sandbox = provider.open(calling, account);
  });

  test("the service's own API is reached, and nothing else of the service", async () => {
    const origin = `http://127.0.0.1:${port(service)}`;
    expect(await shell(`curl -s ${origin}/api/chats`)).toMatchObject({
      stdout: "served /api/chats",
    });
    for (const path of [
      "/",
      "/.well-known/workflow/v1/flow",
      "/api/../.well-known/workflow/v1/flow",
      "/api",
    ]) {
      const result = await shell(`curl -s -X POST -d '{}' '${origin}${path}'`);
      expect(result).toMatchObject({ stdout: "" });
      expect(result.exitCode).not.toBe(0);
    }
  });

  test("a command cannot say where it calls from, nor hide that it is a sandbox", async () => {
    const url = `http://127.0.0.1:${port(service)}/api/headers`;
    const forged = [
      ...["X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP"],
      ...["X-Vercel-Forwarded-For", "X-Vercel-Proxied-For", "X-Peer-Address", "Via", "Host"],
      ...["X-Middleware-Subrequest", "X-Agent-Sandbox", "x-agent-sandbox"],
    ];
    const lines = [
      ...forged.map((name) => `-H '${name}: 203.0.113.9'`),
      ...["-H 'X-Agent-Sandbox;'", "-H 'X-Agent-Sandbox:'", "-H 'Connection: x-agent-sandbox'"],
      ...["-H 'Connection: close, x-agent-sandbox'", "-H 'Transfer-Encoding: chunked'"],
    ];
    const redirect = `${url.replace("headers", "redirect")}?to=${encodeURIComponent("/api/headers")}`;
    for (const command of [
      `curl -s ${url}`,
      ...lines.map((line) => `curl -s ${line} ${url}`),
      `curl -s ${lines.join(" ")} ${url}`,
      `curl -sL ${lines.join(" ")} '${redirect}'`,
    ]) {
      const { stdout } = await shell(command);
      expect(JSON.parse(stdout), command).toMatchObject({ "x-agent-sandbox": "1" });
      expect(stdout, command).not.toContain("203.0.113.9");
      expect(JSON.parse(stdout).connection ?? "", command).not.toContain("sandbox");
    }
  });

  const forms = [
    ...["169.254.169.254", "2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "169.254.43518"],
    ...["[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[fd00:ec2::254]", "10.0.0.1", "0.0.0.0"],
    ...["metadata.google.internal", "169.254.169.254.nip.io", "169.254.169.254%2f@example.com"],
  ];
  test("no metadata address is called, in whatever form", async () => {
    for (const host of forms) {
      const result = await shell(`curl -sS -m 5 'http://${host}/latest/meta-data/'`);
      expect(result.exitCode, host).not.toBe(0);
      expect(result.stdout, host).toBe("");
      expect(result.stderr, host).not.toBe("");
    }
  });

  test("no other server of this machine is called, by whatever name", async () => {
    internalRequests = 0;
    const names = [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0",
      "0.0.0.0",
      "localhost",
      "[::1]",
    ];
    for (const name of [
      ...names,
      "[::ffff:127.0.0.1]",
      hostname(),
      "LOCALHOST.",
      "sub.localhost",
    ]) {
      const result = await shell(`curl -sS -m 5 'http://${name}:${port(internal)}/'`);
      expect(result.exitCode).not.toBe(0);
      expect(result.stdout).not.toContain(SECRET);
    }
    expect(internalRequests).toBe(0);
  });

  test("no redirect to a private address is followed", async () => {
    internalRequests = 0;
    const origin = `http://127.0.0.1:${port(service)}`;
    const inside = `http://127.0.0.1:${port(internal)}/`;
    const elsewhere = [
      inside,
      "http://169.254.169.254/",
      "//169.254.169.254/",
      "/.well-known/workflow/v1/flow",
    ];
    for (const status of [301, 302, 303, 307, 308]) {
      for (const to of [...elsewhere, "file:///etc/passwd"]) {
        const target = `${origin}/api/redirect?status=${status}&to=${encodeURIComponent(to)}`;
        const result = await shell(`curl -sSL -m 5 '${target}'`);
        expect(result.exitCode, target).not.toBe(0);
        expect(result.stdout, target).toBe("");
      }
      const own = `${origin}/api/redirect?status=${status}&to=${encodeURIComponent("/api/there")}`;
      expect(await shell(`curl -sSL '${own}'`), own).toMatchObject({ stdout: "served /api/there" });
    }
    expect(internalRequests).toBe(0);
  });
});

async function serve(
  handle: (
    path: string,
    answer: (status: number, body: string, headers?: Record<string, string>) => void,
    headers: IncomingHttpHeaders,
  ) => void,
): Promise<Server> {
  const server = createServer((request, response) =>
    handle(
      request.url ?? "/",
      (status, body, headers = {}) => {
        response.writeHead(status, headers).end(body);
      },
      request.headers,
    ),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function port(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
}

/** Asks the server in this process, one request after another, for as long as the attack runs. */
async function whileAnswering<T extends CommandResult | CommandResult[]>(attack: () => Promise<T>) {
  let running = true;
  const startedAt = performance.now();
  const attacking = attack().finally(() => {
    running = false;
  });
  let answers = 0;
  while (running) {
    await (await fetch(`http://127.0.0.1:${port(service)}/api/ping`)).text();
    answers += 1;
    // Without a pause, the questions would take the processor from the other tests.
    await delay(10);
  }
  return { result: await attacking, answers, tookMs: performance.now() - startedAt };
}

async function bytesOnDisk(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

/** Whether the system can end a process together with its parent. */
function tiesToParent(): boolean {
  return spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0;
}
