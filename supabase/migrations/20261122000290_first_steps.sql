-- The checklist of a new account: what it has done already.

create function public.first_steps(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  -- The steps are among the first things that an account does, so that a bounded part is searched.
  select jsonb_build_object(
    'file_sent', exists (
      select 1
      from (
        select c.id from public.chats c where c.account_id = p_account_id
        order by c.created_at, c.id limit 100
      ) early
      cross join lateral (
        select m.role, m.parts from public.messages m where m.chat_id = early.id
        order by m.created_at, m.id limit 20
      ) message
      where message.role = 'user' and message.parts @> '[{"type": "file"}]'),
    'artist_added', jsonb_array_length(
      public.list_artists(p_account_id, null, 1, null, null) -> 'items') > 0,
    'prompt_scheduled', exists (
      select 1 from public.scheduled_prompts p where p.account_id = p_account_id),
    'video_made', exists (
      select 1
      from (
        select r.task_identifier, r.status from public.task_runs r where r.account_id = p_account_id
        order by r.created_at, r.id limit 1000
      ) early
      where early.task_identifier = 'generate-video' and early.status = 'COMPLETED'),
    'key_used', exists (
      select 1 from public.api_keys k
      where k.account_id = p_account_id and k.scope = 'full' and k.last_used_at is not null))
$$;
comment on function public.first_steps(uuid) is
  'What an account has done of the checklist for new accounts: {file_sent, artist_added, prompt_scheduled, video_made, key_used}. Looks at its first 100 chats and 1,000 task runs.';
