alter table public.task_triggers validate constraint task_triggers_kind;
