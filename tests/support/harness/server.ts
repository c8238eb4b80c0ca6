import { inject } from "vitest";
import { freePort, type RunningNext, runNext } from "../../../scripts/run-next.ts";
import { servers } from "./servers.ts";

/**
 * Starts one more production server process, on the shared database unless `env` names another.
 * The caller ends it, with `stop()` or `kill("SIGKILL")`.
 */
export async function startServer(
  options: { env?: Record<string, string>; port?: number } = {},
): Promise<RunningNext> {
  const { env, distDir } = inject("stack");
  const port = options.port ?? (await freePort());
  const server = await runNext({
    mode: "start",
    port,
    distDir,
    env: { ...env, PUBLIC_URL: `http://127.0.0.1:${port}`, ...options.env },
    output: "collect",
  });
  servers.add(server.url);
  return server;
}
