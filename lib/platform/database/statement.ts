/**
 * Returns the statement with which PostgREST calls a SQL function: PostgreSQL itself parses the
 * arguments from one JSON text, and returns the answer as JSON text in the column `answer`.
 */
import { functions } from "./functions.ts";
import type { FunctionName } from "./port.ts";

/** The limit of hosted Supabase. */
const MAX_ROWS = 1000;

/** @param given the names of the arguments; the others take their defaults */
export function statementOf(name: FunctionName, given: readonly string[]): string {
  const { returns } = functions[name];
  const types: Readonly<Record<string, string>> = functions[name].args;
  const fields = given.map((key) => `"${key}" ${types[key]}`);
  const args = given.map((key) => `"${key}" := args."${key}"`);
  const call = `public."${name}"(${args.join(", ")})`;
  const source =
    given.length === 0
      ? "(select $1::text) unused"
      : `json_to_record($1::text::json) as args(${fields.join(", ")})`;
  return {
    nothing: `select null::text as answer from ${source}, lateral ${call} result`,
    value: `select to_json(result.value)::text as answer
            from ${source}, lateral (select ${call} as value) result`,
    row: `select row_to_json(result)::text as answer from ${source}, lateral ${call} result`,
    rows: `select coalesce(json_agg(result), '[]')::text as answer
           from (select result.* from ${source}, lateral ${call} result limit ${MAX_ROWS}) result`,
    values: `select coalesce(json_agg(result.value), '[]')::text as answer
             from (select value from ${source}, lateral ${call} as call(value) limit ${MAX_ROWS}) result`,
  }[returns];
}
