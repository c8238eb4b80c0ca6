import { createHmac } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { z } from "zod";
import { DEVELOPER_EMAIL } from "../lib/identity/credentials/developer-account.ts";
import { formatKey, hashKey, PREFIX_LENGTH } from "../lib/identity/keys/key-format.ts";

/**
 * Ensures that the development account has an API key. Keys are derived from the local secret and a
 * number, so the same key can be printed at every start although only its hash is stored. A revoked or
 * rotated key stays revoked, and the next number replaces it.
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
 * Ensures that the development account has a session with a chat and a sandbox, so a first turn takes one
 * request. It uses the API like any client.
 *
 * @throws Error with the request that failed
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
  // Asks the database, because `next dev` needs seconds to compile each endpoint that is called.
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
