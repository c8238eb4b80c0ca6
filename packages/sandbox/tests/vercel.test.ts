/** The behavior of the Vercel adapter alone. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandOptions } from "@platform/sandbox/port";
import { createVercelProvider } from "@platform/sandbox/vercel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeVercel, startFakeVercel } from "../../../tests/support/fakes/vercel-sandbox.ts";

const options = { timeoutMs: 30_000, maxOutputChars: 10_000 } satisfies CommandOptions;

const account = randomUUID();
let dir: string;
let vercel: FakeVercel;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "sandbox-vercel-"));
  vercel = await startFakeVercel(join(dir, "amazon"));
});

afterAll(async () => {
  await vercel.close();
  await rm(dir, { recursive: true, force: true });
});

describe("the vercel sandbox", () => {
  const connect = (allowedHosts: string[], serviceOrigin?: string) =>
    createVercelProvider({
      credentials: { token: "token", teamId: "team", projectId: "project" },
      allowedHosts,
      serviceOrigin,
      fetch: vercel.fetch,
    });

  const mark = [{ headers: { "x-agent-sandbox": "1" } }];

  test("reaches only the service and the allow-list, marked, and no private address", async () => {
    const state = await connect(
      ["*.example.org", "a.example:8443"],
      "https://api.example.com",
    ).provision(randomUUID(), account);
    expect(vercel.networkPolicyOf(state.name)).toMatchObject({
      allow: {
        "api.example.com": expect.any(Array),
        "*.example.org": [{ transform: mark }],
        "a.example": [{ transform: mark }],
      },
      subnets: { deny: expect.arrayContaining(["169.254.0.0/16", "10.0.0.0/8", "127.0.0.0/8"]) },
    });
    const closed = await connect([]).provision(randomUUID(), account);
    expect(vercel.networkPolicyOf(closed.name)).toEqual({ mode: "deny-all" });
  });

  test("works where the image lacks the folder that commands start in, and ends timeouts otherwise", async () => {
    const ubuntu = await startFakeVercel(join(dir, "ubuntu"), undefined, "ubuntu");
    const provider = createVercelProvider({
      ...{ credentials: ubuntu.credentials, allowedHosts: [], fetch: ubuntu.fetch },
    });
    const state = await provider.provision(randomUUID(), account);
    const sandbox = provider.open(state, account);
    await sandbox.writeFile("a.txt", "Nightjar");
    const { stdout } = await sandbox.run("cat a.txt", options);
    expect(stdout).toBe("Nightjar");
    expect((await provider.openFiles(state, account).listFolder(".")).entries).toMatchObject([
      { path: "a.txt" },
    ]);
    const late = await sandbox.run("sleep 60", { ...options, timeoutMs: 500 });
    expect(late).toMatchObject({ exitCode: 124, stderr: expect.stringContaining("the deadline") });
    expect((await sandbox.run("exit 125", options)).exitCode).toBe(125);
    await ubuntu.close();
  });

  test("resumes a machine that was stopped meanwhile, with its files", async () => {
    const provider = connect([]);
    const state = await provider.provision(randomUUID(), account);
    const sandbox = provider.open(state, account);
    await sandbox.writeFile("a.txt", "a");
    vercel.stopMachine(state.name);
    expect(await provider.status(state)).toBe("active");
    expect(await sandbox.run("cat a.txt", options)).toMatchObject({ exitCode: 0, stdout: "a" });
  });

  test("never starts a command twice when the answer to its start is lost", async () => {
    const provider = connect([]);
    const sandbox = provider.open(await provider.provision(randomUUID(), account), account);
    const before = vercel.commandsStarted();
    vercel.loseNextAnswer();
    await expect(sandbox.run("echo once >> log.txt", options)).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(vercel.commandsStarted()).toBe(before + 1);
  });
});
