import { isolation } from "@platform/kit/isolation/isolation";
import { DEVELOPER_EMAIL } from "../lib/identity/credentials/developer-account.ts";
import { hasAiModel } from "../lib/models/has-ai-model.ts";
import { dataDirOf } from "./data-dir.ts";
import { listenAddress } from "./listen-address.ts";
import { printWelcome } from "./print-welcome.ts";
import { runNext } from "./run-next.ts";
import { type Place, seedAccount, seedPlace } from "./seed-development.ts";
import { startParts } from "./start-parts.ts";
import { supervise } from "./supervise.ts";

/**
 * `npm run dev`: runs the development server, with the embedded parts unless a Supabase project is
 * configured, until a signal arrives or a part exits. Creates the resources for a first turn.
 *
 * @param keyCommand the command that creates an API key, for a project that has no account yet
 * @returns the exit code
 */
export async function serveDevelopment(keyCommand: string): Promise<number> {
  // It signs people in with one click and shows stack traces, so only this machine has access.
  const { host, port, url } = listenAddress(process.env, "127.0.0.1");
  const dataDir = dataDirOf(process.env);
  const publicUrl = process.env.PUBLIC_URL || url;
  let key: string | undefined;
  return supervise({
    startParts: () => startParts({ dataDir, publicUrl, given: process.env }),
    startServer: async (parts) => {
      if (parts.embedded) key = await seedAccount(parts.env);
      return runNext({
        mode: "dev",
        host,
        port,
        // `next dev` locks its folder, so each instance has its own.
        distDir: `.next-dev-${port}`,
        env: { ...parts.env, DATA_DIR: dataDir, PUBLIC_URL: publicUrl },
        output: "show",
      });
    },
    announce: async (parts) => {
      const databaseUrl = parts.env.DATABASE_URL;
      if (key === undefined || databaseUrl === undefined) {
        await printWelcome({ url, parts, dataDir, keyCommand });
        return;
      }
      const place = await greet({ url, key, dataDir, databaseUrl });
      // Next.js compiles a page when it is first requested, while a person waits for it.
      if (place !== undefined && process.stdout.isTTY) void compilePages(url, place);
    },
  });
}

/** Has the pages and routes of a first visit compiled, one after another. */
async function compilePages(url: string, { sessionId, chatId }: Place): Promise<void> {
  const paths = [
    "/",
    "/chat",
    "/api/chats",
    `/chat/${sessionId}/${chatId}`,
    `/api/sessions/${sessionId}/chats/${chatId}`,
    "/api/chat",
    "/.well-known/workflow/v1/flow",
    "/welcome",
    "/artists",
    "/schedules",
    "/content",
    "/keys",
  ];
  for (const path of paths) {
    await fetch(url + path, { signal: AbortSignal.timeout(60_000) })
      .then((response) => response.body?.cancel())
      .catch(() => {});
  }
}

/** Creates a session for a first turn and prints the API key and the requests to try. */
async function greet(options: {
  url: string;
  key: string;
  dataDir: string;
  databaseUrl: string;
}): Promise<Place | undefined> {
  const { url, key, dataDir } = options;
  let place: Place | undefined;
  try {
    place = await seedPlace(options);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
  const mail = process.env.SMTP_URL
    ? ""
    : `\nMail:     ${url}/dev/mail, with the sign-in codes of other addresses: none is sent`;
  const { AI_GATEWAY_API_KEY, OPENAI_BASE_URL } = process.env;
  const model = hasAiModel({ AI_GATEWAY_API_KEY, OPENAI_BASE_URL })
    ? ""
    : "\nModel:    rules, not an AI. Set AI_GATEWAY_API_KEY or OPENAI_BASE_URL for a real one.";
  console.log(`
Ready on ${url} (data in ${dataDir})

Console:  open ${url} and continue as ${DEVELOPER_EMAIL}, with one click${mail}${model}
API key:  ${key}
`);
  if (place === undefined) return undefined;
  const { sessionId, chatId } = place;
  const turn = `{"sessionId":"${sessionId}","chatId":"${chatId}","messages":[{"id":"'$(date +%s)'","content":"Write hello to hello.txt, list the files, then read hello.txt"}]}`;
  console.log(`Stream a turn in the session that has been created for you:

curl -N ${url}/api/chat -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '${turn}'

All of the API: ${url}/docs
`);
  const isSandboxChosen = Boolean(process.env.SANDBOX || process.env.VERCEL_TOKEN);
  if (!isSandboxChosen && isolation().kind === "namespaces") {
    console.log(
      "Give the agent the bash, Python, git and ffmpeg of this machine, isolated by bubblewrap:\n\n" +
        "SANDBOX=system npm run dev\n",
    );
  }
  return place;
}
