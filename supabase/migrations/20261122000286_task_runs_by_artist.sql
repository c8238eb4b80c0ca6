-- Lists the task runs of an account by artist.
drop index concurrently if exists public.task_runs_by_artist;
create index concurrently task_runs_by_artist on public.task_runs (account_id, artist_id, created_at desc, id desc)
  where artist_id is not null;
