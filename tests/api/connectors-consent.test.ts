/** The consent pages of the embedded provider. */
import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { makeArtist } from "../support/fixtures/people.ts";
import { createPerson } from "../support/harness/clients.ts";
import { authorize, statesOf } from "../support/harness/connections.ts";
import { decide, openConsent } from "../support/harness/consent.ts";
import { sql, stack } from "../support/harness/stack.ts";

async function begin(callback_url = "https://app.example.com/back") {
  const person = await createPerson();
  const link = await authorize(person.withKey, { connector: "gmail", callback_url });
  return { ...person, link };
}

describe("the page", () => {
  it("says who asks for what, runs nothing, loads nothing and is in nobody's frame", async () => {
    const { email, link } = await begin();
    const response = await fetch(link);
    const html = await response.text();
    expect(response.status).toBe(200);
    expect(html).toContain("Connect Gmail?");
    expect(html).toContain(email);
    expect(html).not.toMatch(/<script|<link|<img|\son\w+=|style=/i);
    const policy = response.headers.get("content-security-policy")?.split("; ");
    expect(policy).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^style-src 'sha256-[A-Za-z0-9+/=]{44}'$/),
      "form-action 'self' https://app.example.com",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(response.headers.get("x-frame-options")).toBe("DENY");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("referrer-policy")).toBe("same-origin");
    expect(response.headers.get("set-cookie")).toMatch(/; HttpOnly; SameSite=Strict/);
  });

  it("shows the address behind a name, and the host to which the choice leads", async () => {
    const { id, email, link } = await begin(
      "https://evil.example:8443/back?x=https://bank.example",
    );
    await sql`update accounts set name = ${"bank.example\u202e"} where id = ${id}`;
    const html = await (await fetch(link)).text();
    expect(html).toContain(
      `<strong><bdi>bank.example\\u202e</bdi></strong> <strong>(${email})</strong> wants to connect Gmail`,
    );
    expect(html).toContain("After your choice you go to <strong>evil.example:8443</strong>.");
  });

  it("shows the address of the person who acts for an artist, which has none", async () => {
    const person = await createPerson();
    const account_id = await makeArtist(person.withKey, undefined, "ada@bank.example");
    const body = { connector: "gmail", callback_url: "https://app.example.com", account_id };
    const html = await (await fetch(await authorize(person.withKey, body))).text();
    expect(html).toContain("<bdi>ada@bank.example</bdi>");
    expect(html).toContain(`(${person.email})`);
  });

  it("shows a hostile account name as text", async () => {
    const { id, link } = await begin();
    await sql`update accounts set name = ${`"><script>alert('1')</script>&amp;`} where id = ${id}`;
    const html = await (await fetch(link)).text();
    expect(html).not.toContain("<script");
    expect(html).toContain(
      "&#34;&#62;&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;&#38;amp;",
    );
  });

  it("can be opened twice, in two tabs of a browser, and answered in either", async () => {
    const { withKey, link } = await begin();
    const first = await openConsent(link);
    await openConsent(link, first.cookie);
    expect((await decide(first, "allow")).status).toBe(303);
    expect(await statesOf(withKey)).toEqual(["gmail active"]);
  });

  it("410: an unknown, a missing and an expired link look the same", async () => {
    const { id, link } = await begin();
    await sql`update connections set expires_at = now() where account_id = ${id}`;
    const pages = await Promise.all(
      [
        link,
        `${stack.url}/connectors/consent?state=${"x".repeat(43)}`,
        `${stack.url}/connectors/consent?state=%00%ff`,
        `${stack.url}/connectors/consent`,
      ].map(async (url) => {
        const response = await fetch(url);
        expect(response.status).toBe(410);
        expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
        return response.text();
      }),
    );
    expect(new Set(pages).size).toBe(1);
  });
});

describe("a decision", () => {
  it("303: allowed, it is active; refused, it has failed; both lead to the callback", async () => {
    for (const [decision, status, state] of [
      ["allow", "success", "gmail active"],
      ["refuse", "failed", "gmail failed"],
    ] as const) {
      const { withKey, link } = await begin("https://app.example.com/back?a=1&status=old#end");
      const answer = await decide(await openConsent(link), decision);
      expect(answer.status).toBe(303);
      expect(answer.location).toBe(
        `https://app.example.com/back?a=1&status=${status}&connector=gmail#end`,
      );
      expect(await statesOf(withKey)).toEqual([state]);
    }
  });

  it("counts once in any race, and the first outcome stays", async () => {
    const { withKey, link } = await begin();
    const form = await openConsent(link);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => decide(form, index % 2 ? "allow" : "refuse")),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(19);
    const won = answers.find(({ status }) => status === 303)?.location ?? "";
    const state = won.includes("status=success") ? "gmail active" : "gmail failed";
    expect(await statesOf(withKey)).toEqual([state]);
    expect((await fetch(link)).status).toBe(410);
  });

  it("leaves one working connection when several links of an account are allowed at once", async () => {
    const { id, withKey } = await createPerson();
    const forms = await Promise.all(
      Array.from({ length: 8 }, async () =>
        openConsent(await authorize(withKey, { connector: "gmail" })),
      ),
    );
    const answers = await Promise.all(forms.map((form) => decide(form, "allow")));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(303));
    expect(await sql`select status from connections where account_id = ${id}`).toHaveLength(1);
    expect(await statesOf(withKey)).toEqual(["gmail active"]);
  });

  it("410: after the link has expired", async () => {
    const { id, withKey, link } = await begin();
    const form = await openConsent(link);
    await sql`update connections set expires_at = now() where account_id = ${id}`;
    expect((await decide(form, "allow")).status).toBe(410);
    expect(await statesOf(withKey)).toEqual(["gmail expired"]);
  });

  it("403: from anywhere but the page in the same browser, and nothing is decided", async () => {
    const { withKey, link } = await begin();
    const form = await openConsent(link);
    const other = await openConsent(link);
    const forged = [
      decide({ ...form, cookie: "" }, "allow"),
      decide({ ...form, cookie: other.cookie }, "allow"),
      decide({ ...form, cookie: "connector_consent=x" }, "allow"),
      decide({ ...form, fields: { ...form.fields, token: "" } }, "allow"),
      decide({ ...form, fields: { ...form.fields, token: other.fields.token } }, "allow"),
      decide(form, "allow", { origin: "https://evil.example" }),
      decide(form, "allow", { origin: "null" }),
      decide(form, "allow", { "sec-fetch-site": "cross-site" }),
      decide(form, "allow", { "sec-fetch-site": "same-site" }),
      decide(form, "perhaps"),
      decide({ ...form, fields: { ...form.fields, state: "x".repeat(5000) } }, "allow"),
    ];
    for (const answer of await Promise.all(forged)) {
      expect(answer.status).toBe(403);
      expect(answer.location).toBe("");
    }
    expect(await statesOf(withKey)).toEqual(["gmail pending"]);
    expect((await decide(form, "allow")).status).toBe(303);
  });

  it("403: a body of unknown length is not read", async () => {
    const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
      const request = httpRequest(`${stack.url}/connectors/consent`, { method: "POST" });
      request.on("response", (response) => {
        response.resume();
        resolve({ status: response.statusCode });
      });
      request.on("error", reject);
      request.write("state=");
      request.end("x");
    });
    expect(status).toBe(403);
  });
});
