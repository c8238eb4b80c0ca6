-- A key for whoever runs the service and asks for one by command: `npm run key`. The account of the
-- address is made on first sight.
create function public.create_key_of_email(
  p_email text, p_name text, p_hash text, p_prefix text
) returns uuid
language plpgsql volatile set search_path = '' as $$
declare
  account constant uuid := public.account_of_email(p_email);
begin
  insert into public.api_keys (account_id, name, hash, prefix)
  values (account, p_name, p_hash, p_prefix);
  return account;
end
$$;

comment on function public.create_key_of_email(text, text, text, text) is
  'Stores a new API key of an e-mail address, whose account is made on first sight.';
