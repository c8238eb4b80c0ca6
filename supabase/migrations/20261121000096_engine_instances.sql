-- Two statements, because the second one must see what the first one has waited for.
create function engine.remove_instance(p_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
  -- Waits for statements that give runs to this process; later ones do not find it any more.
  delete from engine.instances where id = p_id;
  update engine.runs set owner = '00000000-0000-0000-0000-000000000000', updated_at = now()
  where owner = p_id and status = 'running';
  if found then
    perform pg_notify('engine_free_runs', '');
  end if;
end
$$;
comment on function engine.remove_instance(uuid) is
  'Removes a server process that has died, takes it from its runs and tells the others of these.';
