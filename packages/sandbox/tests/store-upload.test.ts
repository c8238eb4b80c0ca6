import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalProvider } from "@platform/sandbox/local";
import type { Sandbox } from "@platform/sandbox/port";
import { storeUpload } from "@platform/sandbox/store-upload";
import { afterAll, beforeAll, expect, test } from "vitest";

let dir: string;
let sandbox: Sandbox;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "store-upload-"));
  const provider = createLocalProvider({ rootDir: dir, diskQuota: 2 ** 20, allowedHosts: [] });
  const account = randomUUID();
  sandbox = provider.open(await provider.provision(randomUUID(), account), account);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const store = (name: string, text: string) => storeUpload(sandbox, name, Buffer.from(text));

test("a repetition stores nothing twice, and other content gets another name", async () => {
  expect(await store("a.csv", "1")).toBe("uploads/a.csv");
  expect(await store("a.csv", "1")).toBe("uploads/a.csv");
  expect(await store("a.csv", "2")).toBe("uploads/a-2.csv");
  expect(await store("a.csv", "3")).toBe("uploads/a-3.csv");
  expect(await store("a.csv", "2")).toBe("uploads/a-2.csv");
  const { stdout } = await sandbox.run("ls uploads", { timeoutMs: 30_000, maxOutputChars: 1_000 });
  expect(stdout).toBe("a-2.csv\na-3.csv\na.csv\n");
});

test.each([
  ["", "file"],
  ["..", "file"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\x\\stem 1.wav", "stem 1.wav"],
  ["-rf *.csv", "rf _.csv"],
  [".bashrc", "bashrc"],
  ["a\nb\u202e.csv", "a_b_.csv"],
  ["Tantiemen März.csv", "Tantiemen März.csv"],
  [`${"x".repeat(300)}.csv`, `${"x".repeat(96)}.csv`],
  [`${"𝔸".repeat(48)}.csv`, `${"𝔸".repeat(37)}.csv`],
  [`${"東".repeat(120)}.csv`, `${"東".repeat(50)}.csv`],
  [`a.${"𝔸".repeat(60)}`, `a.${"𝔸".repeat(22)}`],
  ["lone \ud835 surrogate.csv", "lone _ surrogate.csv"],
])("%j is stored as %j", async (name, stored) => {
  expect(await store(name, stored)).toBe(`uploads/${stored}`);
});
