alter table public.turns add column reserved_usd numeric not null default 0;
alter table public.turns add column reserved_until timestamptz;
comment on column public.turns.reserved_usd is
  'What the model calls in flight may cost, while the turn is active and until reserved_until.';
comment on column public.turns.reserved_until is
  'When the calls in flight have failed, because no model call takes as long.';
