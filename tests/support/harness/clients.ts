import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import createApiClient, { type Client as ApiClient } from "openapi-fetch";
import { newKey } from "../../../lib/identity/keys/key-format.ts";
import type { paths } from "../../generated/api.ts";
import { registerSecret } from "../secrets/register.ts";
import { setting, sql, stack } from "./stack.ts";

export type Kind = "personal" | "organization" | "artist" | "workspace";

export interface TestAccount {
  readonly id: string;
  readonly email: string | null;
}

/** Straight into the database; a personal account gets an e-mail of its own. */
export async function createAccount(
  given: { kind?: Kind; email?: string | null; isAdmin?: boolean } = {},
): Promise<TestAccount> {
  const kind = given.kind ?? "personal";
  const fallback = kind === "personal" ? `${randomUUID()}@example.com` : null;
  const email = given.email === undefined ? fallback : given.email;
  const id = randomUUID();
  await sql`insert into accounts (id, kind, email, is_admin)
    values (${id}, ${kind}, ${email}, ${given.isAdmin ?? false})`;
  return { id, email };
}

/** Makes an account a member of an organization, or links an artist or workspace to it. */
export async function link(organizationId: string, accountId: string): Promise<void> {
  await sql`insert into organization_accounts (organization_id, account_id)
    values (${organizationId}, ${accountId})`;
}

/** The raw key of a new row. */
export async function createKey(
  accountId: string,
  given: { expiresAt?: Date; revokedAt?: Date } = {},
): Promise<string> {
  const { raw, hash, prefix } = newKey(setting("API_KEY_SECRET"));
  await sql`insert into api_keys (account_id, name, hash, prefix, expires_at, revoked_at)
    values (${accountId}, 'test', ${hash}, ${prefix}, ${given.expiresAt ?? null},
      ${given.revokedAt ?? null})`;
  return registerSecret(raw, "API key");
}

/** A token as the embedded Supabase's auth signs them. A claim given as undefined is left out. */
export async function createBearer(
  email: string,
  claims: Readonly<Record<string, unknown>> = {},
  secret = setting("SUPABASE_JWT_SECRET"),
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload = {
    sub: randomUUID(),
    email,
    role: "authenticated",
    aud: "authenticated",
    iss: setting("SUPABASE_JWT_ISSUER"),
    iat: now,
    exp: now + 3600,
    ...claims,
  };
  const bearer = await new SignJWT(payload)
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(secret));
  return registerSecret(bearer, "bearer");
}

/** A well-formed key that nobody has. */
export function unknownKey(): string {
  return newKey(createHmac("sha256", randomBytes(8)).digest("hex")).raw;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else the text. */
  readonly body: unknown;
  readonly text: string;
}

interface RequestOptions {
  /** Sent as JSON, unless it is a string: then as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Client {
  /** The server's origin. */
  readonly url: string;
  /** The headers that authenticate, for requests made by other means. */
  readonly headers: Readonly<Record<string, string>>;
  /** As the OpenAPI document types it (`npm run check` generates them): for requests that are right. */
  readonly api: ApiClient<paths>;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  get(path: string, options?: RequestOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  patch(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  delete(path: string, options?: RequestOptions): Promise<Answer>;
}

export function client(
  credential: { key: string } | { bearer: string } | null = null,
  url: string = stack.url,
): Client {
  const headers: Record<string, string> = {};
  if (credential && "key" in credential) headers["x-api-key"] = credential.key;
  if (credential && "bearer" in credential) headers.authorization = `Bearer ${credential.bearer}`;
  const request: Client["request"] = async (method, path, options = {}) => {
    const { body } = options;
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, "content-type": "application/json", ...options.headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson =
      text !== "" && response.headers.get("content-type")?.includes("application/json");
    const parsed: unknown = isJson ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body: parsed, text };
  };
  return {
    url,
    headers,
    api: createApiClient<paths>({ baseUrl: url, headers }),
    request,
    get: (path, options) => request("GET", path, options),
    post: (path, body, options) => request("POST", path, { ...options, body }),
    patch: (path, body, options) => request("PATCH", path, { ...options, body }),
    delete: (path, options) => request("DELETE", path, options),
  };
}

/** The body of a success that `api` was asked for. */
export async function dataOf<T>(
  asked: Promise<{ readonly data?: T; readonly error?: unknown; readonly response: Response }>,
): Promise<T> {
  const { data, error, response } = await asked;
  if (data === undefined) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data;
}

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly key: string;
  readonly bearer: string;
  readonly withKey: Client;
  readonly withBearer: Client;
}

/** A personal account with both credentials. */
export async function createPerson(url: string = stack.url): Promise<Person> {
  const email = `${randomUUID()}@example.com`;
  const { id } = await createAccount({ email });
  const key = await createKey(id);
  const bearer = await createBearer(email);
  const withKey = client({ key }, url);
  const withBearer = client({ bearer }, url);
  return { id, email, key, bearer, withKey, withBearer };
}
