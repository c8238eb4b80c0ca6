-- Turns: their tables, their end, their stop and their authority.
--
-- Locks are taken in one order: the account, its chats by id, their turns, the session.

create table public.turns (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  session_id uuid not null references public.sessions (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  run_id text unique,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
  message_id text not null,
  assistant_message_id text not null,
  model_id text not null,
  context_limit integer check (context_limit > 0),
  headless boolean not null default false,
  history jsonb check (jsonb_typeof(history) = 'array'),
  key_id uuid references public.api_keys (id) on delete set null,
  error text,
  stop_requested_at timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  effect_id uuid,
  kind text not null default 'chat' check (kind in ('chat', 'headless', 'task')),
  artist_id uuid,
  caller_key_id uuid,
  instructions text,
  webhook_url text,
  loads integer not null default 0,
  reserved_usd numeric not null default 0,
  reserved_until timestamptz,
  output_schema text,
  output jsonb,
  options jsonb not null default '{}',
  lost_usd numeric not null default 0,
  limit_note jsonb,
  client_tools text,
  skills jsonb,
  deliver jsonb,
  untrusted jsonb not null default '[]',
  template_id uuid,
  template_version integer,
  mcp_tools jsonb,
  facts jsonb,
  claimed_by uuid
);

create index turns_chat_newest on public.turns (chat_id, created_at desc);
create index turns_session on public.turns (session_id);
create index turns_account on public.turns (account_id, created_at desc);
create index turns_key on public.turns (key_id) where key_id is not null;
create unique index turns_effect on public.turns (effect_id) where effect_id is not null;
create index turns_unstarted on public.turns (created_at)
  where headless and run_id is null and finished_at is null;
create index turns_unfinished on public.turns (account_id) where finished_at is null;
create index turns_by_status on public.turns (account_id, status, created_at desc, id desc);
create index turns_by_kind on public.turns (account_id, kind, created_at desc, id desc);
create index turns_by_artist on public.turns (account_id, artist_id, created_at desc, id desc)
  where artist_id is not null;
create index turns_claimed on public.turns (claimed_by)
  where claimed_by is not null and run_id is null and finished_at is null;
comment on table public.turns is 'Chat turns: one row from the claim on a chat to the end of the durable run that answers it.';
comment on column public.turns.id is 'Chosen by the server before anything is written; it also addresses the stream of the turn.';
comment on column public.turns.message_id is 'The message that is answered: the user''s, or the assistant''s whose question was answered.';
comment on column public.turns.context_limit is 'The greatest number of messages that the model is given; null for no limit of the caller''s.';
comment on column public.turns.history is 'The conversation that the client sent in place of the stored one; null once the turn has ended.';
comment on column public.turns.key_id is 'The credential that the sandbox of the turn calls back with.';
comment on column public.turns.error is 'Why it failed: a sentence, or never_started | not_started.';
comment on column public.turns.effect_id is 'Identifies a repeated request; null where a repetition starts another turn.';
comment on column public.turns.kind is 'chat for a message of a conversation, headless for POST /api/chat/runs, task for a scheduled prompt.';
comment on column public.turns.artist_id is 'The artist of the session when the turn started. No foreign key: usage outlives the artist.';
comment on column public.turns.caller_key_id is 'The API key that started the turn; null for a bearer and for a schedule. No foreign key: usage outlives the key.';
comment on column public.turns.instructions is 'The instructions of the chat when the turn started: the template''s prompt and the chat''s own text; null for none.';
comment on column public.turns.loads is 'How often a process has loaded the turn to continue it. Only the newest load records steps and the end.';
comment on column public.turns.reserved_usd is 'The estimated cost of the model calls in flight, while the turn is active and until reserved_until.';
comment on column public.turns.reserved_until is 'When the calls in flight have failed, because no model call takes as long.';
comment on column public.turns.output_schema is 'The JSON Schema of the output, null for a turn without one. As text, because models write the fields in the order of the schema, which jsonb does not keep.';
comment on column public.turns.output is 'The output that the model has submitted, valid under output_schema. Written by finish_turn only, in the transaction that completes the turn; null for none, which JSON null is not.';
comment on column public.turns.lost_usd is 'The reserved cost of model calls that were cut with their process. It counts against max_cost_usd, because the vendor may bill them.';
comment on column public.turns.limit_note is 'What the model was told once three quarters of a limit were used: {step, limit}, the step that was first told and the name of the limit. Null before.';
comment on column public.turns.client_tools is 'The tools that the client runs: [{name, description, input_schema}], null for none. As text, like output_schema.';
comment on column public.turns.skills is 'The skills that the turn could use when it started, as in skills_of_turn.';
comment on column public.turns.mcp_tools is 'The tools of MCP servers that the turn could call when it started, as in mcp_tools_of_turn; null for none, and once the turn has ended.';
comment on column public.turns.claimed_by is 'The process that has claimed the chat and is to start the run, as in engine.instances. Null where nothing tells whether it is alive.';
comment on column public.turns.facts is 'The facts at the start of the turn, as facts_of_turn returns them; null for a turn of an earlier version.';
comment on column public.turns.deliver is 'Who gets the result: {entries: [{kind, to, subject, attach, format}], approval_days}, null for no one. With state and reason once it is withheld, or its deliveries have expired.';
comment on column public.turns.untrusted is 'The untrusted content that the turn has met: [{kind, name}], such as {web, example.com}. Empty for a turn that is trusted.';
comment on column public.turns.template_id is 'The agent template whose version template_version applied when the turn started; null for none.';
comment on column public.turns.options is 'The options of the turn since it has started, as in chat_options. Their own, from the claim on, are those that the request has named for this turn, as in with_options; absent without any.';

create table public.turn_steps (
  turn_id uuid not null references public.turns (id) on delete cascade,
  index integer not null check (index >= 0),
  result jsonb not null,
  primary key (turn_id, index)
);
comment on table public.turn_steps is 'The results of the model calls of a turn, in the form that the next call is given. They are deleted with its trace.';

create table public.tool_runs (
  turn_id uuid not null references public.turns (id) on delete cascade,
  tool_call_id text not null,
  finished boolean not null default false,
  output jsonb,
  started_at timestamptz default clock_timestamp(),
  finished_at timestamptz,
  approval_used boolean not null default false,
  primary key (turn_id, tool_call_id)
);
comment on table public.tool_runs is 'The tool calls of a running turn, recorded before they start and when they end.';
comment on column public.tool_runs.finished is 'False with an unknown outcome when the process died: the call is not repeated.';
comment on column public.tool_runs.approval_used is 'Whether the call has made its request to this service that needed an approval.';

create table public.subagent_steps (
  turn_id uuid not null references public.turns (id) on delete cascade,
  tool_call_id text not null,
  index integer not null check (index >= 0),
  result jsonb not null,
  primary key (turn_id, tool_call_id, index)
);
comment on table public.subagent_steps is 'The results of the model calls of a subagent, as turn_steps of its turn; its own tool calls are in tool_runs.';

create table public.required_actions (
  turn_id uuid primary key references public.turns (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  step integer not null,
  tool_calls jsonb not null,
  wakes_at timestamptz not null
);

create index required_actions_account on public.required_actions (account_id);
create index required_actions_due on public.required_actions (wakes_at);
comment on table public.required_actions is 'What running turns wait for without a process: the results of calls that the client runs. The run of such a turn is suspended until its turn is woken.';
comment on column public.required_actions.step is 'The step that continues with the results, under which tool_runs has them.';
comment on column public.required_actions.tool_calls is 'The calls of the client: [{id, name, input}].';
comment on column public.required_actions.wakes_at is 'When the turn continues: at once after the last result or a stop, else when its client no longer answers.';

create table public.turn_skills (
  turn_id uuid not null references public.turns (id) on delete cascade,
  name text not null,
  source text not null check (source in ('sandbox', 'account', 'organization', 'built-in')),
  version integer,
  sha256 text,
  loaded_at timestamptz not null default clock_timestamp(),
  account_id uuid,
  primary key (turn_id, name)
);
create index turn_skills_by_account on public.turn_skills (account_id, name, turn_id);
comment on table public.turn_skills is 'The skills that turns have loaded.';

create table public.run_traces (
  turn_id uuid primary key references public.turns (id) on delete cascade,
  account_id uuid not null,
  steps jsonb not null,
  created_at timestamptz not null default now()
);

create index run_traces_age on public.run_traces (created_at);
comment on table public.run_traces is 'The steps of turns that have ended, as in run_steps_json: written once when the turn ends, and deleted by the retention job.';

create table public.compactions (
  id bigint generated by default as identity primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  turn_id uuid,
  message_id text not null,
  kind text not null check (kind in ('cleared', 'summarized')),
  state jsonb not null,
  tokens_before integer not null,
  tokens_after integer not null,
  created_at timestamptz not null default now(),
  tool_call_id text
);

create index compactions_chat on public.compactions (chat_id, id desc);
create index compactions_account on public.compactions (account_id);
comment on table public.compactions is 'How the conversation of a chat was compacted for the model. The newest one whose message is on the path of a turn applies to it, so each branch has its own.';
comment on column public.compactions.turn_id is 'The turn that compacted the conversation; null if a caller requested it between two turns.';
comment on column public.compactions.state is 'What the model gets: {clearedTo: {messageId, step}, summary: {text, to: {messageId, step}}}, the type ContextState in packages/agent/src/context.ts.';
comment on column public.compactions.tool_call_id is 'The call of the subagent whose conversation it is; null for that of the chat.';
comment on column public.compactions.tokens_before is 'Of the whole request, as is tokens_after.';

create table public.model_jobs (
  id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid unique references public.chats (id) on delete cascade,
  reserved_usd numeric not null default 0,
  lease_until timestamptz not null
);

create index model_jobs_account on public.model_jobs (account_id);
comment on table public.model_jobs is 'Model calls outside of turns: compactions that callers have requested, titles, and attempts to write a proposal for a memory. A chat has one at a time, so that two requests do not pay for two summaries.';
comment on column public.model_jobs.id is 'Identifies the request or the attempt that holds the lease, or the turn that writes a title.';
comment on column public.model_jobs.chat_id is 'Null for a proposal.';
comment on column public.model_jobs.reserved_usd is 'The estimated cost of its model calls, until lease_until.';
comment on column public.model_jobs.lease_until is 'When another process may take the job over, because the one that held it has died.';

create type public.turn_claim as (
  account_id uuid,
  session_id uuid,
  chat_id uuid,
  turn_id uuid,
  message_id text,
  parts jsonb,
  parts_before jsonb,
  parent_id text,
  replaces_answer text,
  assistant_message_id text,
  title text,
  default_model_id text,
  context_limit integer,
  history jsonb,
  key_hash text,
  key_prefix text,
  key_name text,
  key_expires_at timestamptz,
  caller_key_id uuid,
  credential text
);
comment on type public.turn_claim is 'A message that a turn is to answer, with all that claim_turn needs; the queue keeps it while the chat is busy.';
comment on column public.turn_claim.parts_before is 'For the answer to a question: the parts that the assistant''s message must still have; else null.';
comment on column public.turn_claim.parent_id is 'The message that it follows, empty for none: it starts a branch, or is answered again. Null for the leaf of the chat.';
comment on column public.turn_claim.replaces_answer is 'The answer that a new one is requested for, empty for any; null unless another one is requested.';
comment on column public.turn_claim.history is 'The conversation that the client sent in place of the stored one; null for none.';
comment on column public.turn_claim.credential is 'The form of the credential that the sandbox of the run gets: key or bearer.';

create table public.queued_turns (
  turn_id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  chat_id uuid not null references public.chats (id) on delete cascade,
  message_id text not null,
  position bigint generated always as identity,
  goes_first boolean not null,
  begun_at timestamptz,
  created_at timestamptz not null default now(),
  bytes integer not null default 0,
  claim public.turn_claim not null check ((claim).credential in ('key', 'bearer')),
  steers uuid,
  client_tools text,
  options jsonb not null default '{}',
  unique (chat_id, message_id)
);

create index queued_turns_account on public.queued_turns (account_id);
comment on table public.queued_turns is 'Turns that wait for their chat. Their messages are stored in the chat when they start.';
comment on column public.queued_turns.goes_first is 'Set by an interrupt: goes before all earlier ones.';
comment on column public.queued_turns.begun_at is 'When the chat was claimed for it. The row stays until its run was started.';
comment on column public.queued_turns.bytes is 'Size of the parts and the history of claim, before compression.';
comment on column public.queued_turns.client_tools is 'As of turns. It is no field of claim, because columns use its type.';
comment on column public.queued_turns.options is 'The own options of the turn, as in with_options.';
comment on column public.queued_turns.steers is 'The turn that takes the message before its next model call, while it runs; null for none.';

create table public.steering_messages (
  chat_id uuid not null references public.chats (id) on delete cascade,
  message_id text not null,
  turn_id uuid not null references public.turns (id) on delete cascade,
  queued_turn_id uuid not null unique,
  step integer not null check (step >= 0),
  position bigint not null,
  parts jsonb,
  sent_digest text not null,
  primary key (chat_id, message_id)
);

create index steering_messages_turn on public.steering_messages (turn_id);
comment on table public.steering_messages is 'Messages that running turns have taken from the queue. The answer of the turn contains them as parts, so they are not in messages.';
comment on column public.steering_messages.queued_turn_id is 'The turn that waited with the message, under which its sender finds the stream.';
comment on column public.steering_messages.step is 'The model call before which the message was taken.';
comment on column public.steering_messages.parts is 'Null once the turn has ended.';
comment on column public.steering_messages.sent_digest is 'The digest_of_parts of what was sent. The parts may name files that were stored since.';

-- End ---------------------------------------------------------------------------------------------

create function public.finish_turn(
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

create function public.close_turn(p_turn_id uuid, p_status text, p_error text) returns void
language plpgsql set search_path = '' as $$
begin
  update public.api_keys set revoked_at = now()
  where id = (select key_id from public.turns where id = p_turn_id) and revoked_at is null;
  update public.turns set status = p_status, error = p_error, history = null, mcp_tools = null,
    finished_at = now()
  where id = p_turn_id and finished_at is null;
  update public.approvals set state = 'cancelled', answered_at = clock_timestamp()
  where turn_id = p_turn_id and state = 'requested' and category <> 'delivery';
  delete from public.tool_runs where turn_id = p_turn_id;
  update public.steering_messages set parts = null where turn_id = p_turn_id;
  -- Each turn leaves one dead key behind and clears away a few old ones.
  delete from public.api_keys where id in (
    select id from public.api_keys
    where scope = 'run' and revoked_at < now() - interval '1 day'
    order by revoked_at limit 10 for update skip locked);
end
$$;
comment on function public.close_turn is 'Ends a turn: revokes its credential and deletes its working rows.';

create function public.abandon_turn(p_turn_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and run_id is null and finished_at is null for update;
  if found then
    update public.chats set active_stream_id = null, claimed_at = null
    where id = v_turn.chat_id and active_stream_id = 'pending:' || p_turn_id;
    perform public.close_turn(p_turn_id, 'failed', 'not_started');
  end if;
  return '{}';
end
$$;
comment on function public.abandon_turn is 'Releases the claim of a turn and ends it, unless its run has started. The message stays.';

-- Also when the turn is deleted with its chat or session before it has ended.
create function public.drop_key_of_turn() returns trigger
language plpgsql set search_path = '' as $$
begin
  delete from public.api_keys where id = old.key_id and scope = 'run';
  return null;
end
$$;
comment on function public.drop_key_of_turn is 'Trigger: the credential of a turn goes with the turn.';
create trigger turns_drop_key after delete on public.turns
for each row when (old.key_id is not null) execute function public.drop_key_of_turn();

create function public.unfinished_turns(p_batch integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('turnId', t.id, 'runId', t.run_id)), '[]')
  from (
    select id, run_id from public.turns
    where finished_at is null and run_id is not null and created_at < now() - interval '1 day'
    order by created_at
    limit p_batch
  ) t
$$;
comment on function public.unfinished_turns is 'Turns [{turnId, runId}] that have been unfinished for more than a day, oldest first: their runs may be lost.';

-- Stop --------------------------------------------------------------------------------------------

create function public.find_active_turn(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  select * into v_chat from public.chats where id = p_chat_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('outcome', 'chat_missing');
  end if;
  if public.active_stream_id(v_chat) is null then
    return jsonb_build_object('outcome', 'idle');
  end if;
  v_turn := public.active_turn(v_chat);
  return jsonb_build_object('outcome', 'active', 'turn_id', v_turn.id, 'run_id', v_turn.run_id);
end
$$;
comment on function public.find_active_turn is 'The turn that a chat is streaming: {outcome: active (turn_id, run_id) | idle | chat_missing}.';

create function public.request_stop(p_account_id uuid, p_chat_id uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_found jsonb;
begin
  -- First, because none of them may start when the active one ends.
  delete from public.queued_turns
  where chat_id = p_chat_id and account_id = p_account_id and begun_at is null;
  v_found := public.find_active_turn(p_account_id, p_chat_id);
  if v_found ->> 'outcome' = 'active' then
    update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
    where id = (v_found ->> 'turn_id')::uuid and finished_at is null;
    if not found then
      return jsonb_build_object('outcome', 'idle');
    end if;
  end if;
  return v_found;
end
$$;
comment on function public.request_stop is 'Asks the active turn of a chat to stop; answers as find_active_turn.';

create function public.request_session_stop(p_session_id uuid) returns uuid[]
language sql set search_path = '' as $$
  with stopped as (
    update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
    where session_id = p_session_id and finished_at is null returning id)
  select coalesce(array_agg(id), '{}') from stopped
$$;
comment on function public.request_session_stop is 'Asks every unfinished turn of a session to stop; answers their ids.';

create function public.request_run_stop(p_account_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  select * into v_turn from public.turns where run_id = p_run_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('outcome', 'missing');
  end if;
  update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
  where id = v_turn.id and finished_at is null;
  return jsonb_build_object('outcome', case when found then 'active' else v_turn.status end,
    'turn_id', v_turn.id);
end
$$;
comment on function public.request_run_stop is 'Asks a run to stop: {outcome: missing | active | completed | failed | cancelled, turn_id}.';

-- Authority of a turn -----------------------------------------------------------------------------

create function public.has_turn_authority(p_turn public.turns) returns boolean
language sql stable set search_path = '' as $$
  select public.is_key_in_force(p_turn.caller_key_id)
    and (p_turn.artist_id is null or public.may_act_for(p_turn.account_id, p_turn.artist_id))
$$;
comment on function public.has_turn_authority is 'Returns whether the key that started the turn is in force, and its account may act for its artist.';

create function public.stop_without_authority(p_turn public.turns) returns public.turns
language plpgsql volatile set search_path = '' as $$
begin
  if p_turn.stop_requested_at is null and not public.has_turn_authority(p_turn) then
    update public.turns set stop_requested_at = now() where id = p_turn.id returning * into p_turn;
  end if;
  return p_turn;
end
$$;
comment on function public.stop_without_authority is 'Asks an unfinished turn to stop if its authority has ended, and returns it. The caller holds its lock.';

create function public.turns_to_stop(p_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(asked.id), '{}') from unnest(p_ids) as asked (id)
  where not exists (
    select from public.turns t
    where t.id = asked.id and t.stop_requested_at is null and public.has_turn_authority(t))
$$;
comment on function public.turns_to_stop is 'Returns the turns whose stop was requested, whose authority has ended, or that no longer exist.';

create function public.check_turn_holder() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  -- A chat outlives its account's access to the artist of its session.
  if new.artist_id is not null and not public.may_act_for(new.account_id, new.artist_id) then
    new.artist_id := null;
  end if;
  -- The key was in force when the message was sent, which may have waited in the queue.
  if not public.is_key_in_force(new.caller_key_id) then
    new.stop_requested_at := now();
  end if;
  return new;
end
$$;
comment on function public.check_turn_holder is 'Trigger of turns: a turn starts without an artist that its account has lost, and is stopped if its key has ended.';
create trigger check_turn_holder before insert on public.turns
  for each row when (new.finished_at is null) execute function public.check_turn_holder();

create function public.stop_turns_of_key() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  delete from public.queued_turns q
  where q.account_id = new.account_id and q.begun_at is null
    and (q.claim).caller_key_id = new.id;
  update public.turns t set stop_requested_at = now()
  where t.account_id = new.account_id and t.caller_key_id = new.id
    and t.finished_at is null and t.stop_requested_at is null;
  return null;
end
$$;
comment on function public.stop_turns_of_key is 'Trigger of api_keys: stops the turns that a revoked key has started, and drops its queued messages.';
create trigger stop_turns_of_key after update of revoked_at on public.api_keys
  for each row when (new.scope = 'full' and new.revoked_at <= now())
  execute function public.stop_turns_of_key();

create function public.stop_turns_without_artist() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.turns t set stop_requested_at = now()
  where t.finished_at is null and t.stop_requested_at is null and t.artist_id is not null
    and (t.account_id in (old.account_id, old.organization_id) or t.artist_id = old.account_id)
    and not public.may_act_for(t.account_id, t.artist_id);
  return null;
end
$$;
comment on function public.stop_turns_without_artist is 'Trigger of organization_accounts: stops the turns for artists that their accounts may no longer act for.';
create trigger stop_turns_without_artist after delete on public.organization_accounts
  for each row execute function public.stop_turns_without_artist();
create trigger stop_turns_of_viewer after update of role, artist_ids on public.organization_accounts
  for each row when (new.role = 'viewer' or new.artist_ids is not null) execute function public.stop_turns_without_artist();
