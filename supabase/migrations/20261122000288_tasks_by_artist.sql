-- Finds the scheduled prompts of an artist that is deleted.
drop index concurrently if exists public.scheduled_prompts_artist;
create index concurrently scheduled_prompts_artist on public.scheduled_prompts (artist_id) where artist_id is not null;
