import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { createClient } from "../create-client.ts";
import { type Command, type Context, take, text } from "./command.ts";
import { removeSettings, settingsFile, writeSettings } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

export const login: Command = {
  usage: ["login [--url URL] [--email ADDRESS]", "login --logout"],
  about: "Store an API key: one that is typed in or piped, or a new one by a code that is mailed.",
  options: { url: { type: "string" }, email: { type: "string" }, logout: { type: "boolean" } },
  async run(context) {
    const { env, options, out, settings, signal } = context;
    if (options.logout) {
      removeSettings(env);
      out.result({ removed: settingsFile(env) }, ({ removed }) => `Removed ${removed}`);
      return 0;
    }
    const baseUrl = text(options.url) ?? settings.baseUrl;
    const email = text(options.email);
    const apiKey = email
      ? await signUp(context, baseUrl, email)
      : await ask("API key: ", signal, true);
    const client = createClient({ baseUrl, apiKey });
    await take(client.api.GET("/api/sessions", { params: { query: { limit: 1 } }, signal }));
    const file = writeSettings(env, { baseUrl, apiKey });
    out.result({ baseUrl, file }, () => `Signed in to ${baseUrl}. The key is in ${file}.`);
    return 0;
  },
};

async function signUp({ out, signal }: Context, baseUrl: string, email: string): Promise<string> {
  const { api } = createClient({ baseUrl });
  await take(api.POST("/api/agents/signup", { body: { email }, signal }));
  out.progress(`A code has been sent to ${email}.`);
  const code = await ask("Code: ", signal, false);
  return (await take(api.POST("/api/agents/verify", { body: { email, code }, signal }))).api_key;
}

/**
 * Resolves to a line of stdin; a secret one is not shown while it is typed.
 * @throws UsageError when stdin ends without one
 */
async function ask(question: string, signal: AbortSignal, isSecret: boolean): Promise<string> {
  const { stdin, stderr } = process;
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: stdin,
    output: isSecret ? nowhere : stderr,
    terminal: isTerminal,
  });
  // `question` does not settle when its input ends.
  const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    const answer = (await Promise.race([lines.question("", { signal }), ended])).trim();
    if (answer !== "") return answer;
    throw new UsageError(
      `${question.replace(/: $/, "")} is missing: type it in a terminal, or pipe it to stdin`,
    );
  } finally {
    lines.close();
    if (isTerminal && isSecret) stderr.write("\n");
  }
}
