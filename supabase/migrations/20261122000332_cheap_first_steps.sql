-- The checklist of a new account reads indexes only, and no message or task run itself.

create or replace function public.first_steps(p_account_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'file_sent', exists (
      select 1
      from (
        -- The step is among the first things that an account does.
        select c.id from public.chats c where c.account_id = p_account_id
        order by c.created_at, c.id limit 100
      ) early
      join public.messages m on m.chat_id = early.id
      where m.role = 'user' and m.parts @> '[{"type": "file"}]'),
    'artist_added', jsonb_array_length(
      public.list_artists(p_account_id, null, 1, null, null) -> 'items') > 0,
    'prompt_scheduled', exists (
      select 1 from public.scheduled_prompts p where p.account_id = p_account_id),
    'video_made', exists (
      select 1 from public.task_runs r
      where r.account_id = p_account_id
        and r.task_identifier = 'generate-video' and r.status = 'COMPLETED'),
    'key_used', exists (
      select 1 from public.api_keys k
      where k.account_id = p_account_id and k.scope = 'full' and k.last_used_at is not null))
$$;
comment on function public.first_steps(uuid) is
  'What an account has done of the checklist for new accounts: {file_sent, artist_added, prompt_scheduled, video_made, key_used}. Files are looked for in its first 100 chats.';
