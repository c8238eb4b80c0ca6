-- Every table and every function says what it is for in the database itself, where every tool that
-- shows the schema finds it. supabase/tests/standards.test.ts fails when one does not.

-- Tables ---------------------------------------------------------------------------------------

comment on table public.accounts is
  'People, organizations, artists and workspaces: everything that can own rows or be acted for.';
comment on column public.accounts.is_admin is
  'True for the internal admin organization, whose members may act for every account.';
comment on column public.accounts.email is
  'In lower case. It identifies a person and is unique among personal accounts only.';

comment on table public.organization_accounts is
  'Membership of people in organizations, and links of artists and workspaces to them.';

comment on table public.api_keys is
  'API keys of accounts, and the credentials of running turns. Only an HMAC of a key is stored.';
comment on column public.api_keys.scope is
  'full for a key of an account; run for the credential of one turn, which ends with the turn.';
comment on column public.api_keys.run_id is
  'The durable run whose credential this is; null for every other key.';
comment on column public.api_keys.prefix is
  'The first characters of the key, by which its owner recognizes it.';
comment on column public.api_keys.revoked_at is
  'When the key ends or ended. A rotated key has a time in the future until its grace period ends.';

comment on table public.rate_limits is
  'Leaky buckets of requests, one for each caller. Unlogged: a crash forgets a minute of counting.';
comment on column public.rate_limits.empty_at is
  'When the bucket will be empty again, in seconds since 1970.';

comment on table public.sessions is
  'Sessions: the sandbox and the chats that belong together.';
comment on column public.sessions.sandbox_state is
  'What the sandbox provider needs to find the sandbox again; null when none is provisioned.';

comment on table public.chats is
  'Conversations of a session.';
comment on column public.chats.account_id is
  'The account of the session, repeated so that the tenant can stand in every predicate.';
comment on column public.chats.active_stream_id is
  'Null when idle, pending:<turn id> while a request claims the chat, then the run id of its turn.';
comment on column public.chats.claimed_at is
  'When the claim was made. A pending claim counts for 60 seconds.';

comment on table public.messages is
  'Stored messages of chats, in the order of created_at and id.';
comment on column public.messages.created_at is
  'From the clock and not from the start of the transaction, so that messages keep their order.';

comment on table public.turns is
  'Chat turns: one row from the claim on a chat to the end of the durable run that answers it.';
comment on column public.turns.id is
  'Chosen by the server before anything is written; it also addresses the stream of the turn.';
comment on column public.turns.message_id is
  'The message that is answered: the user''s, or the assistant''s whose question was answered.';
comment on column public.turns.assistant_message_id is
  'The message that the turn writes.';
comment on column public.turns.context_limit is
  'The greatest number of messages that the model is given; null for no limit of the caller''s.';
comment on column public.turns.history is
  'The conversation that the client sent in place of the stored one; null once the turn has ended.';
comment on column public.turns.key_id is
  'The credential that the sandbox of the turn calls back with.';
comment on column public.turns.effect_id is
  'By what a repeated request is recognized; null where a repetition is to be a turn of its own.';

comment on table public.turn_steps is
  'The results of the model calls of a running turn, in the form that the next call is given.';

comment on table public.tool_runs is
  'The tool calls of a running turn, recorded before they start and when they end.';
comment on column public.tool_runs.finished is
  'False with an unknown outcome when the process died: the call is not repeated.';

comment on table public.idempotency_keys is
  'Requests with an Idempotency-Key: who runs them now, and what a repetition is answered.';
comment on column public.idempotency_keys.key_hash is
  'HMAC of the key.';
comment on column public.idempotency_keys.fingerprint is
  'HMAC of the request that the key was first used with.';
comment on column public.idempotency_keys.effect_id is
  'The id under which every attempt does what the request asks for, so that it is done once.';
comment on column public.idempotency_keys.lease_until is
  'Until when the running attempt has the key; after that its process is taken for dead.';
comment on column public.idempotency_keys.response is
  'The encrypted response; null until an attempt has one to keep.';

comment on table public.signup_codes is
  'The current sign-up code of each e-mail address.';
comment on column public.signup_codes.code_hash is
  'HMAC of address and code; null once the code was used or withdrawn.';

comment on table public.connections is
  'Connections of accounts to third-party services, where no outside provider keeps them.';
comment on column public.connections.state_hash is
  'SHA-256 of the secret in the consent link; null once the connection is decided.';
comment on column public.connections.expires_at is
  'Until when a pending connection can be decided.';

comment on table public.agent_templates is
  'Prompts that accounts save for themselves, share by e-mail address, or publish.';
comment on column public.agent_templates.favorites_count is
  'Rows of agent_template_favorites for this template, kept by a trigger.';

comment on table public.agent_template_shares is
  'E-mail addresses that a private template is shared with; an address needs no account yet.';
comment on column public.agent_template_shares.template_created_at is
  'Copied from the template, where it never changes, so that one index serves the list.';

comment on table public.agent_template_favorites is
  'Which accounts have marked which templates as favorites.';

comment on table public.task_runs is
  'Runs of the embedded task runner, with a column for each field of the external one''s object.';
comment on column public.task_runs.lease_until is
  'Until when the process that works on the run has it; null when none does.';
comment on column public.task_runs.effect_id is
  'By what a repeated request is recognized: of the runs with one effect, one succeeds.';

comment on table public.content_templates is
  'Templates of content, the same for every account. supabase/seed.sql keeps them.';
comment on column public.content_templates.position is
  'The place in the list, counted from 1.';

comment on table public.catalog_artists is
  'Artists of the embedded catalog, which answers when no catalog service is configured.';
comment on column public.catalog_artists.folded is
  'The name without case, accents and punctuation; catalog_index fills it.';
comment on column public.catalog_artists.words is
  'What searches match; catalog_index fills it.';
comment on table public.catalog_albums is
  'Albums of the embedded catalog.';
comment on column public.catalog_albums.release_date is
  'As precise as it is known: YYYY, YYYY-MM or YYYY-MM-DD.';
comment on column public.catalog_albums.artists is
  'The main artists as JSON; catalog_index fills it.';
comment on table public.catalog_album_artists is
  'The artists of each album.';
comment on column public.catalog_album_artists.is_main is
  'False for an artist of single tracks only: the album is then in the group appears_on.';
comment on table public.catalog_tracks is
  'Tracks of the embedded catalog.';
comment on column public.catalog_tracks.artists is
  'The artists as JSON; catalog_index fills it.';
comment on table public.catalog_track_artists is
  'The artists of each track.';
comment on table public.catalog_others is
  'Playlists, shows, episodes and audiobooks of the embedded catalog.';
comment on column public.catalog_others.details is
  'The fields that only this kind of object has.';
comment on column public.catalog_others.markets is
  'The markets where it is available; null for all.';

-- Functions: accounts and credentials ------------------------------------------------------------

comment on function public.may_act_for is
  'Whether an account may act for another: itself, its organizations, accounts linked to one of its organizations, or any account for the admin organization.';
comment on function public.access_verdicts is
  'Whether the caller may use the account, organization and artist of a request; each is null when it was not asked for.';
comment on function public.take_from_bucket is
  'Counts one request in a bucket of p_per_minute: {limit, remaining, reset, retry_after} in seconds. retry_after is null when the request is admitted; a refused request does not count.';
comment on function public.is_bucket_full is
  'Whether take_from_bucket would refuse a request now. It counts and locks nothing.';
comment on function public.admit_account is
  'The second half of both ways of authentication: the rate limit of the account, then access_verdicts.';
comment on function public.account_of_email is
  'The personal account of an e-mail address, created on first use; two first uses at once create one.';
comment on function public.authenticate_email is
  'Authenticates a proved e-mail address: {outcome: limited | known, …}. A limit of 0 is none.';
comment on function public.authenticate_and_read is
  'authenticate_key or authenticate_email, together with one read of the caller''s own rows in the same round trip. It answers text, so that no lock is held while JSON is printed.';
comment on function public.read_for_account is
  'The reads that authenticate_and_read offers, by name. p_args is jsonb because each has its own arguments.';
comment on function public.rotate_key is
  'Replaces an API key; the old one holds for p_grace_seconds. PT404 when the account has no such key, PT409 when it was rotated before.';
comment on function public.take_signup_rate is
  'Counts a sign-up request of a network address; null where no limit applies.';
comment on function public.request_signup_code is
  'Stores a new sign-up code: {outcome: limited | silent | mail, rate}. The mail is to be sent for mail only.';
comment on function public.verify_signup_code is
  'Exchanges a sign-up code for an account and a key: {outcome: limited | dead | wrong | verified, …}. It never raises, because wrong tries must be kept.';

-- Functions: idempotency -------------------------------------------------------------------------

comment on function public.begin_idempotent is
  'Begins an attempt at a request: {outcome: begun (effect_id, attempt) | running | mismatch | done (response)}. A key is forgotten a day after its first use.';
comment on function public.extend_idempotent is
  'Extends the lease of an attempt; without effect for an attempt that was replaced.';
comment on function public.end_idempotent is
  'Ends an attempt with the response to keep; null leaves the key to the next attempt.';

-- Functions: sessions and chats ------------------------------------------------------------------

comment on function public.create_session is
  'Creates a session and its first chat: {session, chat}. The caller has checked that the artist may be used.';
comment on function public.list_sessions is
  'One page of the sessions of an account, newest first: {sessions, next}.';
comment on function public.get_session is
  'One session: {session}, or {missing: session}.';
comment on function public.update_session is
  'Changes the title of a session: {session}, or {missing: session}.';
comment on function public.delete_session is
  'Deletes a session: {session} as it was, with the state of a sandbox that is to be destroyed, or {missing: session}.';
comment on function public.set_sandbox_state is
  'Replaces the state of the sandbox if it still is p_expected: {stored, sandboxState}, or {missing: session}.';
comment on function public.create_chat is
  'Creates a chat: {chat}, {missing: session}, or {conflict: true} when another session has its id. Repeated with the same id, it answers the existing chat.';
comment on function public.list_chats is
  'One page of the chats of a session, newest first: {chats, next}, or {missing: session}.';
comment on function public.missing_of_chat is
  'Names what is missing when a chat was not found in a session: chat or session.';
comment on function public.get_chat is
  'One chat: {chat}, or {missing: chat | session}.';
comment on function public.update_chat is
  'Changes title and model of a chat, each unless null: {chat}, or {missing: chat | session}.';
comment on function public.delete_chat is
  'Deletes a chat: {chat} as it was, or {missing: chat | session}.';
comment on function public.get_chat_body is
  'A chat with its messages as the text of the response body, or the word chat or session for what is missing. The database prints it because a chat of 1,000 messages otherwise is parsed and printed again in every layer: the query takes about 10 ms, the rest several times that.';

-- Functions: turns -------------------------------------------------------------------------------

comment on function public.close_turn is
  'Ends a turn: revokes its credential and deletes its working rows.';
comment on function public.active_turn is
  'The turn that a chat is claimed by.';
comment on function public.claim_turn is
  'Claims a chat for a new turn and stores its user message, both or neither: {outcome: claimed | active | session_missing | chat_missing | sandbox_missing | id_taken | answer_stale, …}.';
comment on function public.abandon_turn is
  'Releases the claim of a turn whose run could not be started. The message stays.';
comment on function public.load_turn is
  'Turns a claim into the run''s and answers all that the run continues with, at its start and after each crash: {outcome: lost | finished | active, …}.';
comment on function public.start_tools is
  'Records tool calls before they start, and answers those that were recorded before, which must not run again: [{id, finished, output}].';
comment on function public.finish_tool is
  'Records the output of a tool call.';
comment on function public.complete_step is
  'Records the result of a model call: {stop_requested}.';
comment on function public.finish_turn is
  'Stores the assistant''s message, releases the claim and closes the turn: {finished}. It is safe to repeat.';
comment on function public.find_active_turn is
  'The turn that a chat is streaming: {outcome: active (turn_id, run_id) | idle | chat_missing}.';
comment on function public.request_stop is
  'Asks the active turn of a chat to stop; answers as find_active_turn.';
comment on function public.request_session_stop is
  'Asks every unfinished turn of a session to stop; answers their ids.';
comment on function public.close_unstarted_runs is
  'Closes headless turns whose request died before it started their run. Each call closes at most ten.';
comment on function public.provision_run is
  'Creates session, chat, messages, credential and turn of a headless run, or finds what an earlier attempt at the same effect created: {turn_id, session_id, chat_id, run_id}.';
comment on function public.discard_run is
  'Deletes what provision_run created, unless the run has started: {discarded}.';
comment on function public.assign_run is
  'Gives a turn its run; the first of two attempts wins: {run_id}, null when the turn is gone.';
comment on function public.get_run is
  'A turn as the run that its account sees: {missing: false, turnId, run}, or {missing: true}.';
comment on function public.drop_key_of_turn is
  'Trigger: the credential of a turn goes with the turn.';

-- Functions: connections -------------------------------------------------------------------------

comment on function public.start_connection is
  'Creates a pending connection and deletes earlier attempts that came to nothing; answers its id.';
comment on function public.pending_connection is
  'What a consent link asks for: {connector, callback_url, account}; null when it cannot be decided.';
comment on function public.decide_connection is
  'Decides a pending connection, once: {connector, callback_url}; null for every later call.';

-- Functions: agent templates ---------------------------------------------------------------------

comment on function public.count_agent_template_favorite is
  'Trigger: keeps favorites_count, also when the deletion of an account takes its favorites along.';
comment on function public.can_see_agent_template is
  'Whether an account sees a template: its own, a public one, or one that is shared with its address.';
comment on function public.agent_templates_json is
  'Templates as an account sees them, newest first: only the owner sees the shared addresses.';
comment on function public.found_agent_template is
  'The answer {template} of a function that has found its template.';
comment on function public.share_agent_template is
  'Replaces the addresses that a template is shared with; a public template has none.';
comment on function public.create_agent_template is
  'Creates a template: {template}. Repeated with the same id, it answers the existing one.';
comment on function public.list_agent_templates is
  'One page of the templates that an account sees, newest first: {templates, next}. Own, public and shared templates each come from their own index, so the cost of a page does not grow with the table.';
comment on function public.get_agent_template is
  'One template: {template}, or {refused: missing}.';
comment on function public.refuse_agent_template is
  'Why an account may not change a template: {refused: missing | not_owner}.';
comment on function public.update_agent_template is
  'Changes a template, each field unless null: {template}, or {refused: missing | not_owner}.';
comment on function public.delete_agent_template is
  'Deletes a template: {deleted: true}, or {refused: missing | not_owner}.';
comment on function public.set_agent_template_favorite is
  'Marks a template as a favorite, or no longer: {template}, or {refused: missing}.';

-- Functions: task runs ---------------------------------------------------------------------------

comment on function public.renew_task_leases is
  'Extends the leases of runs that a process works on.';
comment on function public.note_task_progress is
  'Merges metadata into a run that is under way.';
comment on function public.crash_lost_task_runs is
  'Ends the runs of an account whose process no longer renews their lease, as CRASHED.';
comment on function public.list_task_runs is
  'The runs of an account, newest first, without output and error.';
comment on function public.get_task_run is
  'One run of an account; null when the account has no such run.';

-- Functions: catalog -----------------------------------------------------------------------------

comment on function public.catalog_fold is
  'A text without case, accents and punctuation.';
comment on function public.catalog_words is
  'The text of a tsquery in which every word is the beginning of a word of that weight; null without words. Weights: A own name, B artists, C album, D genres.';
comment on function public.catalog_index is
  'Fills the columns that searches read. It is to be called after catalog rows have changed.';
comment on function public.catalog_total is
  'The number of hits where a page tells it, as the last page does; null when they must be counted.';
comment on function public.catalog_search is
  'One page of each kind that is asked for: {artists: {total, items}, …}. p_fields stays jsonb: it holds only the filters of the request, and which are there decides.';
comment on function public.catalog_artist_albums is
  'One page of an artist''s albums by group, newest first: {total, items}; null for an unknown artist.';
comment on function public.catalog_research is
  'All tracks of an artist, found by id or by name, most popular first; null for an unknown artist.';

-- Search paths -----------------------------------------------------------------------------------

-- PostgreSQL cannot inline these, so that a search path of their own costs nothing.
alter function public.active_turn set search_path = '';
alter function public.can_see_agent_template set search_path = '';
alter function public.found_agent_template set search_path = '';
alter function public.catalog_total set search_path = '';

-- The others are written into the queries that call them, which a search path of their own would
-- prevent. Every function that calls them has an empty search path, and every name in them is
-- qualified.
comment on function public.iso_date is
  'A time as the API prints it: ISO 8601 in UTC with milliseconds. No search_path, so that it is inlined.';
comment on function public.page_cursor is
  'The place of a row in a newest-first list, with microseconds. No search_path, so that it is inlined.';
comment on function public.active_stream_id is
  'The run or claim that a chat streams; null for a claim that is void. No search_path, so that it is inlined.';
comment on function public.session_json is
  'A session in the shape of the API, with the raw sandbox state. No search_path, so that it is inlined.';
comment on function public.chat_json is
  'A chat in the shape of the API. No search_path, so that it is inlined.';
comment on function public.task_run_json is
  'A task run without output and error, as the external task service answers it. No search_path, so that it is inlined.';
comment on function public.catalog_artist_json is
  'An artist in the shape of the catalog service. No search_path, so that it is inlined.';
comment on function public.catalog_album_json is
  'An album in the shape of the catalog service. No search_path, so that it is inlined.';
comment on function public.catalog_track_json is
  'A track in the shape of the catalog service. No search_path, so that it is inlined.';
comment on function public.catalog_other_json is
  'A playlist, show, episode or audiobook in the shape of the catalog service. No search_path, so that it is inlined.';
comment on function public.catalog_found_albums is
  'The albums that a search finds, unsorted. No search_path, so that it is inlined.';
comment on function public.catalog_found_tracks is
  'The tracks that a search finds, unsorted. No search_path, so that it is inlined.';
