-- The secret and the DATA_DIR of the servers of a database, which another server must share; and the replacement of
-- the secret.

alter table public.installation add column secret_fingerprint text, add column data_dir_id text;
comment on column public.installation.secret_fingerprint is 'HMAC with the API_KEY_SECRET of the servers. Null until one has started.';
comment on column public.installation.data_dir_id is 'The id of the DATA_DIR that has the sandboxes or media; null until a server has started that keeps them there.';

create function public.join_installation(
  p_fingerprints text[], p_data_dir_id text
) returns public.installation
language sql volatile set search_path = '' as $$
  -- Of servers that start at the same time, one records its own, and the others wait for it.
  update public.installation set
    secret_fingerprint = case
      when secret_fingerprint is null or secret_fingerprint = any (p_fingerprints)
      then p_fingerprints[1] else secret_fingerprint end,
    data_dir_id = coalesce(data_dir_id, p_data_dir_id)
  where only_row
  returning *
$$;
comment on function public.join_installation is 'Records the first fingerprint and the id where none is recorded, and the first fingerprint in place of another of these. Returns the record.';

create or replace function public.describe_database() returns jsonb
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
    'secret_fingerprint', (select secret_fingerprint from public.installation),
    'data_dir_id', (select data_dir_id from public.installation),
    'clock_ms', round(extract(epoch from clock_timestamp()) * 1000));
end
$$;
comment on function public.describe_database is 'For the check of an installation: {installation_id, newest_migration, secret_fingerprint, data_dir_id, clock_ms}. newest_migration is null where migrations are not recorded as the Supabase CLI does; clock_ms is the time in milliseconds of the epoch.';

create function public.rekey_hash(p_from text, p_to text) returns void
language sql volatile set search_path = '' as $$
  update public.api_keys set hash = p_to where hash = p_from and scope = 'full';
  update public.deleted_identities set hash = p_to
  where hash = p_from and not exists (select from public.deleted_identities where hash = p_to);
$$;
comment on function public.rekey_hash is 'Replaces the hash of an API key, or of a deleted account, when API_KEY_SECRET is replaced. A run''s key stays, because the credential itself is made with the secret.';

create function public.find_stored_hash(p_account_id uuid, p_hashes text[]) returns text
language sql stable set search_path = '' as $$
  select hash from public.api_keys where hash = any (p_hashes)
  union all
  select key_hash from public.idempotency_keys
  where account_id = p_account_id and key_hash = any (p_hashes)
  limit 1
$$;
comment on function public.find_stored_hash is 'Which of these hashes, made with two secrets, an API key or an idempotency key of the account is stored under; null for none.';
