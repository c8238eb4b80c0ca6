-- The runs of an account that have loaded a skill.
drop index concurrently if exists public.turn_skills_by_account;
create index concurrently turn_skills_by_account on public.turn_skills (account_id, name, turn_id);
