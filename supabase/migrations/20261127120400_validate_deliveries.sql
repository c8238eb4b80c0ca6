alter table public.deliveries validate constraint deliveries_kind_check;
