/**
 * The statement with which PostgREST calls a SQL function: PostgreSQL itself parses the arguments
 * from one JSON text and returns the answer as JSON text.
 */

interface Signature {
  readonly argNames: readonly string[];
  readonly argTypes: readonly string[];
  readonly requiredArgs: number;
  readonly returns: "nothing" | "value" | "row" | "rows";
}

/** By name of the function; several where it is overloaded. */
export type Signatures = ReadonlyMap<string, readonly Signature[]>;

export interface FunctionStatement {
  /** Takes the arguments as one JSON text, and returns one row with the column `answer`. */
  readonly text: string;
  readonly returns: Signature["returns"];
}

/** The limit of hosted Supabase. */
const MAX_ROWS = 1000;

/**
 * Returns undefined when not exactly one signature accepts the arguments.
 * @param asText whether a value is returned as text instead of JSON; only for functions that return
 *   a single value
 */
export function functionStatement(
  signatures: Signatures,
  name: string,
  given: readonly string[],
  asText: boolean,
): FunctionStatement | undefined {
  const matching = (signatures.get(name) ?? []).filter((signature) => accepts(signature, given));
  const [signature, other] = matching;
  if (signature === undefined || other !== undefined) return undefined;
  if (asText && signature.returns !== "value") return undefined;

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
  const text = {
    nothing: `select null::text as answer from ${source}, lateral ${call} result`,
    value: `select ${asText ? "result.value" : "to_json(result.value)"}::text as answer
            from ${source}, lateral (select ${call} as value) result`,
    row: `select row_to_json(result)::text as answer from ${source}, lateral ${call} result`,
    rows: `select coalesce(json_agg(result), '[]')::text as answer
           from (select result.* from ${source}, lateral ${call} result limit ${MAX_ROWS}) result`,
  }[signature.returns];
  return { text, returns: signature.returns };
}

/** A row of `signaturesQuery`. */
export interface SignatureRow {
  readonly name: string;
  readonly arg_names: readonly string[] | null;
  readonly arg_types: readonly string[] | null;
  readonly defaults: number;
  readonly returns: Signature["returns"];
}

/**
 * Reads the signatures of the functions in `public`, except those that only a REST server can call:
 * with unnamed or variadic arguments, with sets of single values, or with response headers.
 */
export const signaturesQuery = `
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

export function toSignatures(rows: readonly SignatureRow[]): Signatures {
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

function accepts(signature: Signature, given: readonly string[]): boolean {
  return (
    given.every((key) => signature.argNames.includes(key)) &&
    signature.argNames.slice(0, signature.requiredArgs).every((key) => given.includes(key))
  );
}

function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
