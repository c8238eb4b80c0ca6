import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureFreshBuild } from "./ensure-build.ts";
import { freePort } from "./free-port.ts";
import { runNext } from "./run-next.ts";
import { runProgram } from "./run-program.ts";
import { seedAccount } from "./seed-development.ts";
import { startParts } from "./start-parts.ts";

/**
 * Runs `bench/run.ts` against a production server with its own database. The environment of the
 * benchmark has the origin in `BENCH_URL`, an API key in `BENCH_API_KEY`, and the server's settings.
 */
export function bench(distDir: string, args: string[]): Promise<number> {
  return withDatabase(distDir, async (env, key) => {
    const port = Number(new URL(env.PUBLIC_URL ?? "").port);
    const server = await runNext({ mode: "start", port, distDir, env, output: "collect" });
    try {
      return await runProgram(["bench/run.ts", ...args], {
        ...process.env,
        ...env,
        BENCH_URL: server.url,
        BENCH_API_KEY: key,
        BENCH_PID: String(server.pid),
      });
    } finally {
      await server.stop();
    }
  });
}

/** Runs `bench/peers/run.ts`, which starts the servers that it compares, with their own database. */
export function benchPeers(distDir: string, args: string[]): Promise<number> {
  return withDatabase(distDir, (env, key) =>
    runProgram(["bench/peers/run.ts", ...args], {
      ...process.env,
      ...env,
      BENCH_API_KEY: key,
    }),
  );
}

/** Starts the embedded parts with an account, and passes the settings of a server on them. */
export async function withDatabase(
  distDir: string,
  work: (env: Record<string, string>, key: string) => Promise<number>,
): Promise<number> {
  await ensureFreshBuild(distDir);
  const dataDir = mkdtempSync(join(tmpdir(), "agent-platform-bench-"));
  const url = `http://127.0.0.1:${await freePort()}`;
  const parts = await startParts({ dataDir, publicUrl: url, given: {} });
  try {
    const env = {
      ...parts.env,
      DATA_DIR: dataDir,
      PUBLIC_URL: url,
      LOG_LEVEL: "warn",
      // Requests are counted as usual, but the limits are never reached.
      ACCOUNT_RATE_LIMIT: "1000000",
      ADDRESS_RATE_LIMIT: "1000000",
      ACCOUNT_ACTIVE_TURNS: "0",
      TEST_CONSTANTS: '{"ACCOUNT_STREAMS":1000}',
    };
    return await work(env, await seedAccount(parts.env));
  } finally {
    await parts.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
