import { createServer } from "node:net";

/** Below the ports that Linux and macOS give to outgoing connections, any of which may come in between. */
const FIRST = 10_000;
const COUNT = 22_000;
/** The workers of a test run, each with separate ports, and the processes beside them. */
const SHARES = 8;

/**
 * Returns a loopback port that is free at the time of the call. A server binds it seconds later, so
 * the processes of one test run choose from different ports.
 */
export async function freePort(): Promise<number> {
  const size = Math.floor(COUNT / SHARES);
  const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % SHARES) * size;
  for (let tries = 0; tries < 100; tries++) {
    const port = first + Math.floor(Math.random() * size);
    if (await isFree(port)) return port;
  }
  throw new Error("No loopback port is free.");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
