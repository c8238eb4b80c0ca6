-- Servers of the version before sent one jsonb argument. Every server sends typed arguments now.

drop function public.claim_turn(jsonb);
drop function public.claim_turn_within(jsonb, integer);
drop function public.provision_run(jsonb);
drop function public.provision_run_within(jsonb, integer);
