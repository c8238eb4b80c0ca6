/**
 * The statement with which PostgREST calls a SQL function: PostgreSQL itself parses the arguments
 * from one JSON text and returns the answer as JSON text.
 */

interface Signature {
  readonly argNames: readonly string[];
  readonly argTypes: readonly string[];
  readonly requiredArgs: number;
  readonly returns: "nothing" | "value" | "row" | "rows" | "texts";
}

/** By name of the function; several where it is overloaded. */
export type Signatures = ReadonlyMap<string, readonly Signature[]>;

export interface FunctionStatement {
  /**
   * Takes the arguments as one JSON text, and returns the column `answer`: in one row, or in a row for
   * each text.
   */
  readonly text: string;
  readonly returns: Signature["returns"];
}

/** The limit of hosted Supabase. */
const MAX_ROWS = 1000;

/**
 * Returns undefined when not exactly one signature accepts the arguments, or when it does not return
 * what `form` asks for.
 * @param form `json` for any function that returns no set of texts; `text` for a single value as text
 *   instead of JSON; `texts` for a set of texts
 */
export function functionStatement(
  signatures: Signatures,
  name: string,
  given: readonly string[],
  form: "json" | "text" | "texts",
): FunctionStatement | undefined {
  const matching = (signatures.get(name) ?? []).filter((signature) => accepts(signature, given));
  const [signature, other] = matching;
  if (signature === undefined || other !== undefined) return undefined;
  if (form === "text" && signature.returns !== "value") return undefined;
  if ((form === "texts") !== (signature.returns === "texts")) return undefined;

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
    value: `select ${form === "text" ? "result.value" : "to_json(result.value)"}::text as answer
            from ${source}, lateral (select ${call} as value) result`,
    row: `select row_to_json(result)::text as answer from ${source}, lateral ${call} result`,
    rows: `select coalesce(json_agg(result), '[]')::text as answer
           from (select result.* from ${source}, lateral ${call} result limit ${MAX_ROWS}) result`,
    texts: `select result.answer from ${source}, lateral ${call} as result(answer)`,
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
 * with unnamed or variadic arguments, with sets of other values than texts, or with response headers.
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
              when p.proretset and t.typtype = 'b' then 'texts'
              when p.proretset then 'rows'
              when t.typtype = 'c' or p.prorettype = 'record'::regtype then 'row'
              else 'value' end as returns
  from pg_proc p
  join pg_type t on t.oid = p.prorettype
  where p.pronamespace = 'public'::regnamespace
    and p.prokind = 'f'
    and p.provariadic = 0
    and (not p.proretset or t.typtype = 'c' or p.prorettype in ('record'::regtype, 'text'::regtype))
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
