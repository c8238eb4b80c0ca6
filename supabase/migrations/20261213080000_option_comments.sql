comment on column public.chats.options is 'The options of its turns, as of `runOptions`. Those that are absent are the template''s.';
comment on column public.agent_templates.options is 'The options of turns in chats with the template, as of `runOptions`.';
comment on column public.scheduled_prompts.options is 'The options of the runs, as of `runOptions`, with deliver and ends_at. Those that are absent are the template''s.';
