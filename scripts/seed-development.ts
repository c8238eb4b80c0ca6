import { createHmac } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { z } from "zod";
import { DEVELOPER_EMAIL } from "../lib/identity/credentials/developer-account.ts";
import { formatKey, hashKey, PREFIX_LENGTH } from "../lib/identity/keys/key-format.ts";

/**
 * Makes sure that the development account has an API key. Each follows from the local secret and its
 * number, so it is the same at every start although only its hash is stored. One that was revoked,
 * or rotated away, stays so: the next number takes its place.
 *
 * @returns the raw key
 */
export async function seedAccount(env: Readonly<Record<string, string>>): Promise<string> {
  const secret = env.API_KEY_SECRET ?? "";
  const sql = postgres(env.DATABASE_URL ?? "", { max: 1, onnotice: () => {} });
  try {
    for (let number = 1; ; number++) {
      const key = developmentKey(secret, number);
      const hash = hashKey(key, secret);
      const [known] =
        await sql`select revoked_at, expires_at from public.api_keys where hash = ${hash}`;
      if (known === undefined) {
        await sql`select public.create_key_of_email(
          ${DEVELOPER_EMAIL}, 'Development', ${hash}, ${key.slice(0, PREFIX_LENGTH)})`;
        return key;
      }
      if (known.revoked_at === null && known.expires_at === null) return key;
    }
  } finally {
    await sql.end();
  }
}

function developmentKey(secret: string, number: number): string {
  const text = number === 1 ? "development key" : `development key ${number}`;
  return formatKey(createHmac("sha256", secret).update(text).digest());
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
