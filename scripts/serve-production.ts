import { settings } from "../lib/platform/settings.ts";
import { dataDirOf } from "./data-dir.ts";
import { listenAddress } from "./listen-address.ts";
import type { StartParts } from "./parts.ts";
import { printWelcome } from "./print-welcome.ts";
import { runNext } from "./run-next.ts";
import { supervise } from "./supervise.ts";

/**
 * Serves a build, with the parts that `startParts` starts beside it, until a signal arrives or one of
 * them exits. Runs `WEB_CONCURRENCY` server processes, which hand their turns over before they exit.
 *
 * @param keyCommand the command that creates an API key, for the message of the first start
 * @returns the exit code
 */
export async function serveProduction(options: {
  distDir: string;
  startParts: StartParts;
  keyCommand: string;
}): Promise<number> {
  const { host, port, url } = listenAddress(process.env, "0.0.0.0");
  const dataDir = dataDirOf(process.env);
  const publicUrl = process.env.PUBLIC_URL || url;
  const { keyCommand } = options;
  return supervise({
    startParts: () => options.startParts({ dataDir, publicUrl, given: process.env }),
    startServer: (parts) =>
      runNext({
        mode: "start",
        host,
        port,
        processes: settings.shape.WEB_CONCURRENCY.parse(process.env.WEB_CONCURRENCY || undefined),
        graceMs: graceMs(),
        distDir: options.distDir,
        env: { ...parts.env, DATA_DIR: dataDir, PUBLIC_URL: publicUrl },
        output: "show",
      }),
    announce: (parts) => printWelcome({ url, parts, dataDir, keyCommand }),
  });
}

/** Milliseconds that the server processes have to exit: their own limit, and some to end in order. */
function graceMs(): number {
  const { DRAIN_SECONDS } = settings.shape;
  return (DRAIN_SECONDS.parse(process.env.DRAIN_SECONDS || undefined) + 3) * 1_000;
}
