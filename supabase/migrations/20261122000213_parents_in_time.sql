-- Messages without a parent are read as following the one before them in time. Storing their parents
-- with a chat's first branch wrote every message, and its words into the index of the search.

create or replace function public.show_path(p_chat_id uuid, p_message_id text, p_goes_on boolean)
returns void
language plpgsql volatile set search_path = '' as $$
declare
  v_parents jsonb;
  v_children jsonb;
  v_path text[] := '{}';
  v_id text := p_message_id;
begin
  -- Of several children the newest, because the last of equal keys stays.
  select jsonb_object_agg(m.id, m.follows),
    jsonb_object_agg(m.follows, m.id order by m.created_at, m.id)
  into v_parents, v_children
  from (
    select l.id, l.created_at,
      coalesce(l.parent_id, lag(l.id) over (order by l.created_at, l.id), '') as follows
    from public.messages l where l.chat_id = p_chat_id
  ) m;
  while v_id <> '' loop
    v_path := v_path || v_id;
    v_id := v_parents ->> v_id;
  end loop;
  v_id := case when p_goes_on then v_children ->> p_message_id end;
  while v_id is not null loop
    v_path := v_path || v_id;
    v_id := v_children ->> v_id;
  end loop;
  update public.messages m set on_path = not m.on_path
  where m.chat_id = p_chat_id and m.on_path <> (m.id in (select unnest(v_path)));
end
$$;

create or replace function public.conflict_of_parent(
  p_chat_id uuid, p_message_id text, p_parent_id text
) returns text
language sql stable set search_path = '' as $$
  select case
    when p_parent_id <> '' and not exists (
      select from public.messages m where m.chat_id = p_chat_id and m.id = p_parent_id)
    then 'parent_missing'
    when exists (
      select from public.messages m
      where m.chat_id = p_chat_id and m.id = p_message_id
        and p_parent_id <> coalesce(m.parent_id, (
          select b.id from public.messages b
          where b.chat_id = p_chat_id and (b.created_at, b.id) < (m.created_at, m.id)
          order by b.created_at desc, b.id desc
          limit 1), ''))
    then 'parent_differs' end
$$;

create or replace function public.branches_json(p_chat_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(
    jsonb_build_object('message_id', place.message_id, 'sibling_ids', place.sibling_ids)
    order by place.first_at, place.message_id), '[]')
  from (
    select max(m.id) filter (where m.on_path) as message_id,
      jsonb_agg(m.id order by m.created_at, m.id) as sibling_ids,
      min(m.created_at) as first_at
    from (
      select l.id, l.created_at, l.on_path,
        coalesce(l.parent_id, lag(l.id) over (order by l.created_at, l.id), '') as follows
      from public.messages l where l.chat_id = p_chat_id
    ) m
    group by m.follows
    having count(*) > 1
  ) place
  where place.message_id is not null
$$;

drop function public.link_messages(uuid);

comment on column public.messages.parent_id is
  'The id of the message that it follows; empty for one that begins the conversation. Null in what was stored without one: it follows the message before it in time.';
