-- The context of a model is limited: compactions record what it no longer gets of a conversation.

create table public.compactions (
  id bigint generated always as identity primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  turn_id uuid not null,
  message_id text not null,
  kind text not null check (kind in ('cleared', 'summarized')),
  state jsonb not null,
  tokens_before integer not null,
  tokens_after integer not null,
  created_at timestamptz not null default now()
);

create index compactions_chat on public.compactions (chat_id, id desc);
create index compactions_account on public.compactions (account_id);
alter table public.compactions enable row level security;
comment on table public.compactions is 'How the conversation of a chat was compacted for the model. The newest one whose message is on the path of a turn applies to it, so each branch has its own.';
comment on column public.compactions.message_id is 'The newest message that the compaction covers.';
comment on column public.compactions.state is 'What the model gets: {clearedTo: {messageId, step}, summary: {text, to: {messageId, step}}}, as of ContextState in lib/agent/context.ts.';
comment on column public.compactions.tokens_before is 'Of the whole request, as is tokens_after.';

create function public.compaction_of_turn(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('id', c.id, 'kind', c.kind, 'state', c.state, 'isOwn', c.turn_id = p_turn.id,
    'tokensBefore', c.tokens_before, 'tokensAfter', c.tokens_after)
  from public.compactions c
  where c.chat_id = p_turn.chat_id and (
    c.turn_id = p_turn.id
    or exists (
      select from public.messages m
      where p_turn.history is null and m.chat_id = c.chat_id and m.id = c.message_id and m.on_path)
    or exists (
      select from jsonb_array_elements(p_turn.history) h where h ->> 'id' = c.message_id))
  order by c.id desc
  limit 1
$$;
comment on function public.compaction_of_turn is 'The newest compaction that applies to the conversation of a turn: {id, kind, state, isOwn, tokensBefore, tokensAfter}, null for none.';

create or replace function public.turn_state(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'load', p_turn.loads,
    'account_id', p_turn.account_id,
    'session_id', p_turn.session_id,
    'chat_id', p_turn.chat_id,
    'message_id', p_turn.message_id,
    'assistant_message_id', p_turn.assistant_message_id,
    'model_id', p_turn.model_id,
    'instructions', p_turn.instructions,
    'context_limit', p_turn.context_limit,
    'headless', p_turn.headless,
    'has_key', p_turn.key_id is not null,
    'has_budget', public.has_budget(p_turn.account_id),
    'created_at', public.iso_date(p_turn.created_at),
    'stop_requested', p_turn.stop_requested_at is not null,
    'artist_id', s.artist_id,
    'compaction', public.compaction_of_turn(p_turn),
    'sandbox_state', s.sandbox_state)
  from public.sessions s where s.id = p_turn.session_id
$$;

create function public.record_compaction(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_message_id text, p_kind text, p_state jsonb,
  p_tokens_before integer, p_tokens_after integer, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_id bigint;
begin
  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', true);
  end if;
  select * into v_turn from public.turns
  where id = p_turn_id and loads = p_load and finished_at is null for share;
  if not found then
    return jsonb_build_object('superseded', true);
  end if;
  insert into public.compactions
    (account_id, chat_id, turn_id, message_id, kind, state, tokens_before, tokens_after)
  values (p_account_id, v_turn.chat_id, p_turn_id, p_message_id, p_kind, p_state,
    p_tokens_before, p_tokens_after)
  returning id into v_id;
  return jsonb_build_object('superseded', false, 'id', v_id);
end
$$;
comment on function public.record_compaction is 'Records a compaction, which every later model call of the chat uses, and what its summary has used: {superseded, id}. Superseded, the turn has ended or was loaded again since this load, and only the usage is recorded.';
