import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { freePort } from "../../../scripts/free-port.ts";
import { type RunningNext, runNext } from "../../../scripts/run-next.ts";
import { noteSettings } from "../secrets/known.ts";
import { servers } from "./servers.ts";

/**
 * Starts one more production server process, on the shared database unless `env` names another.
 * The caller ends it, with `stop()` or `kill("SIGKILL")`.
 */
export async function startServer(
  options: { env?: Record<string, string>; port?: number } = {},
): Promise<RunningNext> {
  const { env, distDir, records } = inject("stack");
  const port = options.port ?? (await freePort());
  noteSettings(records, options.env ?? {});
  const server = await runNext({
    mode: "start",
    port,
    distDir,
    env: { ...env, PUBLIC_URL: `http://127.0.0.1:${port}`, ...options.env },
    output: "collect",
  });
  servers.add(server.url);
  // Searched for secrets when all tests have ended.
  const keepLog = () => appendFile(join(records, "logs", `${server.pid}.log`), server.logs());
  void server.died.then(keepLog);
  return { ...server, stop: () => server.stop().then(keepLog) };
}
