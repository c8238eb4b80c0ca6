-- Invitations of viewers.

alter table public.organization_invitations drop constraint organization_invitations_role_check;
alter table public.organization_invitations add constraint organization_invitations_role_check
  check (role in ('owner', 'member', 'viewer')) not valid;
