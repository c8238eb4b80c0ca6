/** The requests for the lines of accounts, organizations and artists. */
import { randomUUID } from "node:crypto";
import {
  inviteTo,
  joinOrganization,
  makeArtist,
  makeOrganization,
} from "../support/fixtures/people.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import type { Ids, Row } from "./row.ts";

const nothing = async (): Promise<Ids> => ({});
const theOwner = async ({ id }: Person): Promise<Ids> => ({ accountId: id });
const anOrganization = async ({ withKey }: Person): Promise<Ids> => ({
  id: await makeOrganization(withKey),
});
const aMember = async ({ withKey }: Person): Promise<Ids> => {
  const id = await makeOrganization(withKey);
  const person = await createPerson();
  await joinOrganization(withKey, id, person);
  return { id, account_id: person.id };
};
const aSentInvitation = async ({ withKey }: Person): Promise<Ids> => {
  const id = await makeOrganization(withKey);
  return { id, invitation_id: await inviteTo(withKey, id, `${randomUUID()}@example.com`) };
};
const anArtistAccount = async ({ withKey }: Person): Promise<Ids> => ({
  account_id: await makeArtist(withKey),
});
/** Not under the name of the field that filters the list. */
const anArtistOfList = async ({ withKey }: Person): Promise<Ids> => ({
  artistId: await makeArtist(withKey),
});
const aReceivedInvitation = async ({ email }: Person): Promise<Ids> => {
  const { withKey } = await createPerson();
  return { id: await inviteTo(withKey, await makeOrganization(withKey), email) };
};

export const peopleRows: Readonly<Record<string, Row>> = {
  "GET /api/accounts/id": { arrange: theOwner },
  "GET /api/accounts/me": { arrange: theOwner },
  "PATCH /api/accounts/me": { arrange: theOwner, body: () => ({ name: "Ada" }) },
  // The owner's own address would leave the following lines without an owner.
  "DELETE /api/accounts/me": { arrange: nothing, body: () => ({ confirm: "not@example.com" }) },
  "GET /api/accounts/me/export": { arrange: theOwner },
  "POST /api/organizations": { arrange: nothing, body: () => ({ name: "Velvet Harbor" }) },
  "GET /api/organizations": { arrange: anOrganization, query: () => ({ limit: "100" }) },
  "GET /api/organizations/{id}": { arrange: anOrganization },
  "PATCH /api/organizations/{id}": { arrange: anOrganization, body: () => ({ name: "mine now" }) },
  "DELETE /api/organizations/{id}": { arrange: anOrganization },
  "GET /api/organizations/{id}/members": { arrange: aMember },
  "PATCH /api/organizations/{id}/members/{account_id}": {
    arrange: aMember,
    body: () => ({ role: "owner" }),
  },
  "DELETE /api/organizations/{id}/members/{account_id}": { arrange: aMember },
  "POST /api/organizations/{id}/invitations": {
    arrange: anOrganization,
    body: () => ({ email: `${randomUUID()}@example.com`, role: "member" }),
  },
  "GET /api/organizations/{id}/invitations": { arrange: aSentInvitation },
  "DELETE /api/organizations/{id}/invitations/{invitation_id}": { arrange: aSentInvitation },
  "GET /api/invitations": { arrange: aReceivedInvitation, query: () => ({ limit: "100" }) },
  "POST /api/invitations/{id}/accept": { arrange: aReceivedInvitation },
  "POST /api/invitations/{id}/decline": { arrange: aReceivedInvitation },
  "POST /api/artists": { arrange: nothing, body: () => ({ name: "Hana Mizuki Trio" }) },
  "POST /api/artists/example": { arrange: nothing },
  "GET /api/artists": { arrange: anArtistOfList, query: () => ({ limit: "100" }) },
  "GET /api/artists/{account_id}": { arrange: anArtistAccount },
  "PATCH /api/artists/{account_id}": { arrange: anArtistAccount, body: () => ({ name: "mine" }) },
  "DELETE /api/artists/{account_id}": { arrange: anArtistAccount },
};
