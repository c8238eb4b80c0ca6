import postgres, { type Sql } from "postgres";
import {
  DescribedError,
  describeDatabaseError,
  reconnectDelay,
} from "./describe-database-error.ts";

type Signature = {
  argNames: string[];
  requiredArgs: number;
  argTypes: string[];
  returns: "nothing" | "value" | "row" | "rows";
};

/** The limit of hosted Supabase. */
const MAX_ROWS = 1000;

/**
 * Serves `POST /rest/v1/rpc/<function>` for the service key in one round trip to the database.
 *
 * Every write of the product is such a call, and a chat turn makes several; the general server needs
 * seven round trips and a translation of the whole request for each. The statement is that of
 * PostgREST: PostgreSQL parses the body and returns the answer as JSON text.
 */
export class FunctionCaller {
  readonly #sql: Sql;
  readonly #secretKey: string;
  #signatures: Promise<Map<string, Signature[]>> | undefined;

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
    const candidates = name === undefined ? undefined : (await this.#load()).get(name);
    if (name === undefined || candidates === undefined) return general(request);

    const body = await request.text();
    const given = keysOf(body);
    const matching = candidates.filter((candidate) => given && accepts(candidate, given));
    const [signature, other] = matching;
    const asText = request.headers.get("accept") === "text/plain";
    if (
      given === undefined ||
      signature === undefined ||
      other !== undefined ||
      (asText && signature.returns !== "value")
    ) {
      const { method, headers, url } = request;
      return general(new Request(url, { method, headers, body }));
    }
    return this.#call(name, signature, given, body, asText);
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
    name: string,
    signature: Signature,
    given: string[],
    body: string,
    asText: boolean,
  ): Promise<Response> {
    const fields = given.map((key) => {
      const type = signature.argTypes[signature.argNames.indexOf(key)];
      return `${quote(key)} ${type}`;
    });
    const args = given.map((key) => `${quote(key)} := args.${quote(key)}`);
    const call = `public.${quote(name)}(${args.join(", ")})`;
    const source =
      given.length === 0
        ? "(select $1::text) unused"
        : `json_to_record($1::text::json) as args(${fields.join(", ")})`;
    const statement = {
      nothing: `select null as answer from ${source}, lateral ${call} result`,
      value: `select ${asText ? "result.value" : "to_json(result.value)"}::text as answer
              from ${source}, lateral (select ${call} as value) result`,
      row: `select row_to_json(result)::text as answer from ${source}, lateral ${call} result`,
      rows: `select coalesce(json_agg(result), '[]')::text as answer
             from (select result.* from ${source}, lateral ${call} result limit ${MAX_ROWS}) result`,
    }[signature.returns];
    try {
      const [row] = await this.#sql.unsafe<{ answer: string | null }[]>(statement, [body], {
        prepare: true,
      });
      if (signature.returns === "nothing") return new Response(null, { status: 204 });
      if (asText) return text(row?.answer ?? "");
      return json(200, row?.answer ?? "null");
    } catch (error) {
      return failure(error);
    }
  }

  #load(): Promise<Map<string, Signature[]>> {
    this.#signatures ??= readSignatures(this.#sql);
    this.#signatures.catch(() => this.clearCache());
    return this.#signatures;
  }
}

async function readSignatures(sql: Sql): Promise<Map<string, Signature[]>> {
  // The general server handles functions with unnamed or variadic arguments, those that set response
  // headers, and sets of single values.
  const rows = await sql<
    {
      name: string;
      arg_names: string[] | null;
      arg_types: string[] | null;
      defaults: number;
      returns: Signature["returns"];
    }[]
  >`
    select p.proname as name,
           p.pronargdefaults as defaults,
           coalesce(p.proargnames, '{}')::text[] as arg_names,
           array(
             select format_type(arg.type, null)
             from unnest(p.proargtypes) with ordinality as arg(type, position)
             order by arg.position
           )::text[] as arg_types,
           case when p.prorettype = 'void'::regtype then 'nothing'
                when p.proretset then 'rows'
                when t.typtype = 'c' or p.prorettype = 'record'::regtype then 'row'
                else 'value' end as returns
    from pg_proc p
    join pg_type t on t.oid = p.prorettype
    where p.pronamespace = 'public'::regnamespace
      and p.prokind = 'f'
      and p.provariadic = 0
      and (not p.proretset or t.typtype = 'c' or p.prorettype = 'record'::regtype)
      and coalesce(array_length(p.proargnames, 1), 0) >= p.pronargs
      and '' <> all (coalesce(p.proargnames, '{}'))
      and p.prosrc not like '%response.%'
      and p.prosrc not like '%request.%'`;
  const signatures = new Map<string, Signature[]>();
  for (const row of rows) {
    const argTypes = row.arg_types ?? [];
    const signature: Signature = {
      // Output columns follow the arguments in the catalog.
      argNames: (row.arg_names ?? []).slice(0, argTypes.length),
      argTypes,
      requiredArgs: argTypes.length - row.defaults,
      returns: row.returns,
    };
    signatures.set(row.name, [...(signatures.get(row.name) ?? []), signature]);
  }
  return signatures;
}

function accepts(signature: Signature, given: string[]): boolean {
  return (
    given.every((key) => signature.argNames.includes(key)) &&
    signature.argNames.slice(0, signature.requiredArgs).every((key) => given.includes(key))
  );
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

function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
