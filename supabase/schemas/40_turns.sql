-- Turns: the claim of a chat, the steps of its run, the end, and messages that wait in the queue.
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
comment on column public.turns.assistant_message_id is 'The message that the turn writes.';
comment on column public.turns.context_limit is 'The greatest number of messages that the model is given; null for no limit of the caller''s.';
comment on column public.turns.history is 'The conversation that the client sent in place of the stored one; null once the turn has ended.';
comment on column public.turns.key_id is 'The credential that the sandbox of the turn calls back with.';
comment on column public.turns.effect_id is 'Identifies a repeated request; null where a repetition starts another turn.';
comment on column public.turns.kind is 'chat for a message of a conversation, headless for POST /api/chat/runs, task for a scheduled prompt.';
comment on column public.turns.artist_id is 'The artist of the session when the turn started. No foreign key: usage outlives the artist.';
comment on column public.turns.caller_key_id is 'The API key that started the turn; null for a bearer and for a schedule. No foreign key: usage outlives the key.';
comment on column public.turns.instructions is 'The instructions of the chat when the turn started: the template''s prompt and the chat''s own text; null for none.';
comment on column public.turns.webhook_url is 'Told of the end of the turn, besides the webhooks of the account.';
comment on column public.turns.loads is 'How often a process has loaded the turn to continue it. Only the newest load records steps and the end.';
comment on column public.turns.reserved_usd is 'The estimated cost of the model calls in flight, while the turn is active and until reserved_until.';
comment on column public.turns.reserved_until is 'When the calls in flight have failed, because no model call takes as long.';
comment on column public.turns.output_schema is 'The JSON Schema of the output, null for a turn without one. As text, because models write the fields in the order of the schema, which jsonb does not keep.';
comment on column public.turns.output is 'The output that the model has submitted, valid under output_schema. Written by finish_turn only, in the transaction that completes the turn; null for none, which JSON null is not.';
comment on column public.turns.lost_usd is 'The reserved cost of model calls that were cut with their process. It counts against max_cost_usd, because the vendor may bill them.';
comment on column public.turns.limit_note is 'What the model was told once three quarters of a limit were used: {step, limit}, the step that was first told and the name of the limit. Null before.';
comment on column public.turns.client_tools is 'The tools that the client runs: [{name, description, input_schema}], null for none. As text, like output_schema.';
comment on column public.turns.skills is 'The skills that the turn could use when it started, as of skills_of_turn.';
comment on column public.turns.mcp_tools is 'The tools of MCP servers that the turn could call when it started, as of mcp_tools_of_turn; null for none, and once the turn has ended.';
comment on column public.turns.claimed_by is 'The process that has claimed the chat and is to start the run, as in engine.instances. Null where nothing tells whether it is alive.';
comment on column public.turns.facts is 'The facts at the start of the turn, as facts_of_turn returns them; null for a turn of an earlier version.';
comment on column public.turns.deliver is 'Who gets the result: {entries: [{kind, to, subject, attach, format}], approval_days}, null for no one. With state and reason once it is withheld, or its deliveries have expired.';
comment on column public.turns.untrusted is 'The untrusted content that the turn has met: [{kind, name}], such as {web, example.com}. Empty for a turn that is trusted.';
comment on column public.turns.template_id is 'The agent template whose version template_version applied when the turn started; null for none.';
comment on column public.turns.options is 'The options of the turn since it has started, as of chat_options. Their own, from the claim on, are those that the request has named for this turn, as of with_options; absent without any.';

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
comment on column public.subagent_steps.tool_call_id is 'The call of the subagent, as in tool_runs.';

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
comment on column public.turn_skills.account_id is 'The account of the turn.';
comment on column public.turn_skills.version is 'Null for a skill without versions: a built-in one, or one of the sandbox.';

create table public.run_traces (
  turn_id uuid primary key references public.turns (id) on delete cascade,
  account_id uuid not null,
  steps jsonb not null,
  created_at timestamptz not null default now()
);

create index run_traces_age on public.run_traces (created_at);
comment on table public.run_traces is 'The steps of turns that have ended, as of run_steps_json: written once when the turn ends, and deleted by the retention job.';
comment on column public.run_traces.account_id is 'The account of the turn, with which the trace is deleted.';

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
comment on column public.compactions.message_id is 'The newest message that the compaction covers.';
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
comment on column public.queued_turns.options is 'The own options of the turn, as of with_options.';
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

-- Claim -------------------------------------------------------------------------------------------

create function public.claim_turn(
  p_claim jsonb, p_on_busy text, p_max_active integer, p_max_queued integer,
  p_max_account_bytes bigint, p_max_chat_bytes bigint, p_with_turn boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_claim public.turn_claim := jsonb_populate_record(null::public.turn_claim, p_claim);
  v_own jsonb := public.with_options('{}', coalesce(p_claim -> 'options', '{}'));
  v_session public.sessions;
  v_chat public.chats;
  v_turn public.turns;
  v_active public.turns;
  v_message public.messages;
  v_queued public.queued_turns;
  v_waited boolean;
  v_others_wait boolean;
  v_busy jsonb;
  v_answer jsonb;
  v_refusal text;
begin
  -- The account before the chat, as everywhere. The locks make simultaneous claims one after another.
  perform pg_advisory_xact_lock(hashtextextended(v_claim.account_id::text, 20261163));
  select * into v_chat from public.chats
  where id = v_claim.chat_id and session_id = v_claim.session_id and account_id = v_claim.account_id
  for update;
  if not found then
    return jsonb_build_object('outcome',
      public.missing_of_chat(v_claim.account_id, v_claim.session_id) || '_missing');
  end if;
  select * into v_session from public.sessions where id = v_chat.session_id;
  v_active := public.active_turn(v_chat);
  v_waited := exists (select from public.queued_turns where turn_id = v_claim.turn_id);

  if not v_waited then
    -- The same message may have been sent before.
    select * into v_queued from public.queued_turns
    where chat_id = v_chat.id and message_id = v_claim.message_id and begun_at is null;
    if v_claim.parts_before is null then
      select * into v_message from public.messages
      where chat_id = v_chat.id and id = v_claim.message_id and role = 'user';
      if (v_queued.claim).parts <> v_claim.parts
        or (v_message.id is not null and not public.is_same_content(v_message, v_claim.parts))
      then
        return jsonb_build_object('outcome', 'content_differs');
      end if;
      if public.with_options(v_queued.options, v_own) <> v_queued.options then
        return jsonb_build_object('outcome', 'options_differ');
      end if;
      if v_message.id is null then
        v_answer := public.answer_of_steering_message(
          v_chat.id, v_claim.message_id, v_claim.parts);
        if v_answer is not null then
          return public.answer_with_options(v_answer, v_own);
        end if;
      end if;
      -- With a parent the client asks for another answer.
      if v_message.id is not null and v_claim.parent_id is null then
        v_answer := public.answer_of_message(v_message, v_claim.replaces_answer);
        if v_answer ->> 'outcome' = 'answered' then
          return public.answer_with_options(v_answer, v_own);
        elsif v_answer is null then
          v_claim.parent_id := public.parent_of_message(v_message);
        end if;
      end if;
    end if;
    if v_claim.parent_id is not null then
      if v_claim.parent_id <> '' and not exists (
        select from public.messages m where m.chat_id = v_chat.id and m.id = v_claim.parent_id)
      then
        return jsonb_build_object('outcome', 'parent_missing');
      end if;
      if exists (
        select from public.messages m
        where m.chat_id = v_chat.id and m.id = v_claim.message_id
          and v_claim.parent_id <> public.parent_of_message(m))
      then
        return jsonb_build_object('outcome', 'parent_differs');
      end if;
    end if;
  end if;

  -- A chat is busy while a turn is active, and while others wait that go first.
  v_others_wait := not v_waited and exists (
    select from public.queued_turns where chat_id = v_chat.id and begun_at is null);
  -- The turn of a message that has waited ends with the reason instead.
  if v_session.sandbox_state is null and not v_others_wait and not v_waited then
    return jsonb_build_object('outcome', 'sandbox_missing');
  end if;
  if public.active_stream_id(v_chat) is not null and v_active.id is not null then
    v_busy := jsonb_build_object('outcome', 'active', 'turn_id', v_active.id,
      'run_id', v_active.run_id, 'message_id', v_active.message_id);
  elsif public.active_stream_id(v_chat) is not null or v_others_wait then
    v_busy := jsonb_build_object('outcome', 'waiting');
  end if;

  -- Who sends another message has not approved: a turn of a chat that waits for an approval is stopped.
  -- After a null, unlike after a false, PostgreSQL would still evaluate the rest.
  if v_busy is not null and v_busy ->> 'outcome' = 'active' and p_on_busy in ('reject', 'steer')
    and not v_waited and v_claim.parts_before is null and not v_active.headless
    and v_busy ->> 'message_id' <> v_claim.message_id
    and public.open_approvals(v_active.id) is not null
  then
    p_on_busy := 'interrupt';
  end if;

  if v_busy is not null then
    if v_queued.turn_id is not null then
      -- It stays queued. The first repetition with interrupt moves it before the others.
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_queued.turn_id);
      update public.queued_turns set steers = v_active.id
      where turn_id = v_queued.turn_id and p_on_busy = 'steer' and public.may_steer(claim, options);
      if p_on_busy <> 'interrupt' or v_queued.goes_first then
        return v_answer;
      end if;
      update public.queued_turns set goes_first = true, position = default
      where turn_id = v_queued.turn_id;
    else
      if not v_waited and v_busy ->> 'message_id' = v_claim.message_id then
        return public.answer_with_options(v_busy, v_own);
      end if;
      if v_waited or p_on_busy = 'reject' or v_claim.parts_before is not null then
        return v_busy;
      end if;
      if p_max_queued <= (select count(*) from public.queued_turns where chat_id = v_chat.id) then
        return jsonb_build_object('outcome', 'queue_full');
      end if;
      insert into public.queued_turns
        (turn_id, account_id, chat_id, message_id, goes_first, claim, steers, client_tools, options)
      values (v_claim.turn_id, v_claim.account_id, v_chat.id, v_claim.message_id,
        p_on_busy = 'interrupt', v_claim,
        case when p_on_busy = 'steer' and public.may_steer(v_claim, v_own) then v_active.id end,
        p_claim ->> 'client_tools', v_own);
      v_answer := jsonb_build_object('outcome', 'queued', 'turn_id', v_claim.turn_id);
    end if;
    if p_on_busy = 'interrupt' then
      update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
      where id = (v_busy ->> 'turn_id')::uuid and finished_at is null;
    end if;
    v_answer := v_busy || v_answer || jsonb_build_object('active_turn_id', v_busy -> 'turn_id',
      'interrupts', p_on_busy = 'interrupt');
  else
    if v_chat.active_stream_id is not null then
      -- The request that made this claim died before it started a run.
      perform public.close_turn(v_active.id, 'failed', 'The turn was never started');
    end if;
    -- A user's message, or the answer to a question that an assistant's message still has.
    if v_claim.parts_before is null then
      insert into public.messages (chat_id, id, role, parts, parent_id)
      values (v_chat.id, v_claim.message_id, 'user', v_claim.parts, public.leaf_of_chat(v_chat.id))
      on conflict (chat_id, id) do nothing;
      if not found and not exists (
        select from public.messages m
        where m.chat_id = v_chat.id and m.id = v_claim.message_id and m.role = 'user'
          and public.is_same_content(m, v_claim.parts))
      then
        return jsonb_build_object('outcome', 'id_taken');
      end if;
    else
      update public.messages set parts = v_claim.parts
      where chat_id = v_chat.id and id = v_claim.message_id and role = 'assistant'
        and parts = v_claim.parts_before;
      if not found then
        return jsonb_build_object('outcome', 'answer_stale');
      end if;
      -- The turn continues the one that has asked.
      v_own := public.with_options(coalesce((
        select t.options -> 'own' from public.turns t
        where t.chat_id = v_chat.id and t.assistant_message_id = v_claim.message_id
        order by t.created_at desc limit 1), '{}'), v_own);
    end if;
    -- A message that is answered is shown.
    if v_claim.parent_id is not null then
      update public.messages set parent_id = v_claim.parent_id
      where chat_id = v_chat.id and id = v_claim.message_id
        and parent_id is distinct from v_claim.parent_id;
      perform public.show_path(v_chat.id, v_claim.message_id, false);
    elsif exists (
      select from public.messages
      where chat_id = v_chat.id and id = v_claim.message_id and not on_path)
    then
      perform public.show_path(v_chat.id, v_claim.message_id, true);
    end if;

    insert into public.turns (id, account_id, session_id, chat_id, message_id,
      assistant_message_id, model_id, context_limit, history, key_id, artist_id, caller_key_id,
      client_tools, claimed_by, options)
    values (v_claim.turn_id, v_claim.account_id, v_chat.session_id, v_chat.id, v_claim.message_id,
      v_claim.assistant_message_id,
      coalesce(v_own ->> 'model', nullif(v_chat.model_id, ''), v_claim.default_model_id),
      v_claim.context_limit, v_claim.history,
      public.create_run_key(v_claim.account_id, v_claim.key_hash, v_claim.key_prefix,
        v_claim.key_name, v_claim.key_expires_at),
      v_session.artist_id, v_claim.caller_key_id, p_claim ->> 'client_tools',
      (select i.id from engine.instances i where i.id = (p_claim ->> 'claimed_by')::uuid),
      case when v_own = '{}' then '{}' else jsonb_build_object('own', v_own) end)
    returning * into v_turn;
    update public.chats set
      active_stream_id = 'pending:' || v_claim.turn_id,
      claimed_at = clock_timestamp(),
      title = case when title = '' then coalesce(v_claim.title, '') else title end,
      updated_at = now()
    where id = v_chat.id;

    if not v_waited and public.is_budget_reached(v_claim.account_id) then
      raise exception using errcode = 'PT403', message = 'budget_reached';
    end if;
    if p_max_active > 0 and public.count_active_turns(v_claim.account_id) > p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    v_answer := jsonb_build_object('outcome', 'claimed');
    if p_with_turn then
      v_turn := public.prepare_turn(v_turn);
      v_answer := v_answer || jsonb_build_object('turn',
        public.turn_state(v_turn) || jsonb_build_object('history', public.history_of_turn(v_turn)));
    end if;
  end if;

  -- A message that waited, or was stored before, takes no more room.
  if not v_waited and v_queued.turn_id is null then
    v_refusal := public.message_quota_reached(
      v_claim.account_id, v_chat.id, p_max_account_bytes, p_max_chat_bytes);
    if v_refusal is not null then
      raise exception using errcode = 'PT403', message = v_refusal;
    end if;
  end if;
  return v_answer;
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.claim_turn is 'Claims a chat for a new turn and stores the message that the turn answers. p_claim has the fields of turn_claim, client_tools, claimed_by, and as options {model, …} those of runOptions for this turn only, as JSON because not every REST server passes on records. With p_with_turn a claim returns the turn, as load_turn will. While the chat is busy it queues the turn, unless p_on_busy is reject, lets the active one take its message with steer, and stops the active one with interrupt: {outcome: claimed (turn) | queued (turn_id, active_turn_id, run_id, interrupts) | active (turn_id, run_id, message_id) | waiting | queue_full}. For a message that was sent before also {outcome: answered (turn_id, run_id, message_id) | content_differs | options_differ, where its turn has not all of the options}. All other outcomes change nothing: session_missing | chat_missing | sandbox_missing | id_taken | answer_stale | parent_missing | parent_differs | budget_reached | too_many_turns | messages_full | chat_full. A turn that waited is not checked again, except for p_max_active. A limit of 0 is none.';

create function public.may_steer(p_claim public.turn_claim, p_own jsonb) returns boolean
language sql immutable set search_path = '' as $$
  select p_claim.parent_id is null and p_claim.replaces_answer is null and p_own = '{}'
$$;
comment on function public.may_steer is 'Returns false for a message that starts a branch or has own options, which no running turn can take.';

create function public.with_options(p_own jsonb, p_options jsonb) returns jsonb
language plpgsql immutable set search_path = '' as $$
declare
  v_added constant jsonb := jsonb_strip_nulls(p_options);
begin
  return jsonb_strip_nulls(p_own || (v_added - 'network') || jsonb_build_object(
    'limits', nullif(
      coalesce(p_own -> 'limits', '{}') || coalesce(v_added -> 'limits', '{}'), '{}'),
    'approvals', public.stricter_policies(p_own -> 'approvals', v_added -> 'approvals'),
    'network_policies', (
      select jsonb_agg(distinct n.value)
      from jsonb_array_elements(coalesce(p_own -> 'network_policies', '[]')
        || coalesce(v_added -> 'network_policies', '[]')
        || coalesce(v_added -> 'network', '[]')) n
      where n.value ->> 'mode' <> 'open')));
end
$$;
comment on function public.with_options is 'The own options of a turn with further ones, of which each replaces the own one, limits one by one. Approvals get stricter, and the network policy {mode, hosts} is added to network_policies. Options that are null do not count.';

create function public.has_options(p_turn public.turns, p_own jsonb) returns boolean
language plpgsql stable set search_path = '' as $$
declare
  v_own constant jsonb := coalesce(p_turn.options -> 'own', '{}');
begin
  return public.with_options(v_own, p_own) = v_own;
end
$$;
comment on function public.has_options is 'Returns whether a turn has started with all of these own options, or with stricter ones.';

create function public.answer_with_options(p_answer jsonb, p_own jsonb) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return case
    when p_own = '{}' or p_answer ->> 'outcome' not in ('active', 'answered') or exists (
      select from public.turns t
      where t.id = (p_answer ->> 'turn_id')::uuid and public.has_options(t, p_own))
      then p_answer
    else '{"outcome": "options_differ"}' end;
end
$$;
comment on function public.answer_with_options is 'The answer of claim_turn to a message that was sent before, unless its turn lacks some of the options that the message has now.';

create function public.active_turn(p_chat public.chats) returns public.turns
language plpgsql stable set search_path = '' as $$
begin
  if p_chat.active_stream_id is null then
    return null;
  end if;
  return (
    select t from public.turns t
    where t.chat_id = p_chat.id
      and (t.run_id = p_chat.active_stream_id or 'pending:' || t.id = p_chat.active_stream_id));
end
$$;
comment on function public.active_turn is 'The turn that a chat is claimed by.';

create function public.is_waiting(p_turn_id uuid) returns boolean
language plpgsql stable set search_path = '' as $$
begin
  return exists (
    select from public.required_actions a where a.turn_id = p_turn_id and a.wakes_at > now());
end
$$;
comment on function public.is_waiting is 'Returns whether a turn waits for its client.';

create function public.count_active_turns(p_account_id uuid) returns bigint
language plpgsql stable set search_path = '' as $$
begin
  return (
    select count(*) from public.turns
    where account_id = p_account_id and finished_at is null and not public.is_waiting(id)
      -- A claim whose request died before it started a run is void after this time.
      and (run_id is not null
        or created_at > now() - case when headless then interval '10 minutes' else interval '60 seconds' end));
end
$$;
comment on function public.count_active_turns is 'The turns of an account that are queued or running, without those that wait for their client, and claims that never became a run.';

create function public.store_file_parts(p_turn_id uuid, p_messages jsonb, p_history jsonb)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and finished_at is null for update;
  if not found then
    return;
  end if;
  update public.turns set history = p_history where id = p_turn_id and history is not null;
  -- Of a conversation that the client sent, only the newest message is stored.
  update public.messages m set parts = changed.parts,
    sent_digest = coalesce(m.sent_digest, public.digest_of_parts(m.parts))
  from jsonb_to_recordset(p_messages) as changed(id text, parts jsonb)
  where m.chat_id = v_turn.chat_id and m.id = changed.id and m.role = 'user'
    and (m.id = v_turn.message_id or v_turn.history is null);
end
$$;
comment on function public.store_file_parts is 'Replaces the parts of user messages [{id, parts}] that a running turn has read, and its history where the client sent one. Without effect when the turn has ended.';

create function public.digest_of_parts(p_parts jsonb) returns text
language sql immutable set search_path = '' as $$
  select encode(sha256(convert_to(p_parts::text, 'UTF8')), 'hex')
$$;
comment on function public.digest_of_parts is 'SHA-256 of the parts of a message, in hex.';

create function public.is_same_content(p_message public.messages, p_parts jsonb) returns boolean
language sql stable set search_path = '' as $$
  select case when p_message.sent_digest is null then p_message.parts = p_parts
    else p_message.sent_digest = public.digest_of_parts(p_parts) end
$$;
comment on function public.is_same_content is 'Whether a message was sent with these parts, although the stored parts may name its stored files.';

create function public.parent_of_message(p_message public.messages) returns text
language sql stable set search_path = '' as $$
  select coalesce(p_message.parent_id, (
    select b.id from public.messages b
    where b.chat_id = p_message.chat_id and (b.created_at, b.id) < (p_message.created_at, p_message.id)
    order by b.created_at desc, b.id desc
    limit 1), '')
$$;
comment on function public.parent_of_message is 'The id of the message that a message follows; empty for one that starts the conversation.';

create function public.answer_of_message(
  p_message public.messages, p_replaces_answer text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
  v_answer_id text;
begin
  -- Of several answers the one that the chat shows.
  select t.* into v_turn from public.turns t
  left join public.messages a on a.chat_id = t.chat_id and a.id = t.assistant_message_id
  where t.chat_id = p_message.chat_id and t.message_id = p_message.id
  order by coalesce(a.on_path, false) desc, t.created_at desc
  limit 1;
  if v_turn.id is not null and v_turn.finished_at is null then
    return jsonb_build_object('outcome', 'active');
  end if;
  -- A message whose answer failed or was stopped is answered again.
  if v_turn.status in ('failed', 'cancelled') then
    return null;
  end if;
  select a.id into v_answer_id from public.messages a
  where a.chat_id = p_message.chat_id and a.role = 'assistant' and (
    a.id = v_turn.assistant_message_id
    or (v_turn.id is null and public.parent_of_message(a) = p_message.id))
  order by a.on_path desc, a.created_at desc
  limit 1;
  -- A request for another answer in place of one that is no longer shown is a repeated request.
  if p_replaces_answer is not null and not exists (
    select from public.messages a
    where a.chat_id = p_message.chat_id and a.id = p_replaces_answer and not a.on_path) then
    return null;
  end if;
  return case when v_answer_id is not null then jsonb_build_object(
    'outcome', 'answered', 'turn_id', v_turn.id, 'run_id', v_turn.run_id,
    'message_id', v_answer_id) end;
end
$$;
comment on function public.answer_of_message is 'The response to a user message that is sent again: {outcome: active} while it is being answered, {outcome: answered (turn_id, run_id, message_id)} for its answer, null if it is to be answered again. p_replaces_answer is the id of the answer that a new one is requested for, null for none.';

create function public.answer_of_steering_message(
  p_chat_id uuid, p_message_id text, p_parts jsonb
) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select case
      when s.sent_digest <> public.digest_of_parts(p_parts)
        then jsonb_build_object('outcome', 'content_differs')
      when t.finished_at is null
        then jsonb_build_object('outcome', 'active', 'turn_id', t.id, 'run_id', t.run_id,
          'message_id', s.message_id)
      -- A message whose answer failed or was stopped is answered again.
      when t.status = 'completed' and exists (
        select from public.messages a where a.chat_id = t.chat_id and a.id = t.assistant_message_id)
        then jsonb_build_object('outcome', 'answered', 'turn_id', t.id, 'run_id', t.run_id,
          'message_id', t.assistant_message_id) end
    from public.steering_messages s join public.turns t on t.id = s.turn_id
    where s.chat_id = p_chat_id and s.message_id = p_message_id);
end
$$;
comment on function public.answer_of_steering_message is 'The response to a message that a running turn has taken and that is sent again, as an outcome of claim_turn. Null if no turn has taken it, or if it is to be answered again.';

-- Headless runs -----------------------------------------------------------------------------------

create function public.provision_run(
  p_account_id uuid, p_artist_id uuid, p_effect_id uuid, p_turn_id uuid,
  p_assistant_message_id text, p_title text, p_model_id text, p_messages jsonb,
  p_key_hash text, p_key_prefix text, p_key_name text, p_key_expires_at timestamptz,
  p_kind text, p_caller_key_id uuid, p_max_active integer, p_max_account_bytes bigint,
  p_setup jsonb default '{}'
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_turn public.turns;
  v_missing text;
begin
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  perform public.close_unstarted_runs();
  -- Two attempts at one effect come one after the other.
  perform pg_advisory_xact_lock(hashtextextended(p_effect_id::text, 20261120));
  select * into v_turn from public.turns
  where effect_id = p_effect_id and account_id = p_account_id;
  if not found then
    v_turn.id := p_turn_id;
    insert into public.sessions (account_id, artist_id) values (p_account_id, p_artist_id)
    returning id into v_turn.session_id;
    insert into public.chats (session_id, account_id, title, model_id, active_stream_id, claimed_at)
    values (v_turn.session_id, p_account_id, p_title, p_model_id, 'pending:' || p_turn_id, v_now)
    returning id into v_turn.chat_id;
    -- A microsecond apart, to keep their order whatever their ids.
    insert into public.messages (chat_id, id, role, parts, created_at)
    select v_turn.chat_id, m.value ->> 'id', m.value ->> 'role', m.value -> 'parts',
      v_now + m.ordinality * interval '1 microsecond'
    from jsonb_array_elements(p_messages) with ordinality as m;
    insert into public.turns (id, account_id, session_id, chat_id, effect_id, message_id,
      assistant_message_id, model_id, headless, key_id, kind, artist_id, caller_key_id)
    values (p_turn_id, p_account_id, v_turn.session_id, v_turn.chat_id, p_effect_id,
      p_messages -> -1 ->> 'id', p_assistant_message_id, p_model_id, true,
      public.create_run_key(p_account_id, p_key_hash, p_key_prefix, p_key_name, p_key_expires_at),
      p_kind, p_artist_id, p_caller_key_id);
    if public.is_budget_reached(p_account_id) then
      raise exception using errcode = 'PT403', message = 'budget_reached';
    end if;
    if p_max_active > 0 and public.count_active_turns(p_account_id) > p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    if public.message_quota_reached(p_account_id, null, p_max_account_bytes, 0) is not null then
      raise exception using errcode = 'PT403', message = 'messages_full';
    end if;
  end if;
  if v_turn.run_id is null then
    update public.turns set output_schema = p_setup ->> 'output_schema',
      client_tools = p_setup ->> 'client_tools', webhook_url = p_setup ->> 'webhook_url',
      deliver = p_setup -> 'deliver'
    where id = v_turn.id and p_setup <> '{}';
    perform public.mark_turn_untrusted(p_account_id, v_turn.id, p_setup -> 'untrusted')
    where p_setup ? 'untrusted';
    perform public.set_chat_connectors(p_account_id, v_turn.session_id, v_turn.chat_id,
      array(select jsonb_array_elements_text(p_setup -> 'connectors')))
    where p_setup ? 'connectors';
    v_missing := public.update_chat(p_account_id, v_turn.session_id, v_turn.chat_id, null, null,
      p_setup ->> 'instructions', (p_setup ->> 'template_id')::uuid, false, null, null,
      coalesce(p_setup -> 'options', '{}'), (p_setup ->> 'template_version')::integer,
      p_setup ->> 'default_model_id', (p_setup ->> 'accepts_version')::boolean) ->> 'missing'
    where p_setup <> '{}';
    if v_missing is not null then
      raise exception using errcode = 'PT403', message = v_missing;
    end if;
  end if;
  return jsonb_build_object('turn_id', v_turn.id, 'session_id', v_turn.session_id,
    'chat_id', v_turn.chat_id, 'run_id', v_turn.run_id);
exception when sqlstate 'PT403' then
  return jsonb_build_object('refused', sqlerrm);
end
$$;
comment on function public.provision_run is 'Creates session, chat, messages, credential and turn of a headless run, or finds the rows of an earlier attempt at the same effect: {turn_id, session_id, chat_id, run_id}. p_messages is [{id, role, parts}], the last of which is answered. p_setup has the rest of the request: {output_schema, client_tools, webhook_url, deliver, untrusted, connectors, instructions, template_id, template_version, accepts_version, options, default_model_id}, the last six as of update_chat. {refused: budget_reached | too_many_turns | messages_full | session | chat | template | template_version} has changed nothing. A limit of 0 is none.';

create function public.close_unstarted_runs() returns void
language plpgsql set search_path = '' as $$
declare
  v_id uuid;
begin
  for v_id in
    select id from public.turns
    where headless and run_id is null and finished_at is null
      and created_at < now() - interval '10 minutes'
    order by created_at limit 10 for update skip locked
  loop
    perform public.abandon_turn(v_id);
    update public.turns set effect_id = null where id = v_id;
  end loop;
end
$$;
comment on function public.close_unstarted_runs is 'Closes headless turns whose request died before it started their run. Each call closes at most ten.';

create function public.assign_run(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  update public.turns set run_id = coalesce(run_id, p_run_id) where id = p_turn_id
  returning * into v_turn;
  update public.chats set active_stream_id = v_turn.run_id
  where id = v_turn.chat_id and active_stream_id = 'pending:' || v_turn.id;
  update public.api_keys set run_id = v_turn.run_id where id = v_turn.key_id;
  return jsonb_build_object('run_id', v_turn.run_id);
end
$$;
comment on function public.assign_run is 'Gives a turn its run; the first of two attempts wins: {run_id}, null when the turn is gone.';

create function public.discard_run(p_turn_id uuid) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id and run_id is null for update;
  if not found then
    return jsonb_build_object('discarded', false);
  end if;
  -- Chats before their session, as everywhere: the other order deadlocks.
  perform 1 from public.chats where session_id = v_turn.session_id order by id for update;
  delete from public.sessions where id = v_turn.session_id;
  delete from public.api_keys where id = v_turn.key_id;
  return jsonb_build_object('discarded', true);
end
$$;
comment on function public.discard_run is 'Deletes what provision_run created, unless the run has started: {discarded}.';

-- Steps -------------------------------------------------------------------------------------------

create function public.lock_chat_of_turn(p_turn_id uuid) returns void
language plpgsql set search_path = '' as $$
begin
  perform 1 from public.chats
  where id = (select chat_id from public.turns where id = p_turn_id)
  for update;
end
$$;
comment on function public.lock_chat_of_turn is 'Locks the chat of a turn for the transaction. To be called before the turn itself is locked.';

create function public.turn_state(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'load', p_turn.loads,
      'account_id', p_turn.account_id,
      'session_id', p_turn.session_id,
      'chat_id', p_turn.chat_id,
      'message_id', p_turn.message_id,
      'assistant_message_id', p_turn.assistant_message_id,
      'model_id', p_turn.model_id,
      'instructions', p_turn.instructions,
      'options', p_turn.options,
      'skills', p_turn.skills,
      'mcp_tools', p_turn.mcp_tools,
      'limit_note', p_turn.limit_note,
      'untrusted', p_turn.untrusted,
      'facts', p_turn.facts,
      'context_limit', p_turn.context_limit,
      'headless', p_turn.headless,
      'is_of_task', coalesce(p_turn.kind = 'task', false),
      'has_key', p_turn.key_id is not null,
      'key_id', p_turn.key_id,
      'has_budget', public.has_budget(p_turn.account_id),
      'created_at', public.iso_date(p_turn.created_at),
      'stop_requested', p_turn.stop_requested_at is not null,
      'artist_id', s.artist_id,
      'workspace', jsonb_build_object('artist_id', p_turn.artist_id,
        'memory', public.memory_of_workspace(p_turn.account_id, p_turn.artist_id, p_turn.options,
          p_turn.created_at, 8000)),
      'compaction', public.compaction_of_turn(p_turn),
      'output_schema', p_turn.output_schema,
      'client_tools', p_turn.client_tools,
      'steering', (
        select coalesce(jsonb_agg(jsonb_build_object('step', m.step, 'id', m.message_id,
          'parts', m.parts) order by m.step, m.position), '[]')
        from public.steering_messages m where m.turn_id = p_turn.id),
      'sandbox_state', s.sandbox_state)
    from public.sessions s where s.id = p_turn.session_id);
end
$$;
comment on function public.turn_state is 'A turn as its run continues with it, without its history and steps.';

create function public.compaction_of_turn(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_build_object('id', c.id, 'kind', c.kind, 'state', c.state,
      'isOwn', (c.turn_id = p_turn.id) is true,
      'tokensBefore', c.tokens_before, 'tokensAfter', c.tokens_after)
    from public.compactions c
    where c.chat_id = p_turn.chat_id and c.tool_call_id is null and (
      c.turn_id = p_turn.id
      or exists (
        select from public.messages m
        where p_turn.history is null and m.chat_id = c.chat_id and m.id = c.message_id and m.on_path)
      or exists (
        select from jsonb_array_elements(p_turn.history) h where h ->> 'id' = c.message_id))
    order by c.id desc
    limit 1);
end
$$;
comment on function public.compaction_of_turn is 'The newest compaction that applies to the conversation of a turn: {id, kind, state, isOwn, tokensBefore, tokensAfter}, null for none.';

create function public.history_of_turn(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  -- The messages that the chat shows up to and with the one that is answered.
  return (
    select coalesce(p_turn.history, (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', m.id, 'role', m.role, 'parts', m.parts, 'facts', m.facts)
        order by m.created_at, m.id), '[]')
      from public.messages m
      join public.messages newest
        on newest.chat_id = m.chat_id and newest.id = p_turn.message_id
      where m.chat_id = p_turn.chat_id and m.on_path
        and (m.created_at, m.id) <= (newest.created_at, newest.id))));
end
$$;
comment on function public.history_of_turn is 'The conversation that the model of a turn gets: [{id, role, parts, facts}].';

create function public.facts_of_turn(p_account_id uuid, p_artist_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select jsonb_strip_nulls(jsonb_build_object(
      'at', public.iso_date(clock_timestamp()),
      'timezone', a.timezone,
      'name', a.name,
      'organizations', (
        select jsonb_agg(jsonb_build_object('name', o.name, 'role', o.role) order by o.name, o.id)
        from (
          select g.id, g.name, m.role
          from public.organization_accounts m
          join public.accounts g on g.id = m.organization_id and g.kind = 'organization'
          where m.account_id = p_account_id
          order by g.name, g.id limit 3) o),
      'artist', (
        select jsonb_build_object('id', t.id, 'name', t.name, 'label', t.label)
        from public.accounts t where t.id = p_artist_id)))
    from public.accounts a where a.id = p_account_id);
end
$$;
comment on function public.facts_of_turn is 'The facts at the start of a turn: {at, timezone, name, organizations: [{name, role}], artist: {id, name, label}}, each absent where there is none. Of many organizations it has three.';

create function public.prepare_turn(p_turn public.turns) returns public.turns
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_version public.agent_template_versions;
  v_own constant jsonb := jsonb_build_object('own', p_turn.options -> 'own');
begin
  select * into v_chat from public.chats where id = p_turn.chat_id;
  v_version := public.applied_template_version(
    v_chat.account_id, v_chat.template_id, v_chat.template_version);
  p_turn.instructions := public.chat_instructions(p_turn.account_id, p_turn.chat_id);
  p_turn.options := jsonb_strip_nulls(v_own || public.chat_options(
    p_turn.account_id, p_turn.chat_id, coalesce(p_turn.options -> 'own', '{}')));
  p_turn.skills := public.skills_of_turn(p_turn.account_id, p_turn.options -> 'skills');
  p_turn.mcp_tools := public.mcp_tools_of_turn(p_turn.account_id, p_turn.options -> 'mcp_servers');
  p_turn.untrusted := public.sources_of_turn(p_turn);
  update public.turns
  set instructions = p_turn.instructions, options = p_turn.options, skills = p_turn.skills,
    mcp_tools = p_turn.mcp_tools, untrusted = p_turn.untrusted,
    facts = public.facts_of_turn(p_turn.account_id, p_turn.artist_id),
    template_id = v_version.template_id, template_version = v_version.version,
    -- The template can have set both since a headless run was provisioned.
    model_id = case when headless then v_chat.model_id else model_id end,
    output_schema = coalesce(
      output_schema, case when headless then (v_version.options -> 'output_schema')::text end)
  where id = p_turn.id returning * into p_turn;
  -- Later turns show the message as this one does, which keeps it in the cache of providers.
  update public.messages set facts = p_turn.facts
  where chat_id = p_turn.chat_id and id = p_turn.message_id and role = 'user';
  return p_turn;
end
$$;
comment on function public.prepare_turn is 'Gives a turn what its chat, template, account and skills say at its start, which then stays.';

create function public.begin_turn(p_turn public.turns, p_run_id text) returns public.turns
language plpgsql volatile set search_path = '' as $$
begin
  update public.turns
  set loads = loads + 1, reserved_usd = 0, run_id = p_run_id, status = 'running'
  where id = p_turn.id returning * into p_turn;
  -- Its words will be in the messages and files of the session.
  if p_turn.untrusted <> '[]' then
    update public.sessions s set untrusted = public.with_sources(s.untrusted, p_turn.untrusted)
    where s.id = p_turn.session_id and not s.untrusted @> p_turn.untrusted;
  end if;
  perform public.record_turn_skill(p_turn.account_id, p_turn.id, l.value)
  from jsonb_array_elements(p_turn.skills -> 'loaded') l;
  update public.api_keys set run_id = p_run_id where id = p_turn.key_id;
  return p_turn;
end
$$;
comment on function public.begin_turn is 'Has a turn, which was prepared, begin in a run.';

create function public.begin_claimed_turn(p_turn_id uuid, p_run_id text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns
  where id = p_turn_id and coalesce(run_id, p_run_id) = p_run_id and status = 'queued'
    and finished_at is null
  for update;
  if not found then
    return null;
  end if;
  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return null;
  end if;
  v_turn := public.begin_turn(public.stop_without_authority(v_turn), p_run_id);
  return jsonb_build_object('load', v_turn.loads,
    'stop_requested', v_turn.stop_requested_at is not null);
end
$$;
comment on function public.begin_claimed_turn is 'Turns a claim that has answered with its turn into the run''s: {load, stop_requested}. Null if the turn does not begin with this: it is to be loaded.';

create function public.load_turn(
  p_turn_id uuid, p_run_id text, p_has_history boolean default false, p_ends boolean default false
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
begin
  perform public.lock_chat_of_turn(p_turn_id);
  select * into v_turn from public.turns where id = p_turn_id for update;
  if not found then
    return jsonb_build_object('outcome', 'lost');
  elsif v_turn.run_id <> p_run_id then
    return jsonb_build_object('outcome', 'lost', 'has_other_run', true);
  end if;
  if v_turn.finished_at is not null then
    return jsonb_build_object(
      'outcome', case when v_turn.run_id is null then 'lost' else 'finished' end,
      'error', v_turn.error,
      'metadata', (select m.metadata from public.messages m
        where m.chat_id = v_turn.chat_id and m.id = v_turn.assistant_message_id));
  end if;
  -- Nothing watches the key of a turn while it waits, or has no process.
  v_turn := public.stop_without_authority(v_turn);
  -- A turn that has not begun waits for nothing.
  if v_turn.status <> 'queued' then
    if public.is_waiting(p_turn_id) and not p_ends then
      return jsonb_build_object('outcome', 'waiting');
    end if;
    with woken as (delete from public.required_actions where turn_id = p_turn_id returning *)
    insert into public.tool_runs (turn_id, tool_call_id, finished, output, finished_at)
    select p_turn_id, w.step || ' ' || (c.value ->> 'id'), true,
      '{"value": {"error": "The client has sent no result in time"}}', clock_timestamp()
    from woken w, jsonb_array_elements(w.tool_calls) c
    where v_turn.stop_requested_at is null
    on conflict do nothing;
  end if;

  update public.chats set active_stream_id = p_run_id
  where id = v_turn.chat_id and active_stream_id in ('pending:' || p_turn_id, p_run_id);
  if not found then
    return jsonb_build_object('outcome', 'lost');
  end if;
  -- A headless turn knows its run before the run starts.
  if v_turn.status = 'queued' then
    v_turn := public.begin_turn(public.prepare_turn(v_turn), p_run_id);
  else
    update public.turns set loads = loads + 1, lost_usd = lost_usd + reserved_usd, reserved_usd = 0
    where id = p_turn_id returning * into v_turn;
  end if;

  return public.turn_state(v_turn) || jsonb_build_object(
    'outcome', 'active',
    'has_asked', v_turn.loads > 1
      and exists (select from public.approvals a where a.turn_id = p_turn_id),
    'history', public.history_of_turn(v_turn),
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.turn_steps s where s.turn_id = p_turn_id));
end
$$;
comment on function public.load_turn is 'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash: {outcome: lost (has_other_run) | finished | waiting | active, …}. The turn of another run has that run''s log, which the caller must leave alone. A turn that waits for its client is waiting, unless it is loaded to be ended (p_ends). p_has_history has no effect; servers of the version before name it.';

create function public.record_turn_skill(p_account_id uuid, p_turn_id uuid, p_skill jsonb)
returns void
language sql volatile set search_path = '' as $$
  insert into public.turn_skills (turn_id, account_id, name, source, version, sha256)
  select t.id, t.account_id, p_skill ->> 'name', p_skill ->> 'source',
    (p_skill ->> 'version')::integer, p_skill ->> 'sha256'
  from public.turns t where t.id = p_turn_id and t.account_id = p_account_id
  on conflict do nothing
$$;
comment on function public.record_turn_skill is 'Records that a turn has loaded a skill {name, source, version, sha256}. The first version that it loads counts.';

create function public.load_skill(p_account_id uuid, p_turn_id uuid, p_name text) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_skill jsonb;
begin
  select jsonb_build_object('name', k.name,
    'source', case when k.organization_id is null then 'account' else 'organization' end,
    'version', v.version, 'sha256', v.sha256, 'files', v.files,
    'isForeign', v.origin is not null or v.author_id is distinct from p_account_id)
  into v_skill
  from public.known_skills(p_account_id) k
  join public.skill_versions v on v.skill_id = k.id and v.version = k.version
  where k.name = p_name and k.enabled
  order by k.rank
  limit 1;
  if found then
    perform public.record_turn_skill(p_account_id, p_turn_id, v_skill);
  end if;
  return v_skill;
end
$$;
comment on function public.load_skill is 'Loads a stored skill for a turn: {name, source, version, sha256, files, isForeign, whether it was imported or written by another account}; null for a name that the account cannot use.';

create function public.loaded_skills(p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'source', s.source,
    'version', s.version, 'sha256', s.sha256) order by s.loaded_at, s.name), '[]')
  from public.turn_skills s where s.turn_id = p_turn_id
$$;
comment on function public.loaded_skills is 'The skills that a turn has loaded: [{name, source, version, sha256}].';

create function public.take_steering_messages(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_step integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_taken jsonb;
begin
  -- Most model calls find none, and take no lock.
  if not exists (
    select from public.queued_turns q join public.turns t on t.chat_id = q.chat_id
    where t.id = p_turn_id and q.steers = p_turn_id)
  then
    return '[]';
  end if;
  -- With the chat, also the loads and the end of the turn wait.
  perform public.lock_chat_of_turn(p_turn_id);
  -- What is left starts a turn, which ends if the key of the message has ended. A row that is locked is
  -- being dropped by a transaction that then needs the chat.
  with waiting as (
    select q.turn_id from public.queued_turns q
    join public.turns t on t.id = q.steers and t.chat_id = q.chat_id
    where t.id = p_turn_id and q.account_id = p_account_id and q.begun_at is null
      and t.account_id = p_account_id and t.loads = p_load
      and t.finished_at is null and t.stop_requested_at is null
      and public.is_key_in_force((q.claim).caller_key_id)
      and not exists (
        select from public.messages m where m.chat_id = q.chat_id and m.id = q.message_id)
    for update of q skip locked),
  taken as (
    delete from public.queued_turns q using waiting where q.turn_id = waiting.turn_id
    returning q.*),
  stored as (
    insert into public.steering_messages as s
      (chat_id, message_id, turn_id, queued_turn_id, step, position, parts, sent_digest)
    select chat_id, message_id, p_turn_id, turn_id, p_step, position, (claim).parts,
      public.digest_of_parts((claim).parts)
    from taken
    -- An earlier turn that took it has failed or was stopped.
    on conflict (chat_id, message_id) do update set turn_id = excluded.turn_id,
      queued_turn_id = excluded.queued_turn_id, step = excluded.step,
      position = excluded.position, parts = excluded.parts
    returning s.message_id, s.position, s.parts)
  select coalesce(jsonb_agg(
    jsonb_build_object('step', p_step, 'id', message_id, 'parts', parts) order by position), '[]')
  into v_taken from stored;
  return v_taken;
end
$$;
comment on function public.take_steering_messages is 'Moves the queued messages that steer a running turn to it, before its model call p_step: [{step, id, parts}]. Takes none for a turn that was stopped or loaded again since this load.';

create function public.store_steering_files(p_turn_id uuid, p_messages jsonb) returns void
language sql volatile set search_path = '' as $$
  update public.steering_messages s set parts = changed.parts
  from jsonb_to_recordset(p_messages) as changed(id text, parts jsonb)
  where s.turn_id = p_turn_id and s.message_id = changed.id and s.parts is not null
$$;
comment on function public.store_steering_files is 'Replaces the parts of messages [{id, parts}] that a running turn has taken, once their files are stored. Without effect when the turn has ended.';

create function public.complete_model_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_index integer, p_result jsonb,
  p_call_ids text[], p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_has_ended boolean;
begin
  -- Usage counts, even if another process has loaded or ended the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', false, 'stop_requested', true, 'known_calls', '[]'::jsonb);
  end if;
  -- Locked, because the turn must not be loaded again before this is committed.
  select finished_at is not null into v_has_ended from public.turns
  where id = p_turn_id and loads = p_load for share;
  if v_has_ended is not false then
    return jsonb_build_object('superseded', v_has_ended is null,
      'stop_requested', v_has_ended is not null, 'known_calls', '[]'::jsonb);
  end if;
  -- Nothing of the turn is in flight: its tools have ended before the model call.
  update public.turns set reserved_usd = 0 where id = p_turn_id and reserved_usd > 0;
  insert into public.turn_steps (turn_id, index, result) values (p_turn_id, p_index, p_result)
  on conflict do nothing;
  return jsonb_build_object(
    'stop_requested', public.turns_to_stop(array[p_turn_id]) <> '{}',
    'known_calls', public.start_tools(p_turn_id, p_call_ids),
    'superseded', false,
    'has_budget', public.has_budget(p_account_id));
end
$$;
comment on function public.complete_model_call is 'Records the result and the usage of a model call, and the tool calls that start at once: {superseded, stop_requested, known_calls as of start_tools, has_budget}. Superseded, the turn was loaded again since this load, and only the usage is recorded, as for a turn that has ended and is to stop.';

create function public.record_compaction(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_message_id text, p_kind text, p_state jsonb,
  p_tokens_before integer, p_tokens_after integer, p_usage jsonb, p_tool_call_id text default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_id bigint;
begin
  -- The account and the chat before the turn, as everywhere: the other order deadlocks.
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
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
    (account_id, chat_id, turn_id, message_id, kind, state, tokens_before, tokens_after,
      tool_call_id)
  values (p_account_id, v_turn.chat_id, p_turn_id, p_message_id, p_kind, p_state,
    p_tokens_before, p_tokens_after, p_tool_call_id)
  returning id into v_id;
  return jsonb_build_object('superseded', false, 'id', v_id);
end
$$;
comment on function public.record_compaction is 'Records a compaction, which every later model call of the chat uses, and what its summary has used: {superseded, id}. Superseded, the turn has ended or was loaded again since this load, and only the usage is recorded.';

create function public.load_subagent(p_account_id uuid, p_turn_id uuid, p_tool_call_id text)
returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'steps', (
      select coalesce(jsonb_agg(s.result order by s.index), '[]')
      from public.subagent_steps s
      where s.turn_id = t.id and s.tool_call_id = p_tool_call_id),
    'compaction', (
      select jsonb_build_object('id', c.id, 'kind', c.kind, 'state', c.state, 'isOwn', true,
        'tokensBefore', c.tokens_before, 'tokensAfter', c.tokens_after)
      from public.compactions c
      where c.chat_id = t.chat_id and c.turn_id = t.id and c.tool_call_id = p_tool_call_id
      order by c.id desc limit 1))
  from public.turns t where t.id = p_turn_id and t.account_id = p_account_id
$$;
comment on function public.load_subagent is 'What a subagent continues with, at its start and after a crash: {steps, compaction}; null when the turn is gone.';

create function public.complete_subagent_call(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_tool_call_id text, p_index integer,
  p_result jsonb, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- Usage counts, even if another process has loaded the turn since.
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return jsonb_build_object('superseded', true);
  end if;
  perform from public.turns
  where id = p_turn_id and loads = p_load and finished_at is null for share;
  if not found then
    return jsonb_build_object('superseded', true);
  end if;
  insert into public.subagent_steps (turn_id, tool_call_id, index, result)
  values (p_turn_id, p_tool_call_id, p_index, p_result)
  on conflict do nothing;
  return jsonb_build_object('superseded', false, 'has_budget', public.has_budget(p_account_id));
end
$$;
comment on function public.complete_subagent_call is 'Records the result and the usage of a model call of a subagent: {superseded, has_budget}. Superseded, the turn is gone, has ended or was loaded again since this load, and only the usage is recorded.';

create function public.is_chat_busy(p_chat public.chats) returns boolean
language sql stable set search_path = '' as $$
  select public.active_stream_id(p_chat) is not null
    or exists (select from public.queued_turns q where q.chat_id = p_chat.id)
$$;
comment on function public.is_chat_busy is 'Returns whether a turn of the chat is active or waits.';

create function public.next_turn_of_chat(p_chat public.chats, p_default_model_id text)
returns public.turns
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
begin
  v_turn.account_id := p_chat.account_id;
  v_turn.session_id := p_chat.session_id;
  v_turn.chat_id := p_chat.id;
  v_turn.message_id := public.leaf_of_chat(p_chat.id);
  v_turn.assistant_message_id := '';
  v_turn.model_id := coalesce(nullif(p_chat.model_id, ''), p_default_model_id);
  v_turn.instructions := public.chat_instructions(p_chat.account_id, p_chat.id);
  v_turn.options := public.chat_options(p_chat.account_id, p_chat.id);
  v_turn.skills := public.skills_of_turn(p_chat.account_id, v_turn.options -> 'skills');
  v_turn.untrusted := '[]';
  v_turn.mcp_tools := public.mcp_tools_of_turn(p_chat.account_id, v_turn.options -> 'mcp_servers');
  v_turn.headless := false;
  v_turn.loads := 0;
  v_turn.created_at := now();
  v_turn.artist_id := (
    select s.artist_id from public.sessions s
    where s.id = p_chat.session_id and public.may_act_for(p_chat.account_id, s.artist_id));
  v_turn.facts := public.facts_of_turn(v_turn.account_id, v_turn.artist_id);
  return v_turn;
end
$$;
comment on function public.next_turn_of_chat is 'The turn that a message would start now in a chat, without that message: it answers the newest one. It is not stored.';

create function public.get_chat_context(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_default_model_id text
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  v_turn := public.next_turn_of_chat(v_chat, p_default_model_id);
  return jsonb_build_object('turn',
    public.turn_state(v_turn) || jsonb_build_object('history', public.history_of_turn(v_turn)));
end
$$;
comment on function public.get_chat_context is 'The conversation of a chat as its next turn continues it: {turn: turn_state with history} | {missing: session | chat}.';

create function public.begin_compaction(
  p_account_id uuid, p_session_id uuid, p_chat_id uuid, p_id uuid, p_default_model_id text,
  p_lease_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
begin
  select * into v_chat from public.chats
  where id = p_chat_id and session_id = p_session_id and account_id = p_account_id
  for update;
  if not found then
    return jsonb_build_object('missing', public.missing_of_chat(p_account_id, p_session_id));
  end if;
  if public.is_chat_busy(v_chat) then
    return jsonb_build_object('refused', 'busy');
  end if;
  if public.is_budget_reached(p_account_id) then
    return jsonb_build_object('refused', 'budget_reached');
  end if;
  insert into public.model_jobs as r (chat_id, account_id, id, lease_until)
  values (p_chat_id, p_account_id, p_id, clock_timestamp() + make_interval(secs => p_lease_seconds))
  on conflict (chat_id) do update
  set id = excluded.id, reserved_usd = 0, lease_until = excluded.lease_until
  where r.lease_until < clock_timestamp();
  if not found then
    return jsonb_build_object('refused', 'compacting');
  end if;
  return public.get_chat_context(p_account_id, p_session_id, p_chat_id, p_default_model_id);
end
$$;
comment on function public.begin_compaction is 'Leases the compaction of a chat to a request, with the id p_id, and returns its conversation as of get_chat_context | {refused: busy, while a turn is active or waits | budget_reached | compacting, while another request has the lease} | {missing: session | chat}. end_compaction ends the lease.';

create function public.end_compaction(
  p_account_id uuid, p_chat_id uuid, p_id uuid, p_leaf_id text, p_base_id bigint,
  p_compaction jsonb, p_api_key_id uuid, p_usage jsonb
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_chat public.chats;
  v_turn public.turns;
begin
  perform from public.accounts where id = p_account_id for key share;
  if not found then
    return jsonb_build_object('refused', 'chat');
  end if;
  select * into v_chat from public.chats
  where id = p_chat_id and account_id = p_account_id for update;
  -- Usage counts, even if the lease or the chat is lost.
  perform public.record_usage(p_account_id, p_id::text, 'chat', p_api_key_id,
    (select s.artist_id from public.sessions s where s.id = v_chat.session_id), p_usage);
  if v_chat.id is null then
    return jsonb_build_object('refused', 'chat');
  end if;
  delete from public.model_jobs where chat_id = v_chat.id and id = p_id;
  if not found then
    return jsonb_build_object('refused', 'changed');
  end if;
  if p_compaction ->> 'kind' is null then
    return jsonb_build_object('recorded', false);
  end if;
  if public.is_chat_busy(v_chat) then
    return jsonb_build_object('refused', 'busy');
  end if;
  -- A turn may have started and ended since, or another branch may be shown.
  v_turn := public.next_turn_of_chat(v_chat, '');
  if v_turn.message_id <> p_leaf_id
    or (public.compaction_of_turn(v_turn) ->> 'id')::bigint is distinct from p_base_id
  then
    return jsonb_build_object('refused', 'changed');
  end if;
  insert into public.compactions
    (account_id, chat_id, message_id, kind, state, tokens_before, tokens_after)
  select p_account_id, p_chat_id, c.message_id, c.kind, c.state, c.tokens_before, c.tokens_after
  from jsonb_to_record(p_compaction) as c (
    message_id text, kind text, state jsonb, tokens_before integer, tokens_after integer);
  return jsonb_build_object('recorded', true);
end
$$;
comment on function public.end_compaction is 'Ends the lease of begin_compaction, records what its model calls have used, and the compaction {message_id, kind, state, tokens_before, tokens_after} that was made, null for none: {recorded} | {refused: chat, which is deleted | busy, while a turn is active or waits | changed, when the lease is lost, or the chat is no longer the one with the newest message p_leaf_id and the compaction p_base_id (null for none)}. Refused, only the usage is recorded.';

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
  insert into public.model_jobs (chat_id, account_id, id, lease_until)
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
  -- The account and the chat before the turn, as everywhere: the other order deadlocks.
  perform from public.accounts where id = p_account_id for key share;
  perform public.lock_chat_of_turn(p_turn_id);
  if not public.record_turn_usage(p_account_id, p_turn_id, p_usage) then
    return false;
  end if;
  delete from public.model_jobs
  where chat_id = p_chat_id and account_id = p_account_id and id = p_turn_id;
  update public.chats set title = p_title, updated_at = now()
  where id = p_chat_id and account_id = p_account_id and title = p_former and p_title <> '';
  return found;
end
$$;
comment on function public.end_title is 'Records what the model calls for a title have used, ends the lease of begin_title, and replaces the title p_former, if the chat still has it and there is a new one. Returns whether it has.';

-- Two processes record the same calls when one was taken for dead: only the process whose row was inserted
-- may run a call.
create function public.start_tools(p_turn_id uuid, p_call_ids text[]) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_fresh text[];
begin
  -- Locked, because the end of a turn removes what is recorded of its calls.
  perform from public.turns where id = p_turn_id and finished_at is null for share;
  if not found then
    return (
      select coalesce(jsonb_agg(jsonb_build_object('id', id, 'finished', false, 'output', null)), '[]')
      from unnest(p_call_ids) id);
  end if;
  with fresh as (
    insert into public.tool_runs (turn_id, tool_call_id)
    select p_turn_id, id from unnest(p_call_ids) id order by id
    on conflict do nothing returning tool_call_id)
  select coalesce(array_agg(tool_call_id), '{}') into v_fresh from fresh;
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', r.tool_call_id, 'finished', r.finished, 'output', r.output)), '[]')
    from public.tool_runs r
    where r.turn_id = p_turn_id and r.tool_call_id = any (p_call_ids)
      and r.tool_call_id <> all (v_fresh));
end
$$;
comment on function public.start_tools is 'Records tool calls before they start, and returns the ones recorded earlier, which must not run again: [{id, finished, output}]. All are returned for a turn that has ended: none may start.';

create function public.finish_tool(
  p_turn_id uuid, p_call_id text, p_output jsonb, p_account_id uuid default null,
  p_sources jsonb default null
) returns jsonb
language plpgsql set search_path = '' as $$
begin
  if p_sources is not null then
    perform public.mark_turn_untrusted(p_account_id, p_turn_id, p_sources);
  end if;
  update public.tool_runs r
  set finished = true, output = p_output, finished_at = clock_timestamp()
  from public.turns t
  where r.turn_id = p_turn_id and r.tool_call_id = p_call_id
    and t.id = r.turn_id and t.account_id = coalesce(p_account_id, t.account_id);
  -- A command may have met more by the API, and a budget may have been set since.
  return (
    select jsonb_build_object('untrusted', t.untrusted,
      'has_budget', a.monthly_budget_usd is not null,
      'has_steering', exists (
        select from public.queued_turns q where q.chat_id = t.chat_id and q.steers = t.id))
    from public.turns t join public.accounts a on a.id = t.account_id
    where t.id = p_turn_id and t.account_id = p_account_id);
end
$$;
comment on function public.finish_tool is 'Records the output of a tool call, and the untrusted content [{kind, name}] that it has, null for none. Returns {untrusted, has_budget} of the turn, and as has_steering whether messages wait to steer it. p_account_id is null from the version before.';

create function public.finished_tools(p_turn_id uuid, p_call_ids text[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(r.tool_call_id), '[]') from public.tool_runs r
  where r.turn_id = p_turn_id and r.tool_call_id = any (p_call_ids) and r.finished
$$;
comment on function public.finished_tools is 'The ids of the given tool calls that have an output.';

create function public.suspend_turn(
  p_account_id uuid, p_turn_id uuid, p_load integer, p_step integer, p_tool_calls jsonb,
  p_wait_seconds integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_wakes_at timestamptz := now() + make_interval(secs => p_wait_seconds);
begin
  select * into v_turn from public.turns
  where id = p_turn_id and account_id = p_account_id and finished_at is null for update;
  if not found or v_turn.loads <> p_load then
    return jsonb_build_object('superseded', true, 'webhooks_due', false);
  end if;
  insert into public.required_actions (turn_id, account_id, step, tool_calls, wakes_at)
  values (p_turn_id, p_account_id, p_step, p_tool_calls,
    case when v_turn.stop_requested_at is null
        and (p_tool_calls <> '[]' or public.open_approvals(p_turn_id) is not null)
      then v_wakes_at else now() end);
  -- The run has its usual time after the wait.
  update public.api_keys set expires_at = v_wakes_at + interval '1 day' where id = v_turn.key_id;
  perform public.enqueue_webhook_event(p_account_id, 'run.requires_action',
    public.turn_event(v_turn) || '{"status": "requires_action"}', v_turn.webhook_url);
  perform public.queue_waiting_mail(v_turn);
  return jsonb_build_object(
    'superseded', false, 'webhooks_due', public.has_due_webhooks(p_account_id));
end
$$;
comment on function public.suspend_turn is 'Lets a turn wait until its client has sent the results of the tool calls [{id, name, input}], or if there are none until its requests for approval are answered, for p_wait_seconds at most: {superseded, webhooks_due}. Superseded, the turn was loaded again since this load or has ended.';

create function public.required_action_of(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('tool_calls', w.tool_calls, 'approvals', coalesce(w.approvals, '[]'))
  from (
    select public.open_approvals(a.turn_id) as approvals, coalesce((
        select jsonb_agg(c.value order by c.ordinality)
        from jsonb_array_elements(a.tool_calls) with ordinality as c
        where not exists (
          select from public.tool_runs r
          where r.turn_id = a.turn_id and r.tool_call_id = a.step || ' ' || (c.value ->> 'id'))),
      '[]') as tool_calls
    from public.required_actions a
    where a.turn_id = p_turn.id and a.wakes_at > now()) w
  where w.approvals is not null or w.tool_calls <> '[]'
$$;
comment on function public.required_action_of is 'What the client of a turn is to do: {tool_calls: [{id, name, input}], approvals}, those without a result or an answer; null for nothing.';

create function public.answer_tool_calls(
  p_account_id uuid, p_run_id text, p_results jsonb, p_max_active integer
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn public.turns;
  v_action public.required_actions;
  v_place integer;
  v_is_known boolean;
begin
  -- The account first, as everywhere: the active turns are counted.
  perform pg_advisory_xact_lock(hashtextextended(p_account_id::text, 20261163));
  select * into v_turn from public.turns
  where run_id = p_run_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('outcome', 'missing');
  end if;
  select * into v_action from public.required_actions
  where turn_id = v_turn.id and wakes_at > now();
  -- The same result may be repeated, also when the run has continued with it.
  select r.ordinality - 1, exists (
      select from public.tool_runs t
      where t.turn_id = v_turn.id
        and substr(t.tool_call_id, strpos(t.tool_call_id, ' ') + 1) = r.value ->> 'id')
  into v_place, v_is_known
  from jsonb_array_elements(p_results) with ordinality as r
  where not exists (
      select from jsonb_array_elements(v_action.tool_calls) c
      where c.value -> 'id' = r.value -> 'id')
    and not exists (
      select from public.tool_runs t
      where t.turn_id = v_turn.id and t.output = r.value -> 'output'
        and substr(t.tool_call_id, strpos(t.tool_call_id, ' ') + 1) = r.value ->> 'id')
  order by r.ordinality limit 1;
  if found then
    return jsonb_build_object('place', v_place, 'outcome', case
      when v_is_known then 'answered'
      when v_action.turn_id is null then 'not_waiting' else 'unknown_call' end);
  end if;
  if exists (
    select from jsonb_array_elements(p_results) r
    join public.tool_runs t
      on t.turn_id = v_turn.id and t.tool_call_id = v_action.step || ' ' || (r.value ->> 'id')
    where t.output is distinct from r.value -> 'output')
  then
    return jsonb_build_object('outcome', 'answered');
  end if;
  insert into public.tool_runs (turn_id, tool_call_id, finished, output, started_at, finished_at)
  select v_turn.id, v_action.step || ' ' || (r.value ->> 'id'), true, r.value -> 'output',
    null, clock_timestamp()
  from jsonb_array_elements(p_results) r, jsonb_array_elements(v_action.tool_calls) c
  where c.value -> 'id' = r.value -> 'id'
  on conflict do nothing;
  if v_action.turn_id is not null and public.required_action_of(v_turn) is null then
    if p_max_active > 0 and public.count_active_turns(p_account_id) >= p_max_active then
      raise exception using errcode = 'PT403', message = 'too_many_turns';
    end if;
    update public.required_actions set wakes_at = now() where turn_id = v_turn.id;
  end if;
  return jsonb_build_object('outcome', 'recorded', 'turn_id', v_turn.id);
exception when sqlstate 'PT403' then
  -- Nothing has changed.
  return jsonb_build_object('outcome', sqlerrm);
end
$$;
comment on function public.answer_tool_calls is 'Records results [{id, output: {value}}] of calls that a run waits for, and lets it continue after the last one: {outcome: recorded (turn_id) | missing | not_waiting | unknown_call (place) | answered | too_many_turns}. All but recorded change nothing. A limit of 0 is none.';

create function public.wake_stopped_turn() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  update public.required_actions set wakes_at = now()
  where turn_id = new.id and wakes_at > now();
  return null;
end
$$;
comment on function public.wake_stopped_turn is 'Trigger of turns: a turn that waits ends when its stop is requested.';
create trigger wake_stopped_turn after update of stop_requested_at on public.turns
for each row when (old.stop_requested_at is null and new.stop_requested_at is not null)
execute function public.wake_stopped_turn();

create function public.turns_to_wake(p_limit integer, p_due_seconds integer) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(due.turn_id), '[]') from (
    select a.turn_id from public.required_actions a
    where a.wakes_at < now() - make_interval(secs => p_due_seconds)
    order by a.wakes_at limit p_limit) due
$$;
comment on function public.turns_to_wake is 'The turns that should have been woken p_due_seconds ago, oldest first.';

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
    perform public.close_turn(p_turn_id, 'failed', 'The turn could not be started');
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

create function public.request_session_stop(p_session_id uuid) returns jsonb
language sql set search_path = '' as $$
  with stopped as (
    update public.turns set stop_requested_at = coalesce(stop_requested_at, now())
    where session_id = p_session_id and finished_at is null returning id)
  select coalesce(jsonb_agg(id), '[]') from stopped
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

-- Queued messages ---------------------------------------------------------------------------------

create function public.chats_to_begin(p_limit integer, p_stale_seconds integer) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(distinct q.chat_id), '{}') from (
    select q.chat_id from public.queued_turns q join public.chats c on c.id = q.chat_id
    where q.begun_at < now() - make_interval(secs => p_stale_seconds)
      or (q.begun_at is null and public.active_stream_id(c) is null)
    limit p_limit
  ) q
$$;
comment on function public.chats_to_begin is 'Chats that are free although turns wait in them, because the server died that was to start these.';

create function public.begin_queued_turn(
  p_chat_id uuid, p_max_active integer, p_stale_seconds integer, p_claimed_by uuid default null
) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_row public.queued_turns;
  v_outcome text;
begin
  perform pg_advisory_xact_lock(hashtextextended(account_id::text, 20261163))
  from public.chats where id = p_chat_id;
  perform 1 from public.chats where id = p_chat_id for update;
  loop
    select * into v_row from public.queued_turns
    where chat_id = p_chat_id
    order by begun_at is null, goes_first desc,
      case when goes_first then -position else position end
    limit 1 for update;
    if not found then
      return null;
    end if;
    if v_row.begun_at is null then
      v_row.claim.key_expires_at := now() + interval '24 hours';
      v_outcome := public.claim_turn(
        to_jsonb(v_row.claim) || jsonb_build_object(
          'client_tools', v_row.client_tools, 'options', v_row.options,
          'claimed_by', p_claimed_by),
        'reject', p_max_active, 0, 0, 0) ->> 'outcome';
    elsif v_row.begun_at > now() - make_interval(secs => p_stale_seconds) then
      return null;
    else
      -- Its server has died before it started the run.
      update public.chats set claimed_at = clock_timestamp()
      where id = p_chat_id and active_stream_id = 'pending:' || v_row.turn_id
        and exists (
          select from public.turns t where t.id = v_row.turn_id and t.finished_at is null);
      v_outcome := case when found then 'claimed' end;
    end if;
    if v_outcome = 'claimed' then
      update public.queued_turns set begun_at = now() where turn_id = v_row.turn_id;
      return jsonb_build_object('turn_id', v_row.turn_id, 'credential', (v_row.claim).credential);
    end if;
    if v_outcome in ('active', 'waiting', 'too_many_turns') then
      return null;
    end if;
    -- It has been started, or its message can no longer be stored.
    delete from public.queued_turns where turn_id = v_row.turn_id;
  end loop;
end
$$;
comment on function public.begin_queued_turn is 'Claims a free chat for the first turn that waits in it: {turn_id, credential}, whose run must then be started; null when there is none. A turn whose run was not started within p_stale_seconds is returned again.';

create function public.take_over_claim(p_claimed_by uuid) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  v_turn_id uuid;
  v_credential text;
begin
  select t.id, case when k.prefix like 'rt\_%' then 'bearer' else 'key' end
  into v_turn_id, v_credential
  from public.turns t
  join public.chats c on c.id = t.chat_id and public.active_stream_id(c) = 'pending:' || t.id
  left join public.api_keys k on k.id = t.key_id
  where t.claimed_by is not null and t.run_id is null and t.finished_at is null
    and not exists (select from engine.instances i where i.id = t.claimed_by)
  limit 1;
  if not found then
    return null;
  end if;
  perform public.lock_chat_of_turn(v_turn_id);
  -- Another process may have taken it over since.
  update public.turns t set claimed_by = p_claimed_by
  where t.id = v_turn_id and t.run_id is null and t.finished_at is null
    and not exists (select from engine.instances i where i.id = t.claimed_by);
  if not found then
    return null;
  end if;
  update public.chats c set claimed_at = clock_timestamp()
  from public.turns t
  where t.id = v_turn_id and c.id = t.chat_id and c.active_stream_id = 'pending:' || t.id;
  return jsonb_build_object('turn_id', v_turn_id, 'credential', v_credential);
end
$$;
comment on function public.take_over_claim is 'Takes over one turn whose process has died between its claim and its run: {turn_id, credential}, whose run must then be started; null when there is none. A claim that is void stays.';

create function public.dequeue_turn(p_turn_id uuid) returns void
language sql volatile set search_path = '' as $$
  delete from public.queued_turns where turn_id = p_turn_id
$$;
comment on function public.dequeue_turn is 'Notes that the run of a turn that waited was started.';

create function public.queued_turn_state(p_account_id uuid, p_turn_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case
    when t.run_id is not null
      then jsonb_build_object('state', 'started', 'turn_id', t.id, 'run_id', t.run_id)
    when t.finished_at is null and (t.id is not null or q.turn_id is not null)
      then jsonb_build_object('state', 'waiting')
    else jsonb_build_object('state', 'gone') end
  from (select p_turn_id as id, p_account_id as account_id) asked
  left join public.steering_messages s on s.queued_turn_id = asked.id
  left join public.turns t
    on t.id = coalesce(s.turn_id, asked.id) and t.account_id = asked.account_id
  left join public.queued_turns q on q.turn_id = asked.id and q.account_id = asked.account_id
$$;
comment on function public.queued_turn_state is 'What became of a turn that was queued: {state: waiting | started (turn_id, run_id) | gone}. The turn that took its message stands for it.';

create function public.list_queued_messages(p_account_id uuid, p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select case when c.id is null then jsonb_build_object('refused', 'chat')
    else jsonb_build_object('messages', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('id', q.message_id, 'parts', (q.claim).parts,
            'created_at', q.created_at)
          order by q.goes_first desc, case when q.goes_first then -q.position else q.position end),
        '[]')
      from public.queued_turns q
      where q.chat_id = c.id and q.account_id = c.account_id and q.begun_at is null)) end
  from (select 1) one
  left join public.chats c on c.id = p_chat_id and c.account_id = p_account_id
$$;
comment on function public.list_queued_messages is 'The messages that wait in a chat, in the order of their turns: {messages}, or {refused: chat}.';

create function public.remove_queued_message(
  p_account_id uuid, p_chat_id uuid, p_message_id text
) returns jsonb
language plpgsql volatile set search_path = '' as $$
begin
  -- As begin_queued_turn, which would find no turn while the first one is being removed.
  perform 1 from public.chats where id = p_chat_id and account_id = p_account_id for update;
  if not found then
    return jsonb_build_object('refused', 'chat');
  end if;
  delete from public.queued_turns
  where chat_id = p_chat_id and account_id = p_account_id and message_id = p_message_id
    and begun_at is null;
  return case when found then jsonb_build_object('removed', true)
    else jsonb_build_object('refused', 'message') end;
end
$$;
comment on function public.remove_queued_message is 'Drops a queued message: {removed}, or {refused: chat | message}.';

create function public.measure_queued_turn() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.bytes := pg_column_size((new.claim).parts)
    + coalesce(pg_column_size((new.claim).history), 0)
    + coalesce(octet_length(new.client_tools), 0) + pg_column_size(new.options);
  return new;
end
$$;
comment on function public.measure_queued_turn is 'Sets the bytes of a turn that waits.';
create trigger measure_queued_turn before insert or update of claim on public.queued_turns
  for each row execute function public.measure_queued_turn();
create trigger count_added_queued_turns after insert on public.queued_turns
  referencing new table as new_rows for each statement execute function public.count_chat_bytes();
create trigger count_changed_queued_turns after update on public.queued_turns
  referencing old table as old_rows new table as new_rows
  for each statement execute function public.count_chat_bytes();
create trigger count_removed_queued_turns after delete on public.queued_turns
  referencing old table as old_rows for each statement execute function public.count_chat_bytes();

-- Runs --------------------------------------------------------------------------------------------

create function public.run_row(p_turn public.turns) returns jsonb
language sql stable as $$
  select jsonb_build_object(
    'id', p_turn.id, 'run_id', p_turn.run_id, 'kind', p_turn.kind,
    'status', case when p_turn.status = 'running' and public.is_waiting(p_turn.id)
      then 'requires_action' else p_turn.status end,
    'error', p_turn.error, 'session_id', p_turn.session_id, 'chat_id', p_turn.chat_id,
    'artist_id', p_turn.artist_id, 'model_id', p_turn.model_id,
    'template_id', p_turn.template_id, 'template_version', p_turn.template_version,
    'created_at', p_turn.created_at, 'finished_at', p_turn.finished_at)
$$;
comment on function public.run_row is 'The columns of a turn that its account sees as a run. Inlined, hence no search_path.';

create function public.run_with_usage(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(p_turn) || jsonb_build_object(
    'title', (select c.title from public.chats c where c.id = p_turn.chat_id),
    'input_tokens', coalesce(sum(u.input), 0),
    'cached_input_tokens', coalesce(sum(u.cached), 0),
    'output_tokens', coalesce(sum(u.output), 0),
    'cost_usd', public.summed_cost(count(*), count(*) filter (where u.cost is null), sum(u.cost)),
    'unpriced_calls', count(*) filter (where u.cost is null))
  from (
    select least(greatest(e.input_tokens, 0), 100000000) as input,
      least(greatest(e.cached_input_tokens, 0), 100000000) as cached,
      least(greatest(e.output_tokens, 0), 100000000) as output,
      case when e.cost_usd between 0 and 1000000 then e.cost_usd end as cost
    from public.usage_entries e
    where e.account_id = p_turn.account_id and e.source = p_turn.id::text) u
$$;
comment on function public.run_with_usage is 'A run_row with the title of its chat and the sums of its model calls.';

create function public.verdicts_of_turn(p_turn public.turns) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(part.value -> 'data' order by part.ordinality), '[]')
  from public.messages m, jsonb_array_elements(m.parts) with ordinality as part
  where p_turn.options ? 'outcome' and m.chat_id = p_turn.chat_id
    and m.id = p_turn.assistant_message_id and part.value ->> 'type' = 'data-outcome'
    and part.value ->> 'id' like p_turn.id || '/%'
$$;
comment on function public.verdicts_of_turn is 'The verdicts on the work of a turn with an outcome, oldest first; none until its answer is stored.';

create function public.get_run(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select public.run_row(t)
    || jsonb_build_object('output', t.output, 'verdicts', public.verdicts_of_turn(t),
      'required_action', public.required_action_of(t), 'skills', public.loaded_skills(t.id))
    || public.delivery_of_turn(t)
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run is 'A run of the account as run_row with its output, its verdicts, what it waits for, the skills it has loaded, and what became of its result; null when it has no such run.';

create function public.list_runs(
  p_account_id uuid, p_limit integer, p_after_at timestamptz, p_after_id uuid,
  p_status text, p_kind text, p_chat_id uuid, p_artist_id uuid, p_since timestamptz,
  p_skill text default null
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_page jsonb;
begin
  -- Planned for the given filters, each of which has its index.
  execute format($query$
    select to_jsonb(array(
      select public.run_with_usage(t)
      from public.turns t %s
      where t.account_id = $1 and t.run_id is not null
        and (t.created_at, t.id) < ($3, $4)
        and ($5 is null or t.status = replace($5, 'requires_action', 'running'))
        and ($5 is null or t.status <> 'running'
          or public.is_waiting(t.id) = ($5 = 'requires_action'))
        and ($6 is null or t.kind = $6)
        and ($7 is null or t.chat_id = $7)
        and ($8 is null or t.artist_id = $8)
        and ($9 is null or t.created_at >= $9)
      order by t.created_at desc, t.id desc
      limit $2 + 1))
  $query$, case when p_skill is not null then
    'join public.turn_skills k on k.turn_id = t.id and k.account_id = $1 and k.name = $10' end) into v_page using p_account_id, p_limit,
    p_after_at, p_after_id,
    p_status, p_kind, p_chat_id, p_artist_id, p_since, p_skill;
  return v_page;
end
$$;
comment on function public.list_runs is 'Runs of an account, newest first, of a status, a kind, a chat, an artist, since a time and with a loaded skill where these are given: a page of run_with_usage, with one more row if another page follows.';

create function public.trace_of_step(p_turn public.turns, p_index integer, p_result jsonb, p_call_id text)
returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return jsonb_build_object(
    'index', p_index,
    'started_at', p_result #> '{trace,startedAt}',
    'finished_at', p_result #> '{trace,finishedAt}',
    'model_id', coalesce(p_result #>> '{trace,modelId}', p_turn.model_id),
    'finish_reason', p_result ->> 'finishReason',
    'usage', jsonb_build_object(
      'input_tokens', coalesce(p_result #> '{usage,inputTokens}', '0'),
      'cached_input_tokens', coalesce(p_result #> '{usage,cachedInputTokens}', '0'),
      'output_tokens', coalesce(p_result #> '{usage,outputTokens}', '0'),
      'total_tokens', coalesce(p_result #> '{usage,totalTokens}', '0')),
    'cost_usd', p_result #> '{trace,costUsd}',
    'attempts', coalesce(p_result #> '{trace,attempts}', '1'),
    'tool_calls', (
      -- A call is recorded by the next step, under its index.
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', left(c.value ->> 'id', 200),
        'name', left(c.value ->> 'name', 100),
        'state', case
          when r.turn_id is null then 'pending'
          when not r.finished then 'running'
          when r.output #> '{value,error}' is not null then 'failed'
          else 'completed' end,
        'started_at', r.started_at,
        'finished_at', r.finished_at,
        'error', left(r.output #>> '{value,error}', 500))
        || case when c.value ->> 'name' = 'task' and p_call_id is null
          then jsonb_build_object('steps', (
            select coalesce(jsonb_agg(
              public.trace_of_step(p_turn, s.index, s.result, s.tool_call_id) order by s.index), '[]')
            from public.subagent_steps s
            where s.turn_id = p_turn.id and s.tool_call_id = r.tool_call_id))
          else '{}' end
        order by c.ordinality), '[]')
      from jsonb_array_elements(coalesce(p_result -> 'calls', '[]')) with ordinality as c
      left join public.tool_runs r
        on r.turn_id = p_turn.id
        and r.tool_call_id = coalesce(p_call_id || '/', '') || (p_index + 1) || ' ' || (c.value ->> 'id')));
end
$$;
comment on function public.trace_of_step is 'A step as the trace has it, with the steps of the subagents that it calls. p_call_id is the call of the subagent whose step it is, null for the turn''s own.';

create function public.run_steps(p_turn_id uuid) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    select coalesce(jsonb_agg(public.trace_of_step(t, s.index, s.result, null) order by s.index), '[]')
    from public.turn_steps s join public.turns t on t.id = s.turn_id
    where s.turn_id = p_turn_id);
end
$$;
comment on function public.run_steps is 'The steps of a running turn, as its trace stores them.';

create function public.keep_run_trace() returns trigger
language plpgsql set search_path = '' as $$
begin
  insert into public.run_traces (turn_id, account_id, steps)
  select new.id, new.account_id, public.run_steps(new.id)
  where exists (select from public.turn_steps where turn_id = new.id)
  on conflict do nothing;
  return null;
end
$$;
comment on function public.keep_run_trace is 'Keeps the trace of a turn that ends, before its working rows are deleted.';
create trigger turns_keep_trace after update of finished_at on public.turns
for each row when (old.finished_at is null and new.finished_at is not null)
execute function public.keep_run_trace();

create function public.get_run_trace(p_account_id uuid, p_run_id text) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'run', public.run_with_usage(t) || jsonb_build_object(
      'output', t.output,
      'verdicts', public.verdicts_of_turn(t),
      'required_action', public.required_action_of(t),
      'prompt', (
        select left(public.words_of_parts(m.parts), 10000) from public.messages m
        where m.chat_id = t.chat_id and m.id = t.message_id and m.role = 'user')),
    'steps', coalesce(
      (select r.steps from public.run_traces r where r.turn_id = t.id),
      public.run_steps(t.id)))
  from public.turns t
  where t.run_id = p_run_id and t.account_id = p_account_id
$$;
comment on function public.get_run_trace is 'A run with its prompt and its output, and its trace, which is empty when it has expired: {run, steps}. Null when the account has no such run.';

create function public.get_model_call(
  p_account_id uuid, p_run_id text, p_index integer, p_tool_call_id text, p_subagent_index integer
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  v_turn public.turns;
  v_steps jsonb;
begin
  select * into v_turn from public.turns where run_id = p_run_id and account_id = p_account_id;
  if not found then
    return null;
  end if;
  if p_tool_call_id is null then
    select coalesce(jsonb_agg(s.result order by s.index), '[]') into v_steps
    from public.turn_steps s where s.turn_id = v_turn.id and s.index <= p_index;
  else
    -- A call is recorded by the next step, under its index.
    select coalesce(jsonb_agg(s.result order by s.index), '[]') into v_steps
    from public.subagent_steps s
    where s.turn_id = v_turn.id and s.index <= p_subagent_index
      and s.tool_call_id = (p_index + 1) || ' ' || p_tool_call_id;
  end if;
  return jsonb_build_object(
    'turn', public.turn_state(v_turn) || jsonb_build_object(
      'history', case when p_tool_call_id is null
        then coalesce(v_turn.history, public.past_history(v_turn)) else '[]' end,
      'steering', (
        select coalesce(jsonb_agg(jsonb_build_object('step', s.step, 'id', s.message_id,
          'parts', coalesce(s.parts, p.value -> 'parts', '[]')) order by s.step, s.position), '[]')
        from public.steering_messages s
        left join public.messages a
          on a.chat_id = s.chat_id and a.id = v_turn.assistant_message_id
        left join lateral jsonb_array_elements(a.parts) p
          on p.value ->> 'type' = 'steering-message' and p.value ->> 'id' = s.message_id
        where s.turn_id = v_turn.id)),
    'steps', v_steps,
    'summary', (
      select c.state #>> '{summary,text}' from public.compactions c
      where c.chat_id = v_turn.chat_id
        and c.id = (v_steps #>> '{-1,request,compaction}')::bigint),
    'instructions', (
      select call.value #>> '{input,instructions}'
      from public.turn_steps s, jsonb_array_elements(s.result -> 'calls') call
      where s.turn_id = v_turn.id and s.index = p_index and call.value ->> 'id' = p_tool_call_id
      limit 1),
    'steps_since', (
      select count(*) from public.turns t join public.turn_steps s on s.turn_id = t.id
      where t.chat_id = v_turn.chat_id and t.assistant_message_id = v_turn.assistant_message_id
        and t.finished_at is not null and t.created_at >= v_turn.created_at));
end
$$;
comment on function public.get_model_call is 'What the request of a model call of a run is put together from: {turn, steps until the call, summary of its compaction, instructions of its subagent, steps_since}. steps_since counts the steps that the stored message of the answer has of this turn and later ones. With p_tool_call_id a call of the subagent that this call of the step has started. Null when the account has no such run.';

create function public.past_history(p_turn public.turns) returns jsonb
language plpgsql stable set search_path = '' as $$
begin
  return (
    with recursive path as (
      select m.id, m.role, m.parts, m.facts, m.created_at, public.parent_of_message(m) as follows
      from public.messages m where m.chat_id = p_turn.chat_id and m.id = p_turn.message_id
      union all
      select m.id, m.role, m.parts, m.facts, m.created_at, public.parent_of_message(m)
      from path p join public.messages m on m.chat_id = p_turn.chat_id and m.id = p.follows
    )
    select coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'role', p.role, 'parts', p.parts, 'facts', p.facts)
      order by p.created_at, p.id), '[]')
    from path p);
end
$$;
comment on function public.past_history is 'The stored messages up to and with the one that a turn has answered, whichever path the chat shows now: [{id, role, parts, facts}].';

create function public.run_of_turn(p_turn_id uuid) returns text
language sql stable set search_path = '' as $$
  select t.run_id from public.turns t where t.id = p_turn_id
$$;
comment on function public.run_of_turn is 'The run that executes the turn; null before its first step has started.';
