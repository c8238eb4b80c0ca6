import { createHmac } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { z } from "zod";
import { DEVELOPER_EMAIL, developerPassword } from "../auth/developer-account.ts";
import { formatKey, hashKey, PREFIX_LENGTH } from "../keys/key-format.ts";

/**
 * Makes sure that the development account and its API key are there.
 *
 * The key follows from the local secret, so it is the same at every start although only its hash is
 * stored.
 *
 * @returns the raw key
 */
export async function seedAccount(env: Readonly<Record<string, string>>): Promise<string> {
  const secret = env.API_KEY_SECRET ?? "";
  const key = formatKey(createHmac("sha256", secret).update("development key").digest());
  const sql = postgres(env.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  try {
    await sql`
      insert into public.api_keys (account_id, name, hash, prefix)
      select public.account_of_email(${DEVELOPER_EMAIL}), 'Development',
             ${hashKey(key, secret)}, ${key.slice(0, PREFIX_LENGTH)}
      on conflict (hash) do update set revoked_at = null, expires_at = null`;
  } finally {
    await sql.end();
  }
  return key;
}

/**
 * Makes sure that the development account can be signed in to the console by one click: a person of
 * the embedded auth whose address needs no proof, because nobody else can make one there.
 */
export async function seedDeveloperSignIn(env: Readonly<Record<string, string>>): Promise<void> {
  const person = { email: DEVELOPER_EMAIL, password: developerPassword(env.API_KEY_SECRET ?? "") };
  const ask = (path: string) =>
    fetch(`${env.SUPABASE_URL}/auth/v1/${path}`, {
      method: "POST",
      headers: { apikey: env.SUPABASE_PUBLISHABLE_KEY ?? "", "content-type": "application/json" },
      body: JSON.stringify(person),
      signal: AbortSignal.timeout(30_000),
    });
  if ((await ask("token?grant_type=password")).ok) return;
  const sql = postgres(env.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  try {
    // Someone who came by a code has another password or none.
    await sql`delete from auth.users where email = ${DEVELOPER_EMAIL}`;
    await ask("signup");
    await sql`update auth.users set email_confirmed_at = now() where email = ${DEVELOPER_EMAIL}`;
  } finally {
    await sql.end();
  }
}

const placeSchema = z.object({ sessionId: z.string(), chatId: z.string() });
const createdSchema = z.object({
  session: z.object({ id: z.string() }),
  chat: z.object({ id: z.string() }),
});

export type Place = z.output<typeof placeSchema>;

/**
 * Makes sure that the development account has a session with a chat and a sandbox, so that one
 * request is enough for a first turn. Through the API, as any client would.
 *
 * @throws Error that names the request that failed
 */
export async function seedPlace(options: {
  url: string;
  key: string;
  dataDir: string;
  databaseUrl: string;
}): Promise<Place> {
  const headers = { "x-api-key": options.key, "content-type": "application/json" };
  const request = async (method: string, path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`${options.url}${path}`, {
      method,
      headers,
      signal: AbortSignal.timeout(60_000),
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}.`);
    return response.json();
  };

  const file = join(options.dataDir, "development.json");
  let place = existsSync(file)
    ? placeSchema.safeParse(JSON.parse(readFileSync(file, "utf8"))).data
    : undefined;
  // Asked of the database: each endpoint that is called costs a start of `next dev` seconds.
  const state = place && (await stateOf(place, options.databaseUrl));
  if (place === undefined || state === "missing") {
    const created = createdSchema.parse(
      await request("POST", "/api/sessions", { title: "Development" }),
    );
    place = { sessionId: created.session.id, chatId: created.chat.id };
    writeFileSync(file, `${JSON.stringify(place)}\n`);
  }
  if (state !== "ready") await request("POST", "/api/sandbox", { sessionId: place.sessionId });
  return place;
}

async function stateOf(
  { sessionId, chatId }: Place,
  databaseUrl: string,
): Promise<"missing" | "without sandbox" | "ready"> {
  const sql = postgres(databaseUrl, { max: 1 });
  try {
    const [row] = await sql`
      select s.sandbox_state is not null as provisioned
      from public.sessions s join public.chats c on c.session_id = s.id
      where s.id = ${sessionId} and c.id = ${chatId}`;
    if (row === undefined) return "missing";
    return row.provisioned === true ? "ready" : "without sandbox";
  } finally {
    await sql.end();
  }
}
