import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = `
  const { supervise } = await import(${JSON.stringify(join(import.meta.dirname, "../../../scripts/supervise.ts"))});
  const code = supervise({
    startParts: () => new Promise(() => setInterval(() => {}, 1_000)),
    startServer: async () => {},
    announce: async () => {},
  });
  console.log("waiting");
  process.exit(await code);`;

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("%s ends a start that waits for the database", async (signal, expected) => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill(signal);
  const [code] = await once(child, "exit");
  expect(code).toBe(expected);
});
