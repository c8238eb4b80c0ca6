-- The messages of a chat are a tree: an edited message and a repeated answer stand beside the earlier
-- ones. What the chat shows, and a model is sent, is one path through it, in the order of time, because
-- a message is younger than its parent: a chat without branches is read as before.

alter table public.messages
  add column parent_id text,
  add column on_path boolean not null default true;
comment on column public.messages.parent_id is
  'The id of the message that it follows; empty for one that begins the conversation. Null, until the chat gets its first branch, in what was stored without one: it follows the message before it in time.';
comment on column public.messages.on_path is
  'Whether it is on the path that the chat shows. The newest message on the path is its leaf.';
