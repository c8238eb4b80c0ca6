-- Which entries of the usage have been summed.

alter table public.usage_entries
  add column is_summed boolean not null default false,
  add column is_continued boolean not null default false;
comment on column public.usage_entries.is_summed is 'Whether usage_days has it.';
comment on column public.usage_entries.is_continued is 'Whether entries of the same source have been summed for another day, kind, API key or artist, so the runs of these rows of usage_days cannot be added.';
