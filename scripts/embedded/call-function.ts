import postgres, { type Sql } from "postgres";
import {
  type FunctionStatement,
  functionStatement,
  type SignatureRow,
  type Signatures,
  signaturesQuery,
  toSignatures,
} from "../../lib/platform/database/function-statement.ts";
import {
  DescribedError,
  describeDatabaseError,
  reconnectDelay,
} from "./describe-database-error.ts";

/**
 * Serves `POST /rest/v1/rpc/<function>` for the service key in one round trip to the database.
 *
 * Every write of the product is such a call, and a chat turn makes several; the general server needs
 * seven round trips and a translation of the whole request for each.
 */
export class FunctionCaller {
  readonly #sql: Sql;
  readonly #secretKey: string;
  #signatures: Promise<Signatures> | undefined;

  constructor(databaseUrl: string, secretKey: string) {
    this.#secretKey = secretKey;
    this.#sql = postgres(databaseUrl, {
      max: 40,
      backoff: reconnectDelay,
      onnotice: () => {},
      // These connections always have the service role, so that no statement needs to set it.
      connection: {
        options:
          "-c role=service_role -c request.jwt.claim.role=service_role " +
          '-c request.jwt.claims={"role":"service_role"}',
      },
    });
  }

  /** Clears the cached signatures after a change of the schema. */
  clearCache(): void {
    this.#signatures = undefined;
  }

  /** Answers the call, or passes it to `general` when it needs more than this class supports. */
  async answer(
    request: Request,
    general: (request: Request) => Promise<Response>,
  ): Promise<Response> {
    const name = this.#calledFunction(request);
    if (name === undefined || !(await this.#load()).has(name)) return general(request);

    const body = await request.text();
    const given = keysOf(body);
    const asText = request.headers.get("accept") === "text/plain";
    const statement =
      given && functionStatement(await this.#load(), name, given, asText ? "text" : "json");
    if (statement) return this.#call(statement, body, asText);
    const { method, headers, url } = request;
    return general(new Request(url, { method, headers, body }));
  }

  #calledFunction(request: Request): string | undefined {
    const { headers } = request;
    if (request.method !== "POST" || headers.get("apikey") !== this.#secretKey) return undefined;
    const bearer = headers.get("authorization");
    if (bearer !== null && bearer !== `Bearer ${this.#secretKey}`) return undefined;
    const accept = headers.get("accept") ?? "*/*";
    if (!["*/*", "application/json", "text/plain"].includes(accept)) return undefined;
    if (headers.has("prefer") || (headers.get("content-profile") ?? "public") !== "public") {
      return undefined;
    }
    return /\/rest\/v1\/rpc\/([a-z_][a-z0-9_]*)$/.exec(request.url)?.[1];
  }

  async #call(
    { text: statement, returns }: FunctionStatement,
    body: string,
    asText: boolean,
  ): Promise<Response> {
    try {
      const [row] = await this.#sql.unsafe<{ answer: string | null }[]>(statement, [body], {
        prepare: true,
      });
      if (returns === "nothing") return new Response(null, { status: 204 });
      if (asText) return text(row?.answer ?? "");
      return json(200, row?.answer ?? "null");
    } catch (error) {
      return failure(error);
    }
  }

  #load(): Promise<Signatures> {
    this.#signatures ??= this.#sql.unsafe<SignatureRow[]>(signaturesQuery).then(toSignatures);
    this.#signatures.catch(() => this.clearCache());
    return this.#signatures;
  }
}

/** Returns the names of the arguments; undefined when the body is not a JSON object. */
function keysOf(body: string): string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(body === "" ? "{}" : body);
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
    return Object.keys(parsed);
  } catch {
    return undefined;
  }
}

function failure(error: unknown): Response {
  const described = describeDatabaseError(error);
  console.error(described);
  if (described instanceof DescribedError) return json(described.status, described.message);
  const { code, message, detail, hint } = Object.assign(
    { code: "XX000", message: "", detail: null, hint: null },
    described,
  );
  const statuses: Record<string, number> = { "42501": 403, "42883": 404, "42P01": 404 };
  const body = JSON.stringify({ code, message, details: detail ?? null, hint: hint ?? null });
  return json(statuses[code] ?? 400, body);
}

/** Answers a single value as plain text, like PostgREST. */
function text(value: string): Response {
  return new Response(value, { headers: { "content-type": "text/plain; charset=utf-8" } });
}

function json(status: number, text: string): Response {
  return new Response(text, {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
  });
}
