-- The record label of an artist.
alter table public.accounts add column label text;
comment on column public.accounts.label is
  'The record label of an artist, as text; null for accounts of other kinds.';
