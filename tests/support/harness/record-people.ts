/** Records the examples of accounts, organizations, invitations and artists. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Placeholders } from "../fixtures/placeholders.ts";
import { type Client, client } from "./clients.ts";
import { type Context, withId } from "./example-recorder.ts";
import { codeSentTo } from "./mailbox.ts";

interface Friend {
  readonly client: Client;
  readonly email: string;
}

/** A second account, whose requests to sign up are not recorded. */
async function joinedAccount(
  anonymous: Client,
  placeholders: Placeholders,
  dataDir: string,
): Promise<Friend> {
  const email = `${randomUUID()}@example.com`;
  placeholders.replaceText(email, "grace@example.com");
  await anonymous.post("/api/agents/signup", { email });
  const code = await codeSentTo(email, dataDir);
  const { body } = await anonymous.post("/api/agents/verify", { email, code });
  const { api_key: key } = z.object({ api_key: z.string() }).parse(body);
  return { client: client({ key }, anonymous.url), email };
}

/** @param dataDir of the server, with its mailbox */
export async function recordPeople(
  { record, recorder, anonymous }: Context,
  placeholders: Placeholders,
  dataDir: string,
) {
  const friend = await joinedAccount(anonymous, placeholders, dataDir);
  await record("getAccountId");
  await record("updateAccount", { body: { name: "Ada Marin", monthly_budget_usd: 50 } });
  const name = "Velvet Harbor Records";
  const made = z.object({ organization: z.object({ organization_id: z.string() }) });
  const { organization } = await record("createOrganization", { body: { name } }, { schema: made });
  const params = { id: organization.organization_id };
  await record("getAccount");
  await record("exportAccount");
  await record("listOrganizations", { query: { limit: "10" } });
  await record("getOrganization", { params });
  await record("updateOrganization", { params, body: { name: "Velvet Harbor" } });

  const invitation = { params, body: { email: friend.email, role: "member" } };
  const schema = z.object({ invitation: withId });
  const declined = await record("createInvitation", invitation, { schema });
  const decline = { params: { id: declined.invitation.id } };
  await recorder.ask(friend.client, "listInvitations", { query: { limit: "10" } });
  await recorder.ask(friend.client, "declineInvitation", decline);
  const withdrawn = await record("createInvitation", invitation, { schema });
  await record("listSentInvitations", { params });
  const invitation_id = withdrawn.invitation.id;
  await record("withdrawInvitation", { params: { ...params, invitation_id } });
  const { invitation: accepted } = await record("createInvitation", invitation, { schema });
  await recorder.ask(friend.client, "acceptInvitation", { params: { id: accepted.id } });

  const listed = z.object({ members: z.array(z.object({ account_id: z.string() })) });
  const { members } = await record("listMembers", { params }, { schema: listed });
  const member = { params: { ...params, account_id: members[0]?.account_id ?? "" } };
  await record("updateMember", { ...member, body: { role: "owner" } });
  await record("removeMember", member);
  await recordArtists(record, params.id);
  await record("deleteOrganization", { params });
  await recorder.ask(friend.client, "deleteAccount", { body: { confirm: friend.email } });
}

async function recordArtists(record: Context["record"], organization_id: string) {
  const body = { name: "Hana Mizuki Trio", label: "Velvet Harbor", organization_id };
  const made = z.object({ artist: z.object({ account_id: z.string() }) });
  const { artist } = await record("createArtist", { body }, { schema: made });
  await record("loadExample");
  const params = { account_id: artist.account_id };
  await record("listArtists", { query: { limit: "10" } });
  await record("getArtist", { params });
  await record("updateArtist", { params, body: { label: null } });
  await record("deleteArtist", { params });
}
