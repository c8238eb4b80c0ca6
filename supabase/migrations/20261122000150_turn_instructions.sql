-- What a turn read of its chat's instructions when it started: a step that is repeated sees the same.

alter table public.turns add column instructions text;
comment on column public.turns.instructions is
  'The instructions of the chat when the turn started: the template''s prompt and the chat''s own text; null for none.';
