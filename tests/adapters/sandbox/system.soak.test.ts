/** The commands that try to take the whole machine, with the machine's own programs. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isolation } from "@platform/kit/isolation/isolation";
import type { Sandbox, SandboxProvider } from "@platform/sandbox/port";
import { createSystemProvider } from "@platform/sandbox/system";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { measureFolder } from "../../../packages/sandbox/src/adapters/local/measure-folder.ts";
import { attacks, plantBombs } from "./attacks.ts";

const DISK_QUOTA = 24 * 1024 * 1024;
const account = randomUUID();
let dir: string;
let provider: SandboxProvider;
let session: string;
let sandbox: Sandbox;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "sandbox-system-soak-"));
  provider = createSystemProvider({ rootDir: dir, diskQuota: DISK_QUOTA, allowedHosts: [] });
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const shell = (command: string, timeoutMs = 30_000) =>
  sandbox.run(command, { timeoutMs, maxOutputChars: 50_000 });

describe.runIf(isolation().kind === "namespaces")("a command that takes the whole machine", () => {
  beforeEach(async () => {
    session = randomUUID();
    const state = await provider.provision(session, account);
    sandbox = provider.open(state, account);
    return () => provider.destroy(state);
  });

  test.each(Object.entries(attacks))("%s ends, and the server goes on", async (name, command) => {
    if (name.includes("bomb")) await plantBombs(sandbox);
    const stalls = monitorEventLoopDelay();
    stalls.enable();
    const started = performance.now();
    const result = await shell(command, 1_500);
    stalls.disable();
    expect(result.exitCode).not.toBe(0);
    expect(result.stdout.length).toBeLessThanOrEqual(50_000);
    const tookMs = performance.now() - started;
    if (tookMs > 1_000) expect(stalls.max / 1e6).toBeLessThan(tookMs / 2);
    const { bytes, files } = await measureFolder(join(dir, session));
    expect(bytes).toBeLessThanOrEqual(DISK_QUOTA);
    expect(files).toBeLessThanOrEqual(20_000);
    expect(await shell("rm -rf f* d* out bomb; echo alive")).toMatchObject({ stdout: "alive\n" });
  });
});
