import type { Parts } from "./parts.ts";
import type { RunningNext } from "./run-next.ts";

const SAME_SIGNAL_MS = 500;

/**
 * Starts the parts and then the server on them, and runs until a signal arrives or one of them exits.
 * Stops them in the reverse order; a second Ctrl-C ends the server at once.
 *
 * @returns the exit code that a shell expects after the signal, or 1 when one of them exited
 */
export async function supervise(options: {
  startParts(): Promise<Parts>;
  startServer(parts: Parts): Promise<RunningNext>;
  /** Prints the addresses and keys that a person needs once the server answers. */
  announce(parts: Parts): Promise<void>;
}): Promise<number> {
  const signalled = untilSignalled();
  const hurried = untilInterruptedAgain();
  let parts: Parts | undefined;
  let server: RunningNext | undefined;
  try {
    // The parts may wait for the database.
    const preparing = options.startParts();
    const prepared = await Promise.race([preparing, signalled]);
    if (typeof prepared === "number") {
      void preparing.then((late) => late.stop()).catch(() => {});
      return prepared;
    }
    parts = prepared;
    const starting = options.startServer(parts);
    const started = await Promise.race([starting, signalled]);
    if (typeof started === "number") {
      void starting.then((late) => late.stop()).catch(() => {});
      return started;
    }
    server = started;
    const ended = Promise.race([signalled, parts.died, server.died]);
    await Promise.race([options.announce(parts), ended]);

    const outcome = await ended;
    if (typeof outcome === "number") return outcome;
    console.error(`\n${outcome} Shutting down.`);
    return 1;
  } finally {
    await server?.stop(hurried);
    await parts?.stop();
  }
}

function untilSignalled(): Promise<number> {
  return new Promise((resolve) => {
    // Ctrl-C arrives twice, from the terminal and from the launcher, so the handlers stay installed.
    process.on("SIGINT", () => resolve(130));
    process.on("SIGTERM", () => resolve(143));
    process.on("SIGHUP", () => resolve(129));
    process.once("disconnect", () => resolve(143));
  });
}

/** Aborts at a second Ctrl-C. The first one may arrive twice, from the terminal and the launcher. */
function untilInterruptedAgain(): AbortSignal {
  const controller = new AbortController();
  let first: number | undefined;
  process.on("SIGINT", () => {
    first ??= Date.now();
    if (Date.now() - first > SAME_SIGNAL_MS) controller.abort();
  });
  return controller.signal;
}
