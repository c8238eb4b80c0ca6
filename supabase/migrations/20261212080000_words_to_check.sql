-- Whose words the retention job has to look for.

alter table public.message_usage add column checked_words_to bigint;
comment on column public.message_usage.checked_words_to is 'Up to which id of account_words the retention job has looked for words that are no longer used, 0 since a message or title was last changed or deleted; null when there is nothing to look for.';
