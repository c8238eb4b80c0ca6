-- How many turns of one account may be active at a time. The claims of an account are counted one after
-- the other, in the transaction that makes them, so that requests at several instances at once cannot
-- pass the limit together.

create index turns_unfinished on public.turns (account_id) where finished_at is null;

create function public.count_active_turns(p_account_id uuid) returns bigint
language sql stable set search_path = '' as $$
  select count(*) from public.turns
  where account_id = p_account_id and finished_at is null
    -- A claim whose request died before it started a run is void after this time.
    and (run_id is not null
      or created_at > now() - case when headless then interval '10 minutes' else interval '60 seconds' end)
$$;

comment on function public.count_active_turns is
  'The turns of an account that are queued or running, without claims that never became a run.';

-- As claim_turn, which it calls; also answers {outcome: too_many_turns}, and has then changed nothing.
-- A limit of 0 is none.
create function public.claim_turn_within(p jsonb, p_max_active integer) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_answer jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended(p ->> 'account_id', 20261163));
  begin
    v_answer := public.claim_turn(p);
    if p_max_active > 0 and v_answer ->> 'outcome' = 'claimed'
      and public.count_active_turns((p ->> 'account_id')::uuid) > p_max_active then
      raise exception using errcode = 'PT429', message = 'Too many active turns';
    end if;
  exception when sqlstate 'PT429' then
    return jsonb_build_object('outcome', 'too_many_turns');
  end;
  return v_answer;
end
$$;

comment on function public.claim_turn_within is
  'claim_turn, unless the account would then have more active turns than it may.';

-- As provision_run, which it calls; null when the account has as many active turns as it may, and has
-- then changed nothing. What an earlier attempt at the same effect made is answered in any case.
create function public.provision_run_within(p jsonb, p_max_active integer) returns jsonb
language plpgsql set search_path = '' as $$
declare
  v_answer jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended(p ->> 'account_id', 20261163));
  begin
    v_answer := public.provision_run(p);
    if p_max_active > 0 and v_answer ->> 'turn_id' = p ->> 'turn_id'
      and public.count_active_turns((p ->> 'account_id')::uuid) > p_max_active then
      raise exception using errcode = 'PT429', message = 'Too many active turns';
    end if;
  exception when sqlstate 'PT429' then
    return null;
  end;
  return v_answer;
end
$$;

comment on function public.provision_run_within is
  'provision_run, unless the account would then have more active turns than it may.';
