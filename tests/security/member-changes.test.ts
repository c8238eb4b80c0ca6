/**
 * Which members may change the role and the artists of a member, and remove it: owners, of everyone;
 * everyone else may only leave. Each kind of member asks over HTTP, for itself and for others.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { makeArtist, makeOrganization } from "../support/fixtures/people.ts";
import { sentenceOf } from "../support/fixtures/shapes.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

const callers = ["owner", "member", "limited", "viewer", "limited viewer", "stranger"] as const;
type Caller = (typeof callers)[number];
/** The others whom each caller tries to change. `second` is another owner, so `owner` is not the last. */
const others = ["second", "colleague"] as const;

const changes = {
  "role owner": { role: "owner" },
  "role member": { role: "member" },
  "role viewer": { role: "viewer" },
  "all artists": { artist_ids: "" },
  "its own artist": { artist_ids: ["mine"] },
  "another artist": { artist_ids: ["other"] },
  "both artists": { artist_ids: ["mine", "other"] },
  "no artists": { artist_ids: [] },
  "role viewer, all artists": { role: "viewer", artist_ids: "" },
  "role member, all artists": { role: "member", artist_ids: "" },
  "role owner, no artists": { role: "owner", artist_ids: [] },
} as const;
type Change = keyof typeof changes | "leave";

/** Whether each caller may: in the order of `callers`. */
const table: Readonly<Record<"itself" | "others", Readonly<Record<"change" | "leave", string>>>> = {
  itself: {
    change: "200 403 403 403 403 404",
    leave: "200 200 200 200 200 404",
  },
  others: {
    change: "200 403 403 403 403 404",
    leave: "200 403 403 403 403 404",
  },
};
const REFUSALS: Readonly<Record<number, string>> = {
  403: "Only an owner of the organization can do this",
  404: "Organization not found",
};

const people = {} as Record<Caller | (typeof others)[number], Person>;
let organization: string;
const artists = { mine: "", other: "" };
beforeAll(async () => {
  for (const name of [...callers, ...others]) people[name] = await createPerson();
  organization = await makeOrganization(people.owner.withKey);
  artists.mine = await makeArtist(people.owner.withKey, organization);
  artists.other = await makeArtist(people.owner.withKey, organization);
});

/** Puts all members back. */
async function restoreMembers(): Promise<void> {
  const mine = [artists.mine];
  const members = [
    { account_id: people.owner.id, role: "owner", artist_ids: null },
    { account_id: people.second.id, role: "owner", artist_ids: null },
    { account_id: people.colleague.id, role: "member", artist_ids: mine },
    { account_id: people.member.id, role: "member", artist_ids: null },
    { account_id: people.limited.id, role: "member", artist_ids: mine },
    { account_id: people.viewer.id, role: "viewer", artist_ids: null },
    { account_id: people["limited viewer"].id, role: "viewer", artist_ids: mine },
  ];
  await sql`insert into organization_accounts (organization_id, account_id, role, artist_ids)
    select ${organization}::uuid, account_id, role, artist_ids
    from jsonb_to_recordset(${sql.json(members)})
      as m (account_id uuid, role text, artist_ids uuid[])
    on conflict (organization_id, account_id)
      do update set role = excluded.role, artist_ids = excluded.artist_ids`;
}

const membersNow = () =>
  sql`select account_id, role, artist_ids from organization_accounts
    where organization_id = ${organization} order by account_id`;

async function attempt(caller: Caller, target: Person, change: Change) {
  const path = `/api/organizations/${organization}/members/${target.id}`;
  const { withKey } = people[caller];
  if (change === "leave") return withKey.delete(path);
  const { artist_ids, ...body } = { artist_ids: undefined, ...changes[change] };
  const ids = Array.isArray(artist_ids)
    ? artist_ids.map((name: keyof typeof artists) => artists[name])
    : artist_ids;
  return withKey.patch(path, { ...body, ...(ids !== undefined && { artist_ids: ids }) });
}

describe.each([...(Object.keys(changes) as Change[]), "leave" as const])("%s", (change) => {
  it.each(
    callers.flatMap((caller) => ["itself", ...others].map((whom) => [caller, whom] as const)),
  )("%s of %s", async (caller, whom) => {
    await restoreMembers();
    const before = await membersNow();
    const line = table[whom === "itself" ? "itself" : "others"];
    const expected = line[change === "leave" ? "leave" : "change"].split(" ");
    const status = Number(expected[callers.indexOf(caller)]);
    const target = whom === "itself" ? caller : (whom as (typeof others)[number]);
    const answer = await attempt(caller, people[target], change);
    expect(answer.status, answer.text).toBe(status);
    if (status === 200) return;
    expect(sentenceOf(answer)).toBe(REFUSALS[status]);
    expect(await membersNow()).toEqual(before);
  });
});

it("an owner stays one while it is the last", async () => {
  await restoreMembers();
  await sql`update organization_accounts set role = 'member'
    where organization_id = ${organization} and account_id = ${people.second.id}`;
  for (const change of ["role viewer", "role member, all artists", "leave"] as const) {
    expect((await attempt("owner", people.owner, change)).status, change).toBe(409);
  }
});
