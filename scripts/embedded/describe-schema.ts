import type { ReservedSql, Sql, TransactionSql } from "postgres";

/**
 * Returns the tables, types, functions, grants and comments of the schemas `public` and `engine` as sorted
 * lines. Two databases have the same schema if their lines are equal; the order of columns does not count.
 */
export async function describeSchema(sql: Sql | ReservedSql | TransactionSql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with relations as (
      select c.*, c.oid::regclass::text as name, n.nspname
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'engine') and c.relkind in ('r', 'p', 'v', 'm', 'c')
    ), functions as (
      select p.*, n.nspname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('public', 'engine')
    )
    select line from (
      select concat_ws(' ', 'relation', nspname, name, relkind, relpersistence, reloptions,
        case when relrowsecurity then 'row security' end) as line from relations
      union all
      select concat_ws(' ', 'column', r.nspname, r.name, a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then 'not null' end, a.attidentity, a.attgenerated,
        pg_get_expr(d.adbin, d.adrelid))
      from relations r
      join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
      union all
      select concat_ws(' ', 'constraint', r.nspname, r.name, c.conname, pg_get_constraintdef(c.oid))
      from relations r join pg_constraint c on c.conrelid = r.oid
      union all
      select concat_ws(' ', 'index', r.nspname, pg_get_indexdef(i.indexrelid),
        case when not i.indisvalid then 'invalid' end)
      from relations r join pg_index i on i.indrelid = r.oid
      union all
      select concat_ws(' ', 'trigger', r.nspname, pg_get_triggerdef(t.oid), t.tgenabled)
      from relations r join pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal
      union all
      select concat_ws(' ', 'policy', r.nspname, r.name, p.polname, p.polcmd, p.polroles::regrole[],
        pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
      from relations r join pg_policy p on p.polrelid = r.oid
      union all
      select concat_ws(' ', 'domain', n.nspname, t.typname, format_type(t.typbasetype, t.typtypmod))
      from pg_type t join pg_namespace n on n.oid = t.typnamespace
      where n.nspname in ('public', 'engine') and t.typtype = 'd'
      union all
      select concat_ws(' ', 'function', pg_get_functiondef(f.oid)) from functions f
      union all
      select concat_ws(' ', 'grant', r.nspname, r.name, g.grantee::regrole, g.privilege_type)
      from relations r
      cross join aclexplode(coalesce(r.relacl, acldefault('r', r.relowner))) g where r.relkind <> 'c'
      union all
      select concat_ws(' ', 'grant', f.nspname, f.oid::regprocedure, g.grantee::regrole, g.privilege_type)
      from functions f
      cross join aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) g
      union all
      select concat_ws(' ', 'comment', i.type, i.identity, d.description)
      from pg_description d cross join pg_identify_object(d.classoid, d.objoid, d.objsubid) i
      where d.objoid >= 16384 and i.schema in ('public', 'engine')
    ) lines order by line collate "C"`;
  return rows.map(({ line }) => line);
}
