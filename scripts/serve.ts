import { resolve } from "node:path";
import { localOrigin } from "../lib/platform/local-origin.ts";
import { ensureBuild } from "./ensure-build.ts";
import { hasAccounts } from "./has-accounts.ts";
import { type RunningNext, runNext } from "./run-next.ts";
import { type Place, seedAccount, seedPlace } from "./seed-development.ts";
import { type Parts, projectRoot, startParts } from "./start-parts.ts";

/**
 * `npm run dev` and `npm start`: the embedded parts unless a Supabase project is configured, and the
 * server; in development also what a newcomer needs for a first turn. Runs until a signal or until a
 * part dies.
 *
 * @returns the exit code
 */
export async function serve(mode: "dev" | "start", distDir: string): Promise<number> {
  // Development has accounts with one click and errors with stack traces: for this machine alone.
  const host = process.env.HOST || (mode === "dev" ? "127.0.0.1" : "0.0.0.0");
  const port = Number(process.env.PORT || 3000);
  const dataDir = resolve(projectRoot, process.env.DATA_DIR || ".data");
  const isLocal = ["127.0.0.1", "0.0.0.0", "::1", "::"].includes(host);
  const url = isLocal ? `http://localhost:${port}` : localOrigin(host, port);
  const ending = untilAskedToEnd();

  if (mode === "start") await ensureBuild(distDir);
  let parts: Parts | undefined;
  let server: RunningNext | undefined;
  try {
    const publicUrl = process.env.PUBLIC_URL || url;
    parts = await startParts({ dataDir, publicUrl, given: process.env });
    // Production has the keys that someone asked for, and no others.
    const key = parts.embedded && mode === "dev" ? await seedAccount(parts.env) : undefined;
    const starting = runNext({
      mode,
      host,
      port,
      // `next dev` holds a lock on its folder, so each copy has its own.
      distDir: mode === "dev" ? `.next-dev-${port}` : distDir,
      env: { ...parts.env, DATA_DIR: dataDir, PUBLIC_URL: publicUrl },
      output: "show",
    });
    const started = await Promise.race([starting, ending]);
    if (typeof started === "number") {
      void starting.then((late) => late.stop()).catch(() => {});
      return started;
    }
    server = started;
    const over = Promise.race([ending, parts.died, server.died]);
    const databaseUrl = parts.env.DATABASE_URL;
    if (key !== undefined && databaseUrl !== undefined) {
      await Promise.race([greet({ url, key, dataDir, databaseUrl }), over]);
    } else await welcome(url, { ...process.env, ...parts.env }, parts.embedded ? dataDir : null);

    const outcome = await over;
    if (typeof outcome === "number") return outcome;
    console.error(`\n${outcome} Stopping everything.`);
    return 1;
  } finally {
    await server?.stop();
    await parts?.stop();
  }
}

/** Where it listens and, while nobody has an account, how to get one. */
async function welcome(url: string, env: NodeJS.ProcessEnv, dataDir: string | null): Promise<void> {
  const data = dataDir === null ? "with the configured Supabase project" : `(data in ${dataDir})`;
  console.log(`\nReady on ${url} ${data}\n`);
  if (await hasAccounts(env)) return;
  console.log(
    "There is no account yet. This makes one, and prints its API key:\n\n" +
      "npm run key -- --email you@example.com\n",
  );
}

/** Resolves with the exit code that a shell expects after the signal. */
function untilAskedToEnd(): Promise<number> {
  return new Promise((resolve) => {
    // Ctrl-C reaches us twice, from the terminal and from the launcher: handlers stay installed.
    process.on("SIGINT", () => resolve(130));
    process.on("SIGTERM", () => resolve(143));
    process.on("SIGHUP", () => resolve(129));
    process.once("disconnect", () => resolve(143));
  });
}

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
  console.log(`Stream a turn (session, chat and sandbox are there already):

curl -N ${url}/api/chat -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '${turn}'

From nothing:

curl ${url}/api/sessions -H 'x-api-key: ${key}' -d '{}'
curl ${url}/api/sandbox -H 'x-api-key: ${key}' -d '{"sessionId":"<session.id>"}'
curl -N ${url}/api/chat -H 'x-api-key: ${key}' -d '{"sessionId":"<session.id>","chatId":"<chat.id>","messages":[{"id":"m1","content":"Hello"}]}'
`);
}
