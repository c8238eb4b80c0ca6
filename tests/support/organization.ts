import { type Client, client, createAccount, createPerson, link } from "./clients.ts";
import { createRunCredential } from "./run-credentials.ts";

/** Everybody whom `account_id` tells apart, around one artist of an organization. */
export interface Organization {
  readonly artistId: string;
  readonly member: Client;
  readonly memberId: string;
  /** Of the admin organization. */
  readonly admin: Client;
  readonly stranger: Client;
  readonly strangerId: string;
  /** The member's short-lived key of a run. */
  readonly run: Client;
}

export async function createOrganization(url?: string): Promise<Organization> {
  const [member, admin, stranger] = await Promise.all([
    createPerson(url),
    createPerson(url),
    createPerson(url),
  ]);
  const organization = await createAccount({ kind: "organization" });
  const artist = await createAccount({ kind: "artist" });
  const internal = await createAccount({ kind: "organization", isAdmin: true });
  await link(organization.id, member.id);
  await link(organization.id, artist.id);
  await link(internal.id, admin.id);
  const { raw } = await createRunCredential(member.id, "key");
  return {
    artistId: artist.id,
    member: member.withKey,
    memberId: member.id,
    admin: admin.withBearer,
    stranger: stranger.withKey,
    strangerId: stranger.id,
    run: client({ key: raw }, url),
  };
}
