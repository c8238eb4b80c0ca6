-- Prepares a database for the package: the roles, and the rights of the login that migrates, serves and runs the REST
-- part. Run it once, connected to that database, as its owner or a role of the provider with CREATEROLE. It needs no
-- superuser, works on PostgreSQL 15 and later, and may be repeated, for example with another password:
--
--   psql "$ADMIN_URL" -v login=agent_platform -v password="$PASSWORD" -f deploy/roles.sql
--
-- The server may log the statement with the password (`log_statement`): a SCRAM verifier works in its place.
-- The migrations create the extension pg_trgm, which is trusted: it needs no superuser, but Azure lists it in
-- `azure.extensions` first.
\set ON_ERROR_STOP on
set client_min_messages = warning;
begin;

select format('create role %I nologin noinherit', name)
from unnest(array['anon', 'authenticated', 'service_role']) name
where to_regrole(name) is null \gexec

select format('create role %I login noinherit', :'login')
where not exists (select from pg_roles where rolname = :'login') \gexec
alter role :"login" password :'password';

-- PostgreSQL lets only a role with BYPASSRLS give it, and before version 16 only a superuser. Where service_role has
-- not got it, bin/migrate adds a policy for it to each table instead.
do $$
begin
  alter role service_role bypassrls;
exception when insufficient_privilege then
  null;
end
$$;

-- The REST part acts as one of them for each request.
grant anon, authenticated, service_role to :"login";

-- For the schemas and the extension of the migrations, which belong to the login.
select format('grant connect, create, temporary on database %I to %I', current_database(), :'login') \gexec
grant usage, create on schema public to :"login" with grant option;

commit;
