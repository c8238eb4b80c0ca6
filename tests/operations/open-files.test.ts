/** A server whose processes may open few files, and processes that do not answer. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { checkOpenFiles } from "../../lib/health/diagnose.ts";
import { freePort } from "../../scripts/free-port.ts";
import { projectRoot } from "../../scripts/project-root.ts";
import { nextEnv } from "../../scripts/run-next.ts";

const LIMIT = 512;
const REPLACED = { timeout: 60_000, interval: 500 };

let server: ChildProcess;
let port: number;
let output = "";
beforeAll(async () => {
  const { env, distDir } = inject("stack");
  port = await freePort();
  const address = { HOST: "127.0.0.1", PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` };
  const one = { NEXT_DIST_DIR: distDir, SERVER_PROCESSES: "1" };
  const run = `ulimit -n ${LIMIT}; exec "$0" --disable-warning=ExperimentalWarning scripts/cluster.ts`;
  server = spawn("sh", ["-c", run, process.execPath], {
    cwd: projectRoot,
    env: nextEnv({ ...env, ...address, ...one }, "start"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [server.stdout, server.stderr]) {
    stream?.on("data", (piece: Buffer) => {
      output += piece;
    });
  }
  while ((await health()) !== 200) expect(server.exitCode, output).toBeNull();
});
afterAll(async () => {
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  await ended;
});

/** Returns the status of a request on a new connection; 0 without a response. */
const health = () =>
  fetch(`http://127.0.0.1:${port}/api/health`, {
    headers: { connection: "close" },
    signal: AbortSignal.timeout(3_000),
  }).then(
    ({ status }) => status,
    () => 0,
  );

/** Returns the id of the server process. */
const processId = (): number =>
  Number(execFileSync("ps", ["-o", "pid=", "--ppid", String(server.pid)], { encoding: "utf8" }));

/** Opens a connection, and resolves when it was answered or closed. */
async function keepAlive(): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
  return socket;
}

describe("a server whose processes may open few files", () => {
  it("refuses connections beyond them, and serves on when they have ended", async () => {
    const pid = processId();
    const sockets = await Promise.all(Array.from({ length: LIMIT * 1.5 }, keepAlive));
    const open = sockets.filter(({ readyState }) => readyState === "open");
    expect(open.length).toBeGreaterThan(LIMIT / 4);
    expect(open.length).toBeLessThanOrEqual(LIMIT / 2);
    expect(output).toContain(`More than ${LIMIT / 2} connections are refused`);
    for (const socket of sockets) socket.destroy();
    await expect.poll(health).toBe(200);
    expect(processId()).toBe(pid);
  });

  it("replaces a process that does not take a connection, and says why", async () => {
    const pid = processId();
    // Fewer than it has open already.
    execFileSync("prlimit", ["--pid", String(pid), `--nofile=16:${LIMIT}`]);
    expect(await health()).toBe(0);
    await expect.poll(health, REPLACED).toBe(200);
    expect(processId()).not.toBe(pid);
    expect(output).toMatch(
      new RegExp(`process ${pid} does not take a connection .+ \\d+ open files of at most 16`),
    );
  });

  it("replaces a process that stands still without any request", async () => {
    const pid = processId();
    process.kill(pid, "SIGSTOP");
    await expect.poll(processId, REPLACED).not.toBe(pid);
    await expect.poll(health, REPLACED).toBe(200);
    expect(output).toContain(`process ${pid} does not answer for`);
  });
});

it("the check of an installation warns of a low limit", () => {
  expect(checkOpenFiles(1_024)).toMatchObject({
    status: "warning",
    detail: expect.stringContaining("at most 512 connections"),
    remedy: expect.stringContaining("LimitNOFILE"),
  });
  for (const limit of [65_536, Number.POSITIVE_INFINITY]) {
    expect(checkOpenFiles(limit).status).toBe("ok");
  }
});
