-- Finds whether an account has made a video.
drop index concurrently if exists public.task_runs_made_videos;
create index concurrently task_runs_made_videos on public.task_runs (account_id)
  where task_identifier = 'generate-video' and status = 'COMPLETED';
