-- Takes the tables of a database with the newest migration before the baseline to the baseline: see
-- scripts/embedded/upgrade-to-baseline.ts.

drop function public.set_turn_client_tools(uuid, uuid, text);
drop function public.set_turn_deliver(uuid, uuid, jsonb, integer);
drop function public.set_turn_output_schema(uuid, uuid, text);
drop function public.set_turn_webhook(uuid, uuid, text);
