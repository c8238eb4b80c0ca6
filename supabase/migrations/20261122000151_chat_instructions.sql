-- Instructions of a chat: a text of the account's own, and an agent template.

alter table public.chats
  add column instructions text,
  add column template_id uuid;
comment on column public.chats.instructions is
  'The account''s instructions to the agent in this chat; null for none.';
comment on column public.chats.template_id is
  'The agent template whose prompt instructs the agent in this chat. No foreign key, because the deletion of a public template would lock the chats of every account that uses it: a template that is gone, or that the account no longer sees, has no effect.';
