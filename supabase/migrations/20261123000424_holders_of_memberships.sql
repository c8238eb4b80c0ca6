create trigger withdraw_invitations_of_removed after delete on public.organization_accounts
  for each row execute function public.withdraw_invitations_of_inviter();
create trigger withdraw_invitations_of_demoted after update of role on public.organization_accounts
  for each row when (old.role = 'owner' and new.role <> 'owner')
  execute function public.withdraw_invitations_of_inviter();
create trigger stop_turns_without_artist after delete on public.organization_accounts
  for each row execute function public.stop_turns_without_artist();
