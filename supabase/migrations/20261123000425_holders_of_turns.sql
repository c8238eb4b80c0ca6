create trigger check_turn_holder before insert on public.turns
  for each row when (new.finished_at is null) execute function public.check_turn_holder();
