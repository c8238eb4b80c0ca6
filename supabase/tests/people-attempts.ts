/** Attempts of isolation.test.ts at the functions of organizations, invitations and artists. */
import type { Rows } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

export type Attempt = (transaction: Transaction, account: string, rows: Rows) => Promise<unknown>;

const page = { limit: 10, after_at: null, after_id: null };

export const peopleAttempts: Readonly<Record<string, Attempt>> = {
  organization_role: (t, account_id, { organization: organization_id }) =>
    t.call("organization_role", { account_id, organization_id }),
  lock_organization: (t, account_id, { organization: organization_id }) =>
    t.call("lock_organization", { account_id, organization_id }),
  found_organization: (t, account_id, { organization: organization_id }) =>
    t.call("found_organization", { account_id, organization_id }),
  delete_organization: (t, account_id, { organization: organization_id }) =>
    t.call("delete_organization", { account_id, organization_id }),
  update_organization: (t, account_id, { organization: organization_id }) =>
    t.call("update_organization", {
      account_id,
      organization_id,
      name: "taken",
      image: null,
      clear_image: false,
    }),
  list_organization_members: (t, account_id, { organization: organization_id }) =>
    t.call("list_organization_members", { account_id, organization_id, ...page }),
  refuse_member_change: (t, account_id, { organization: organization_id }) =>
    t.call("refuse_member_change", {
      account_id,
      organization_id,
      member_id: account_id,
      loses_owner: true,
    }),
  set_organization_role: (t, account_id, { organization: organization_id }) =>
    t.call("set_organization_role", {
      account_id,
      organization_id,
      member_id: account_id,
      role: "owner",
    }),
  remove_organization_member: (t, account_id, { organization: organization_id }) =>
    t.call("remove_organization_member", { account_id, organization_id, member_id: account_id }),
  refuse_invitation: (t, account_id, { organization: organization_id }) =>
    t.call("refuse_invitation", {
      account_id,
      organization_id,
      email: "b@example.com",
      max_pending: 9,
      max_a_day: 9,
    }),
  create_invitation: (t, account_id, { organization: organization_id }) =>
    t.call("create_invitation", {
      account_id,
      organization_id,
      email: "b@example.com",
      role: "owner",
      valid_days: 7,
      max_pending: 9,
      max_a_day: 9,
      max_mails_a_day: 9,
    }),
  list_organization_invitations: (t, account_id, { organization: organization_id }) =>
    t.call("list_organization_invitations", { account_id, organization_id, ...page }),
  withdraw_invitation: (t, account_id, { organization: organization_id, sentInvitation: id }) =>
    t.call("withdraw_invitation", { account_id, organization_id, id }),
  create_artist: (t, account_id, { organization: organization_id }) =>
    t.call("create_artist", {
      account_id,
      name: "new",
      label: null,
      image: null,
      catalog_artist_id: null,
      organization_id,
      max: 9,
    }),
  get_artist: (t, account_id, { artist: id }) => t.call("get_artist", { account_id, id }),
  update_artist: (t, account_id, { artist: id }) =>
    t.call("update_artist", {
      account_id,
      id,
      name: "taken",
      label: null,
      image: null,
      catalog_artist_id: null,
      clear: [],
    }),
  delete_artist: (t, account_id, { artist: id }) => t.call("delete_artist", { account_id, id }),
  take_invitation: async (t, account_id, { receivedInvitation: id }) => {
    await t.call("take_invitation", { account_id, id, status: "declined" });
    const [row] = await t.sql`select status from organization_invitations where id = ${id}`;
    return row?.status === "declined";
  },
  decline_invitation: (t, account_id, { receivedInvitation: id }) =>
    t.call("decline_invitation", { account_id, id }),
  accept_invitation: (t, account_id, { receivedInvitation: id }) =>
    t.call("accept_invitation", { account_id, id, max_organizations: 9, max_members: 9 }),
};
