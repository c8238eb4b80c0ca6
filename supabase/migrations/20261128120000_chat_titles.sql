-- Chats that wait are found by a column, pinned ones can come first, a search finds the message, and a model may give a chat its title.

alter table public.chats add column asks_since timestamptz;
comment on column public.chats.asks_since is 'When its newest turn has ended with a question or a call of a client tool; null if it has not. See is_asking.';
comment on table public.running_compactions is 'The compactions that callers have requested and that are being made: one per chat, so that two requests do not pay for two summaries. Also the titles that are being written.';
comment on column public.running_compactions.id is 'Identifies the request that holds the lease, or the turn that writes a title. It is the source of its usage entries.';

-- The newest ones: a migration writes few rows.
update public.chats c set asks_since = w.finished_at
from (
  select t.chat_id, max(t.finished_at) as finished_at
  from public.turns t
  join public.messages m on m.chat_id = t.chat_id and m.id = t.assistant_message_id
  where t.kind = 'chat' and t.status = 'completed'
    and t.created_at > now() - interval '30 days'
    and m.metadata ->> 'finishReason' = 'tool-calls'
  group by t.chat_id order by 2 desc
  limit 500) w
where c.id = w.chat_id;

create function public.is_asking(p_chat public.chats) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return p_chat.asks_since > now() - interval '30 days' and public.active_stream_id(p_chat) is null
    -- Another branch may be shown since.
    and exists (
      select from public.messages m
      where m.chat_id = p_chat.id and m.id = public.leaf_of_chat(p_chat.id)
        and m.metadata ->> 'finishReason' = 'tool-calls');
end
$$;
comment on function public.is_asking is 'Whether a chat ends with a question or a call of a client tool, of the last 30 days.';

drop function public.list_account_chats(
  uuid, integer, timestamptz, uuid, uuid, boolean, boolean, text, boolean);
drop function public.chat_snippet(public.chats, text);

create function public.list_account_chats(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_artist_id uuid, p_archived boolean, p_pinned boolean, p_text text,
  p_waiting boolean default false, p_pinned_first boolean default false
) returns jsonb
language plpgsql stable set search_path = '' set plan_cache_mode = 'force_custom_plan' as $$
declare
  v_after_at timestamptz := coalesce(p_after_at, 'infinity');
  v_after_id uuid := coalesce(p_after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_archived boolean := p_archived;
  v_pinned boolean := p_pinned;
  -- 1 has the pinned chats, 2 the others, 3 the archived ones.
  v_group integer;
  v_last_group constant integer := case when p_archived is false then 2 else 3 end;
  v_chats jsonb := '[]';
  v_text text;
begin
  if p_pinned_first then
    select case when c.archived then 3 when c.pinned then 1 else 2 end into v_group
    from public.chats c where c.id = p_after_id and c.account_id = p_account_id;
    v_group := case when p_archived then 3 else least(coalesce(v_group, 1), v_last_group) end;
  end if;
  loop
    if p_pinned_first then
      v_archived := v_group = 3;
      v_pinned := case when v_group < 3 then v_group = 1 end;
    end if;
    v_chats := v_chats || to_jsonb(array(
      select public.chat_row(c)
        || jsonb_build_object('pinned', c.pinned, 'archived', c.archived)
        || case when p_text is null then '{}' else public.chat_passage(c, p_text) end
      from public.chats c
      where c.account_id = p_account_id and (c.created_at, c.id) < (v_after_at, v_after_id)
        and (v_archived is null or c.archived = v_archived)
        and (v_pinned is null or c.pinned = v_pinned)
        and (p_artist_id is null or c.session_id in (
          select s.id from public.sessions s
          where s.account_id = p_account_id and s.artist_id = p_artist_id))
        and (not p_waiting or (c.asks_since is not null and public.is_asking(c)))
        and (p_text is null or c.id in (
          select t.id from public.chats t
          where t.account_id = p_account_id and strpos(lower(t.title), lower(p_text)) > 0
          union
          select t.id from public.messages m
          join public.chats t on t.id = m.chat_id
          where t.account_id = p_account_id
            and public.search_of_parts(m.parts) @@ public.search_query(p_text)))
      order by c.created_at desc, c.id desc
      limit p_limit + 1 - jsonb_array_length(v_chats)));
    exit when not p_pinned_first or v_group = v_last_group
      or jsonb_array_length(v_chats) > p_limit;
    v_group := v_group + 1;
    v_after_at := 'infinity';
    v_after_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  end loop;
  if v_chats = '[]' and length(p_text) between 4 and 100 then
    v_text := public.corrected_text(p_text, public.words_of_chats(p_account_id));
  end if;
  return case when v_text is null then v_chats
    else public.list_account_chats(p_account_id, p_limit, p_after_at, p_after_id, p_artist_id,
      p_archived, p_pinned, v_text, p_waiting, p_pinned_first) end;
end
$$;
comment on function public.list_account_chats is 'A page of an account''s chats, newest first, with one more row if another page follows. A filter that is null does not apply; with p_text each chat has the passage that was found, and a text that finds nothing is corrected. p_waiting leaves the ones that ask (is_asking). p_pinned_first puts pinned chats first and archived ones last, and replaces p_pinned.';

create function public.begin_title(
  p_account_id uuid, p_chat_id uuid, p_turn_id uuid, p_title text, p_lease_seconds integer
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  perform from public.chats
  where id = p_chat_id and account_id = p_account_id and title = p_title for update;
  if not found or public.is_budget_reached(p_account_id) or exists (
    select from public.turns t
    where t.chat_id = p_chat_id and t.id <> p_turn_id and t.status = 'completed')
  then
    return false;
  end if;
  insert into public.running_compactions (chat_id, account_id, id, lease_until)
  values (p_chat_id, p_account_id, p_turn_id,
    clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict do nothing;
  return found;
end
$$;
comment on function public.begin_title is 'Leases a chat, as begin_compaction does, to the turn that has given its first answer and is to give it a title in place of p_title, which is the start of its first message. False if it has another title or answer, if its budget is spent, or while it is leased. end_title ends the lease.';

create function public.end_title(
  p_account_id uuid, p_chat_id uuid, p_turn_id uuid, p_former text, p_title text, p_usage jsonb
) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return false;
  end if;
  delete from public.running_compactions
  where chat_id = p_chat_id and account_id = p_account_id and id = p_turn_id;
  update public.chats set title = p_title, updated_at = now()
  where id = p_chat_id and account_id = p_account_id and title = p_former and p_title <> '';
  return found;
end
$$;
comment on function public.end_title is 'Records what the model calls for a title have used, ends the lease of begin_title, and replaces the title p_former, if the chat still has it and there is a new one. Returns whether it has.';

create or replace function public.finish_turn(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_status text, p_error text, p_parts jsonb,
  p_metadata jsonb, p_index integer, p_step jsonb, p_usage jsonb, p_output jsonb default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_finishes boolean;
begin
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id for update;

  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'finished', false, 'webhooks_due', false);
  end if;
  if v_turn.loads <> p_load then
    return jsonb_build_object('superseded', true, 'finished', false, 'webhooks_due', false);
  end if;

  v_finishes := v_turn.finished_at is null;
  if v_finishes then
    -- For the trace, which a trigger keeps before close_turn deletes the tool calls.
    insert into public.turn_steps (turn_id, index, result)
    select p_turn_id, p_index, p_step where p_step is not null
    on conflict do nothing;
    insert into public.messages (chat_id, id, role, parts, metadata, parent_id)
    values (v_turn.chat_id, v_turn.assistant_message_id, 'assistant', p_parts, p_metadata,
      public.leaf_of_chat(v_turn.chat_id))
    on conflict (chat_id, id) do update set parts = excluded.parts, metadata = excluded.metadata
    where messages.role = 'assistant';
    update public.chats set active_stream_id = null, claimed_at = null,
      last_assistant_message_at = now(), updated_at = now(),
      asks_since = case when v_turn.kind = 'chat' and p_status = 'completed'
        and p_metadata ->> 'finishReason' = 'tool-calls' then now() end
    where id = v_turn.chat_id
      and active_stream_id in (v_turn.run_id, 'pending:' || p_turn_id);
    -- Before the turn is closed, because a trigger then queues the event that has it.
    if p_status = 'completed' and p_output is not null then
      update public.turns set output = p_output -> 'value' where id = p_turn_id;
    end if;
    perform public.close_turn(p_turn_id, p_status, p_error);
  end if;
  return jsonb_build_object(
    'superseded', false,
    'finished', v_finishes,
    'webhooks_due', public.has_due_webhooks(p_account_id),
    'awaited_chat_id', (
      select q.chat_id from public.queued_turns q where q.chat_id = v_turn.chat_id limit 1));
end
$$;
comment on function public.finish_turn is 'Stores the assistant''s message with the last step (null if it made no model call) and its usage, and the output {value} of a completed turn (null for none), releases the claim and closes the turn: {superseded, finished, webhooks_due, awaited_chat_id}. awaited_chat_id is the chat if messages wait in it. It is safe to repeat. Superseded, the turn was loaded again since this load, and only the usage is recorded.';

create function public.count_waiting(p_account_id uuid) returns integer
language plpgsql stable set search_path = '' as $$
begin
  return (
    select count(*) from (
      (select r.turn_id from public.required_actions r
      where r.account_id = p_account_id and r.wakes_at > now() limit 50)
      union
      -- Also of mails, whose runs are completed.
      (select a.turn_id from public.approvals a
      where a.account_id = p_account_id and a.state = 'requested' and a.expires_at > now()
      limit 50)) waiting
  ) + (
    select count(*) from (
      select from public.chats c
      where c.account_id = p_account_id and not c.archived and c.asks_since is not null
        and public.is_asking(c)
      limit 50) asking);
end
$$;
comment on function public.count_waiting is 'How many runs and chats of an account wait for a person or a client, at most 150.';
