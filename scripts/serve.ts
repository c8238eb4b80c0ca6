import { localOrigin } from "../lib/platform/local-origin.ts";
import { settings } from "../lib/platform/settings.ts";
import { ensureBuild } from "./ensure-build.ts";
import { hasAccounts } from "./has-accounts.ts";
import { dataDirOf } from "./reach-database.ts";
import { type RunningNext, runNext } from "./run-next.ts";
import { type Place, seedAccount, seedPlace } from "./seed-development.ts";
import { type Parts, startParts } from "./start-parts.ts";

const SAME_SIGNAL_MS = 500;

/**
 * `npm run dev` and `npm start`: runs the server, with the embedded parts unless a Supabase project is
 * configured, until a signal arrives or a part exits. In development it also creates what a newcomer
 * needs for a first turn. In production it runs `WEB_CONCURRENCY` server processes, which hand their
 * turns over before they exit; a second Ctrl-C ends them at once.
 *
 * @returns the exit code
 */
export async function serve(mode: "dev" | "start", distDir: string): Promise<number> {
  // Development signs people in with one click and shows stack traces, so only this machine has
  // access.
  const host = process.env.HOST || (mode === "dev" ? "127.0.0.1" : "0.0.0.0");
  const port = Number(process.env.PORT || 3000);
  const dataDir = dataDirOf(process.env);
  const isLocal = ["127.0.0.1", "0.0.0.0", "::1", "::"].includes(host);
  const url = isLocal ? `http://localhost:${port}` : localOrigin(host, port);
  const signalled = untilSignalled();
  const hurried = untilInterruptedAgain();

  if (mode === "start") await ensureBuild(distDir);
  let parts: Parts | undefined;
  let server: RunningNext | undefined;
  try {
    const publicUrl = process.env.PUBLIC_URL || url;
    parts = await startParts({ dataDir, publicUrl, given: process.env });
    // Production never creates a key by itself.
    const key = parts.embedded && mode === "dev" ? await seedAccount(parts.env) : undefined;
    const starting = runNext({
      mode,
      host,
      port,
      ...(mode === "start" && {
        processes: settings.shape.WEB_CONCURRENCY.parse(process.env.WEB_CONCURRENCY || undefined),
        graceMs: graceMs(),
      }),
      // `next dev` locks its folder, so each instance has its own.
      distDir: mode === "dev" ? `.next-dev-${port}` : distDir,
      env: { ...parts.env, DATA_DIR: dataDir, PUBLIC_URL: publicUrl },
      output: "show",
    });
    const started = await Promise.race([starting, signalled]);
    if (typeof started === "number") {
      void starting.then((late) => late.stop()).catch(() => {});
      return started;
    }
    server = started;
    const ended = Promise.race([signalled, parts.died, server.died]);
    const databaseUrl = parts.env.DATABASE_URL;
    if (key !== undefined && databaseUrl !== undefined) {
      await Promise.race([greet({ url, key, dataDir, databaseUrl }), ended]);
    } else await welcome(url, { ...process.env, ...parts.env }, parts.embedded ? dataDir : null);

    const outcome = await ended;
    if (typeof outcome === "number") return outcome;
    console.error(`\n${outcome} Shutting down.`);
    return 1;
  } finally {
    await server?.stop(hurried);
    await parts?.stop();
  }
}

/** Milliseconds that the server processes have to exit: their own limit, and some to end in order. */
function graceMs(): number {
  const { DRAIN_SECONDS } = settings.shape;
  return (DRAIN_SECONDS.parse(process.env.DRAIN_SECONDS || undefined) + 3) * 1_000;
}

/** Prints the URL and, as long as there is no account, how to create one. */
async function welcome(url: string, env: NodeJS.ProcessEnv, dataDir: string | null): Promise<void> {
  const data = dataDir === null ? "with the configured Supabase project" : `(data in ${dataDir})`;
  console.log(`\nReady on ${url} ${data}\n`);
  if (await hasAccounts(env)) return;
  console.log(
    "There is no account yet. To create one and print its API key, run:\n\n" +
      "npm run key -- --email you@example.com\n",
  );
}

/** Resolves with the exit code that a shell expects after the signal. */
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

/** Creates a session for a first turn and prints the API key and the requests to try. */
async function greet(options: {
  url: string;
  key: string;
  dataDir: string;
  databaseUrl: string;
}): Promise<void> {
  const { url, key, dataDir } = options;
  let place: Place | undefined;
  try {
    place = await seedPlace(options);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
  console.log(`
Ready on ${url} (data in ${dataDir})

API key:  ${key}
`);
  if (place === undefined) return;
  const { sessionId, chatId } = place;
  const turn = `{"sessionId":"${sessionId}","chatId":"${chatId}","messages":[{"id":"'$(date +%s)'","content":"Write hello to hello.txt, list the files, then read hello.txt"}]}`;
  console.log(`Stream a turn in the session that has been created for you:

curl -N ${url}/api/chat -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '${turn}'

Start from scratch:

curl ${url}/api/sessions -H 'x-api-key: ${key}' -d '{}'
curl ${url}/api/sandbox -H 'x-api-key: ${key}' -d '{"sessionId":"<session.id>"}'
curl -N ${url}/api/chat -H 'x-api-key: ${key}' -d '{"sessionId":"<session.id>","chatId":"<chat.id>","messages":[{"id":"m1","content":"Hello"}]}'
`);
}
