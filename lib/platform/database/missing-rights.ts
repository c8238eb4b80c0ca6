/**
 * The rights that a login lacks, each with the statement that gives it (deploy/roles.sql gives all). A superuser lacks
 * none, and creates missing roles itself. `need` is the use of a right: to `migrate`, to run the REST part beside the
 * server (`rest`), or to run the durable `engine`.
 */
export const MISSING_RIGHTS = `
with login as (
  select current_user as name, rolsuper as is_super from pg_roles where rolname = current_user),
roles as (
  select wanted.name, r.oid, r.rolbypassrls as bypasses
  from unnest(array['anon', 'authenticated', 'service_role']) wanted(name)
  left join pg_roles r on r.rolname = wanted.name)
select need, "right", remedy from (
  select 1, 'rest', format('the role %s', r.name), format('create role %I nologin noinherit', r.name),
    r.oid is null
  from roles r
  union all
  select 2, 'rest', format('membership in %s', r.name), format('grant %I to %I', r.name, login.name),
    r.oid is not null and not pg_has_role(r.oid, 'member')
  from roles r, login
  union all
  select 3, 'migrate', 'create on the database',
    format('grant create on database %I to %I', current_database(), login.name),
    not has_database_privilege(current_database(), 'create')
  from login
  union all
  select 4, 'migrate', 'usage and create on the schema public with grant option',
    format('grant usage, create on schema public to %I with grant option', login.name),
    not (has_schema_privilege('public', 'create with grant option')
      and has_schema_privilege('public', 'usage with grant option'))
  from login
  union all
  select 5, 'migrate', 'the extension pg_trgm', 'install or allow it, as the documents of the provider say',
    not exists (select from pg_available_extensions where name = 'pg_trgm')
  union all
  select 6, 'engine', format('the rights on the tables of the schema %s', n.nspname),
    format('grant usage on schema %1$I to %2$I; grant select, insert, update, delete on all tables in schema %1$I to %2$I',
      n.nspname, login.name),
    not has_schema_privilege(n.oid, 'usage') or exists (
      select from pg_class c,
        unnest(array['select', 'insert', 'update', 'delete']) as privilege
      where c.relnamespace = n.oid and c.relkind in ('r', 'p') and not has_table_privilege(c.oid, privilege))
  from pg_namespace n, login where n.nspname = 'engine'
  union all
  select 7, 'rest', format('the rows of %s tables for service_role, such as %s', count(*), min(c.relname::text)),
    'alter role service_role bypassrls, or run bin/migrate, which adds policies', true
  from roles r
  join pg_class c on c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity
  where r.name = 'service_role' and not r.bypasses
    and not exists (select from pg_policy p where p.polrelid = c.oid and r.oid = any (p.polroles))
    and exists (select from pg_namespace where nspname = 'engine')
  having count(*) > 0
) found(place, need, "right", remedy, is_missing), login
where is_missing and not login.is_super
order by place, "right"`;

export interface MissingRight {
  readonly need: "migrate" | "rest" | "engine";
  readonly right: string;
  readonly remedy: string;
}
