import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject } from "vitest";
import { freePort } from "../../../scripts/free-port.ts";
import { type RunningNext, runNext } from "../../../scripts/run-next.ts";
import { noteSettings } from "../secrets/known.ts";
import { servers } from "./servers.ts";

export interface ServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly port?: number;
  /** Server processes on one port, which are replaced when they exit. Default: one, which is not. */
  readonly processes?: number;
}

/**
 * Starts one more production server, on the shared database unless `env` names another.
 * The caller ends it, with `stop()` or `kill("SIGKILL")`.
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningNext> {
  const { env, distDir, program, records } = inject("stack");
  const port = options.port ?? (await freePort());
  noteSettings(records, options.env ?? {});
  const TEST_CONSTANTS = JSON.stringify({
    ...JSON.parse(env.TEST_CONSTANTS ?? "{}"),
    ...JSON.parse(options.env?.TEST_CONSTANTS ?? "{}"),
  });
  const server = await runNext({
    mode: "start",
    port,
    ...(options.processes !== undefined && { processes: options.processes }),
    distDir,
    program,
    env: { ...env, PUBLIC_URL: `http://127.0.0.1:${port}`, ...options.env, TEST_CONSTANTS },
    output: "collect",
  });
  servers.add(server.url);
  // Searched for secrets when all tests have ended.
  const keepLog = () => appendFile(join(records, "logs", `${server.pid}.log`), server.logs());
  void server.died.then(keepLog);
  return { ...server, stop: () => server.stop().then(keepLog) };
}

/** Waits until the server accepts no further connection. */
export const untilRefused = (url: string) =>
  expect
    .poll(() =>
      fetch(`${url}/api/health`).then(
        () => "accepted",
        () => "refused",
      ),
    )
    .toBe("refused");
