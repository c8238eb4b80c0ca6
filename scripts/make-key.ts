import { parseArgs } from "node:util";
import { z } from "zod";
import { fingerprintOf, newKey } from "../lib/identity/keys/key-format.ts";
import { sqlName } from "../lib/platform/database/port.ts";
import type { Command } from "./command.ts";
import { dataDirOf } from "./data-dir.ts";
import { connectPostgres } from "./embedded/connect-postgres.ts";
import { keepSecrets } from "./embedded/keep-secrets.ts";

const wantedKey = z.object({
  email: z.email().max(254).toLowerCase(),
  name: z.string().trim().min(1).max(100).default("Made by command"),
});
const hostedSettings = z.object({
  SUPABASE_URL: z.url(),
  SUPABASE_SECRET_KEY: z.string().min(1),
  API_KEY_SECRET: z.string().min(32),
});

const described = z.object({ secret_fingerprint: z.string().nullish() });

/** Arguments of the SQL function `create_key_of_email`. */
interface StoredKey {
  readonly email: string;
  readonly name: string;
  readonly hash: string;
  readonly prefix: string;
}

/**
 * `--email <address> [--name <name>]`: creates an API key for the account of that address, and the
 * account if it does not exist. The address is not verified, because anyone who can run this has
 * access to the database. The server may be running.
 *
 * @returns the exit code
 */
export async function makeKey(args: readonly string[], command: Command): Promise<number> {
  const wanted = readArguments(args);
  if (wanted === null) {
    console.error(
      `Usage: ${command.name} --email you@example.com [--name laptop]\n` +
        "The name describes the key and has at most 100 characters.",
    );
    return 2;
  }
  const raw = process.env.SUPABASE_URL
    ? await createHosted(wanted)
    : await createIn(command, wanted);
  console.log(`\nAPI key of ${wanted.email}, which is shown only once:\n\n${raw}\n`);
  return 0;
}

type Wanted = z.output<typeof wantedKey>;

function readArguments(args: readonly string[]): Wanted | null {
  try {
    const options = { email: { type: "string" }, name: { type: "string" } } as const;
    const { values } = parseArgs({ args: [...args], options });
    return wantedKey.safeParse(values).data ?? null;
  } catch {
    return null;
  }
}

async function createIn(command: Command, wanted: Wanted): Promise<string> {
  const database = await command.reachDatabase();
  const sql = connectPostgres(database.url, { max: 1 });
  try {
    const secret = process.env.API_KEY_SECRET || keepSecrets(dataDirOf(process.env)).apiKeySecret;
    const [servers] = await sql`select secret_fingerprint from public.installation`;
    refuseOtherSecret(secret, servers?.secret_fingerprint);
    const { raw, stored } = prepare(wanted, secret);
    await sql`select public.create_key_of_email(
      ${stored.email}, ${stored.name}, ${stored.hash}, ${stored.prefix})`;
    return raw;
  } finally {
    await sql.end();
    await database.stop();
  }
}

async function createHosted(wanted: Wanted): Promise<string> {
  const settings = hostedSettings.safeParse(process.env);
  if (!settings.success) {
    const names = settings.error.issues.map(({ path }) => path.join("."));
    throw new Error(`Set these variables to the values that the service uses: ${names.join(", ")}`);
  }
  const { SUPABASE_URL, SUPABASE_SECRET_KEY, API_KEY_SECRET } = settings.data;
  const { raw, stored } = prepare(wanted, API_KEY_SECRET);
  const rpc = async (name: string, args: object) => {
    const url = new URL(`/rest/v1/rpc/${name}`, SUPABASE_URL);
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        apikey: SUPABASE_SECRET_KEY,
        authorization: `Bearer ${SUPABASE_SECRET_KEY}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(args),
      redirect: "error",
      signal: AbortSignal.timeout(15_000),
    }).catch(() => null);
    if (answer === null) throw new Error(`${url.origin} cannot be reached. Is SUPABASE_URL right?`);
    if (answer.ok) return answer;
    const why: Readonly<Record<number, string>> = {
      401: "It rejected SUPABASE_SECRET_KEY.",
      403: "SUPABASE_SECRET_KEY is not the project's secret key.",
      404: "Its database lacks a migration: run `supabase db push`.",
    };
    throw new Error(
      `No key was created: ${url.origin} answered ${answer.status}. ${why[answer.status] ?? ""}`.trim(),
    );
  };
  const servers = described.parse(await (await rpc("describe_database", {})).json());
  refuseOtherSecret(API_KEY_SECRET, servers.secret_fingerprint);
  const named = Object.entries(stored).map(([key, value]) => [sqlName(key), value]);
  await rpc("create_key_of_email", Object.fromEntries(named));
  return raw;
}

/** @param recorded the fingerprint of the secret of the servers; empty until one has started */
function refuseOtherSecret(secret: string, recorded: unknown): void {
  if (!recorded || recorded === fingerprintOf(secret)) return;
  throw new Error(
    "No key was created: API_KEY_SECRET differs from the secret of the database's servers, which would not accept the key",
  );
}

function prepare(wanted: Wanted, secret: string): { raw: string; stored: StoredKey } {
  const { raw, hash, prefix } = newKey(secret);
  const stored = { email: wanted.email, name: wanted.name, hash, prefix };
  return { raw, stored };
}
