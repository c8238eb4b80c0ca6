-- Lists the runs of an account by artist.
drop index concurrently if exists public.turns_by_artist;
create index concurrently turns_by_artist on public.turns (account_id, artist_id, created_at desc, id desc)
  where artist_id is not null;
