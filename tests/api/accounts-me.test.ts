import { describe, expect, test } from "vitest";
import { joinOrganization, makeOrganization } from "../support/fixtures/people.ts";
import { client, createPerson } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";

const PATH = "/api/accounts/me";

describe("GET /api/accounts/me 200", () => {
  test("is the account, its organizations with the role in each, and the credential", async () => {
    const [person, other] = await Promise.all([createPerson(), createPerson()]);
    const own = await makeOrganization(person.withKey, "Own");
    const others = await makeOrganization(other.withKey, "Other");
    await joinOrganization(other.withKey, others, person);
    const { status, body } = await person.withKey.get(PATH);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: "success",
      account: {
        id: person.id,
        kind: "personal",
        email: person.email,
        name: null,
        image: null,
        monthly_budget_usd: null,
        allow_unpriced_models: false,
        approvals: {},
        network: null,
        auto_accept_memory: false,
        mail_when_waiting: false,
        timezone: null,
        created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      },
      organizations: [
        { organization_id: others, organization_name: "Other", role: "member" },
        { organization_id: own, organization_name: "Own", role: "owner" },
      ],
      credential: { type: "api_key", scope: "full" },
    });
  });

  test("says which credential was sent", async () => {
    const { id, key: ownKey, withBearer } = await createPerson();
    const [key, bearer] = await Promise.all([
      createRunCredential(id, "key"),
      createRunCredential(id, "bearer"),
    ]);
    const callers = [
      withBearer,
      client({ bearer: ownKey }),
      client({ key: key.raw }),
      client({ bearer: bearer.raw }),
    ];
    const answers = await Promise.all(callers.map((caller) => caller.get(PATH)));
    expect(answers.map(({ body }) => body)).toMatchObject([
      { credential: { type: "bearer", scope: "full" } },
      { credential: { type: "api_key", scope: "full" } },
      { credential: { type: "api_key", scope: "run" } },
      { credential: { type: "bearer", scope: "run" } },
    ]);
  });
});

describe("PATCH /api/accounts/me 200", () => {
  test("changes the given fields, keeps the rest, and null clears image, budget and time zone", async () => {
    const { withKey } = await createPerson();
    const image = "https://example.com/ada.png";
    const timezone = "Europe/Berlin";
    const consents = {
      ...{ allow_unpriced_models: true, auto_accept_memory: true },
      mail_when_waiting: true,
    };
    const budget = { monthly_budget_usd: 12.34, ...consents };
    const first = { name: "Ada", image, ...budget, timezone };
    expect((await withKey.patch(PATH, first)).body).toMatchObject({ account: first });
    const { body } = await withKey.patch(PATH, { name: " Ada Marin ", monthly_budget_usd: 0 });
    expect(body).toMatchObject({
      account: { name: "Ada Marin", image, ...budget, monthly_budget_usd: 0, timezone },
    });
    const cleared = await withKey.patch(PATH, {
      name: null,
      image: null,
      monthly_budget_usd: null,
      timezone: null,
    });
    expect(cleared.body).toMatchObject({
      account: { name: "Ada Marin", image: null, monthly_budget_usd: null, timezone: null },
    });
    expect((await withKey.get(PATH)).body).toEqual(cleared.body);
  });
});
