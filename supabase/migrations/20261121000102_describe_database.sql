-- The record of migrations belongs to the tool that applies them, as does its schema.
do $$
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    grant usage on schema supabase_migrations to service_role;
    grant select on supabase_migrations.schema_migrations to service_role;
  end if;
end
$$;

create function public.describe_database() returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_newest text;
begin
  begin
    execute 'select max(version) from supabase_migrations.schema_migrations' into v_newest;
  exception when undefined_table or invalid_schema_name or insufficient_privilege then
    v_newest := null;
  end;
  return jsonb_build_object(
    'installation_id', public.installation_id(),
    'newest_migration', v_newest,
    'clock_ms', round(extract(epoch from clock_timestamp()) * 1000));
end
$$;
comment on function public.describe_database() is
  'For the check of an installation: {installation_id, newest_migration, clock_ms}. newest_migration is null where migrations are not recorded as the Supabase CLI does; clock_ms is the time in milliseconds of the epoch.';
