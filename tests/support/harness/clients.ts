import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import createApiClient from "openapi-fetch";
import { newKey } from "../../../lib/identity/keys/key-format.ts";
import type { paths } from "../../generated/api.ts";
import { registerSecret } from "../secrets/register.ts";
import { setting, sql, stack } from "./stack.ts";

/** Inserts an account; each personal one has a unique e-mail. */
export async function createAccount({
  kind = "personal",
  email = kind === "personal" ? `${randomUUID()}@example.com` : null,
  isAdmin = false,
}: {
  kind?: "personal" | "organization" | "artist" | "workspace";
  email?: string | null;
  isAdmin?: boolean;
} = {}) {
  const id = randomUUID();
  await sql`insert into accounts (id, kind, email, is_admin)
    values (${id}, ${kind}, ${email}, ${isAdmin})`;
  return { id, email };
}

/** Makes an account a member of an organization, or links an artist or workspace to it. */
export async function link(organizationId: string, accountId: string): Promise<void> {
  await sql`insert into organization_accounts (organization_id, account_id)
    values (${organizationId}, ${accountId})`;
}

/** Inserts a key and returns it. */
export async function createKey(
  accountId: string,
  { expiresAt, revokedAt }: { expiresAt?: Date; revokedAt?: Date } = {},
): Promise<string> {
  const { raw, hash, prefix } = newKey(setting("API_KEY_SECRET"));
  await sql`insert into api_keys (account_id, name, hash, prefix, expires_at, revoked_at)
    values (${accountId}, 'test', ${hash}, ${prefix}, ${expiresAt ?? null}, ${revokedAt ?? null})`;
  return registerSecret(raw, "API key");
}

/** Signs a token as the embedded Supabase does. A claim given as undefined is left out. */
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

/** Returns a well-formed key that no account has. */
export const unknownKey = (): string => newKey(randomUUID()).raw;

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

export type Client = ReturnType<typeof client>;

/**
 * Returns the missing or wrong headers of an answer; null if there are none. All suites check all
 * their answers.
 */
export function faultOfHeaders(headers: Pick<Headers, "get">): string | null {
  if (headers.get("x-content-type-options") !== "nosniff") return "lets a browser guess its type";
  if (!headers.get("content-type")?.startsWith("text/html")) return null;
  const policy = headers.get("content-security-policy") ?? "";
  return /frame-ancestors|sandbox/.test(policy) ? null : "is a page without a policy";
}

/** Creates a client of a server, the shared one by default, that authenticates as given. */
export function client(
  credential: { key: string } | { bearer: string } | null = null,
  url: string = stack.url,
) {
  const headers: Record<string, string> = {};
  if (credential && "key" in credential) headers["x-api-key"] = credential.key;
  if (credential && "bearer" in credential) headers.authorization = `Bearer ${credential.bearer}`;
  const request = async (
    method: string,
    path: string,
    { body, ...options }: RequestOptions = {},
  ): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, "content-type": "application/json", ...options.headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const { status, headers: received } = response;
    const fault = faultOfHeaders(received);
    if (fault !== null) throw new Error(`The answer of ${method} ${path} ${fault}`);
    const text = await response.text();
    const isJson = text !== "" && received.get("content-type")?.includes("application/json");
    return { status, headers: received, body: isJson ? JSON.parse(text) : text, text };
  };
  const withoutBody = (method: string) => (path: string, options?: RequestOptions) =>
    request(method, path, options);
  const withBody =
    (method: string) =>
    (path: string, body?: unknown, options: RequestOptions = {}) =>
      request(method, path, { ...options, body });
  return {
    /** The server's origin. */
    url,
    /** The headers that authenticate, for requests made by other means. */
    headers: headers as Readonly<Record<string, string>>,
    /** Typed by the OpenAPI document (`npm run check` generates the types), for valid requests. */
    api: createApiClient<paths>({ baseUrl: url, headers }),
    request,
    get: withoutBody("GET"),
    delete: withoutBody("DELETE"),
    post: withBody("POST"),
    patch: withBody("PATCH"),
  };
}

/** The body of a success that `api` was asked for. */
export async function dataOf<
  A extends { readonly data?: unknown; readonly error?: unknown; readonly response: Response },
>(asked: Promise<A>): Promise<Exclude<A["data"], undefined>> {
  const { data, error, response } = await asked;
  if (data === undefined) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data as Exclude<A["data"], undefined>;
}

export type Person = Awaited<ReturnType<typeof createPerson>>;

/** Creates a personal account with both credentials. */
export async function createPerson(url: string = stack.url) {
  const email = `${randomUUID()}@example.com`;
  const { id } = await createAccount({ email });
  const key = await createKey(id);
  const bearer = await createBearer(email);
  const clients = { withKey: client({ key }, url), withBearer: client({ bearer }, url) };
  return { id, email, key, bearer, ...clients };
}
