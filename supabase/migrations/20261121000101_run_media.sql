-- A step that stores the results of a generation may be repeated by another process. What the attempt
-- before has reserved, and perhaps stored, is given back first.
create function public.discard_run_media(p_account_id uuid, p_run_id text, p_kept text[])
returns integer
language sql volatile set search_path = '' as $$
  with discarded as (
    delete from public.media_files f using public.task_runs r
    where f.account_id = p_account_id and f.run_id = p_run_id and not f.name = any (p_kept)
      and r.id = f.run_id and r.lease_until is not null
    returning 1
  )
  select count(*)::integer from discarded
$$;
comment on function public.discard_run_media(uuid, text, text[]) is
  'Gives back the media of a run that is under way, except for those with these names, and returns their number: the files are removed.';
