/** OAuth with MCP servers: who can complete an authorization, and how tokens are kept and refreshed. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type FakeMcp, startFakeMcp, toolNamed } from "../support/fakes/mcp.ts";
import { approve } from "../support/fakes/mcp-oauth.ts";
import { serverOf } from "../support/fixtures/mcp-servers.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";
import { sql, stack } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

let fake: FakeMcp;
let owner: Person;
beforeAll(async () => {
  [fake, owner] = await Promise.all([startFakeMcp(), createPerson()]);
  fake.state.tools = [toolNamed("get_track")];
});
afterAll(() => fake.close());

const basicOf = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;

const COMPLETE = "/api/mcp-servers/authorizations";

async function add(person = owner, auth: object = { type: "oauth" }) {
  const name = `s-${randomUUID().slice(0, 8)}`;
  const body = { name, url: `${fake.origin}/oauth/mcp`, auth };
  const server = serverOf(await person.withKey.post("/api/mcp-servers", body));
  return { server, path: `/api/mcp-servers/${server.id}` };
}

/** Starts an authorization, and returns what leads back. */
async function authorize(path: string, person = owner) {
  const started = await person.withKey.post(`${path}/authorize`);
  expect(started.status, started.text).toBe(200);
  const { url } = z.object({ url: z.string() }).parse(started.body);
  return { url: new URL(url), back: approve(fake.state, url) };
}

async function connect(person = owner) {
  const { path } = await add(person);
  const { back } = await authorize(path, person);
  const connected = serverOf(await person.withKey.post(COMPLETE, back));
  for (const token of [...fake.state.oauth.accessTokens, ...fake.state.oauth.refreshTokens]) {
    registerSecret(token, "token of an MCP server");
  }
  return { path, back, connected };
}

it("is completed once, by the account that has started it", async () => {
  const { server, path } = await add();
  expect(server).toMatchObject({
    auth: { type: "oauth", is_connected: false },
    refresh_error: "The server is not connected: connect it in the console",
  });
  const { url, back } = await authorize(path);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    resource: `${fake.origin}/oauth/mcp`,
    redirect_uri: `${stack.url}/settings/mcp-servers`,
  });
  const stranger = await createPerson();
  expect((await stranger.withKey.post(COMPLETE, back)).status).toBe(404);
  expect(serverOf(await owner.withKey.post(COMPLETE, back))).toMatchObject({
    auth: { is_connected: true },
    refresh_error: null,
    tools: [{ name: "get_track" }],
  });
  expect((await owner.withKey.post(COMPLETE, back)).status).toBe(404);
  const [row] =
    await sql`select to_jsonb(s)::text as text from mcp_servers s where id = ${server.id}`;
  for (const token of fake.state.oauth.accessTokens) expect(row?.text).not.toContain(token);
});

it("is refused when another authorization server has answered, or too late", async () => {
  const { server, path } = await add();
  const mixed = (await authorize(path)).back;
  expect(
    (await owner.withKey.post(COMPLETE, { ...mixed, iss: "https://evil.example" })).status,
  ).toBe(502);
  const { back } = await authorize(path);
  await sql`update mcp_authorizations set created_at = now() - interval '11 minutes'
    where server_id = ${server.id}`;
  expect((await owner.withKey.post(COMPLETE, back)).status).toBe(404);
});

it("refreshes the tokens once for all who need them", async () => {
  const { path } = await connect();
  const { oauth } = fake.state;
  const before = oauth.refreshes;
  oauth.accessTokens.clear();
  const all = await Promise.all([1, 2, 3, 4].map(() => owner.withKey.post(`${path}/refresh`)));
  for (const answer of all) expect(serverOf(answer).refresh_error).toBeNull();
  expect(oauth.refreshes).toBe(before + 1);
});

it("asks for the scope that a call has lacked when it is connected again", async () => {
  const { path } = await connect();
  fake.state.oauth.lacking = "tracks:write";
  expect(serverOf(await owner.withKey.post(`${path}/refresh`))).toMatchObject({
    auth: { is_connected: true },
    refresh_error: "The server requires more permissions: connect it again in the console",
  });
  fake.state.oauth.lacking = null;
  const { url, back } = await authorize(path);
  expect(url.searchParams.get("scope")).toBe("tracks:write");
  expect(serverOf(await owner.withKey.post(COMPLETE, back)).refresh_error).toBeNull();
  expect((await authorize(path)).url.searchParams.get("scope")).toBeNull();
});

it("has to be connected again once its tokens are void, or its address is another", async () => {
  const { path } = await connect();
  fake.state.oauth.accessTokens.clear();
  fake.state.oauth.refreshTokens.clear();
  expect(serverOf(await owner.withKey.post(`${path}/refresh`))).toMatchObject({
    auth: { is_connected: false },
    refresh_error: "The server is not connected: connect it in the console",
  });
  const other = await connect();
  const body = { url: `${fake.origin}/mcp`, auth: { type: "oauth" } };
  expect(serverOf(await owner.withKey.patch(other.path, body)).auth.is_connected).toBe(false);
});

describe("with a client that was registered by hand", () => {
  /** An authorization server without dynamic registration. */
  const closed = {
    registration_endpoint: undefined,
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
  };
  const clientOf = () => ({
    type: "oauth",
    client_id: `client-${randomUUID()}`,
    client_secret: registerSecret(randomUUID(), "secret of an OAuth client"),
  });
  const closing = async <T>(use: () => Promise<T>) => {
    fake.state.oauth.metadata = closed;
    try {
      return await use();
    } finally {
      fake.state.oauth.metadata = {};
    }
  };

  it("says what a server without registration needs", () =>
    closing(async () => {
      const { server, path } = await add();
      expect(server.auth.redirect_uri).toBe(`${stack.url}/settings/mcp-servers`);
      const refused = await owner.withKey.post(`${path}/authorize`);
      expect(refused.status).toBe(502);
      expect(refused.text).toContain(
        `register one there with the redirect URI ${stack.url}/settings/mcp-servers`,
      );
    }));

  it.each([
    ["as the server prefers", undefined, (id: string, secret: string) => basicOf(id, secret)],
    ["as it was told to", "client_secret_post", (id: string, secret: string) => `${id}:${secret}`],
  ])("connects with its secret %s, which nothing returns", (_, method, sent) =>
    closing(async () => {
      const auth = { ...clientOf(), ...(method && { token_endpoint_auth_method: method }) };
      const { server, path } = await add(owner, auth);
      expect(server.auth).toMatchObject({ client_id: auth.client_id, is_connected: false });
      const { url, back } = await authorize(path);
      expect(url.searchParams.get("client_id")).toBe(auth.client_id);
      const connected = await owner.withKey.post(COMPLETE, back);
      expect(serverOf(connected)).toMatchObject({
        refresh_error: null,
        auth: { is_connected: true },
      });
      expect(fake.state.oauth.clients.at(-1)).toBe(sent(auth.client_id, auth.client_secret));
      expect(connected.text).not.toContain(auth.client_secret);
      fake.state.oauth.accessTokens.clear();
      expect(serverOf(await owner.withKey.post(`${path}/refresh`)).refresh_error).toBeNull();
      expect(fake.state.oauth.clients.at(-1)).toBe(sent(auth.client_id, auth.client_secret));
      const cleared = await owner.withKey.patch(path, { auth: { type: "oauth" } });
      expect(serverOf(cleared).auth).toMatchObject({ client_id: null, is_connected: false });
    }),
  );

  it("sends nothing to another issuer than that of the first authorization", () =>
    closing(async () => {
      const { path } = await add(owner, clientOf());
      await authorize(path);
      fake.state.oauth.metadata = {
        ...closed,
        registration_endpoint: `${fake.origin}/as/register`,
      };
      fake.state.oauth.resource = { authorization_servers: [`${fake.origin}/other`] };
      const started = await owner.withKey.post(`${path}/authorize`);
      fake.state.oauth.resource = {};
      expect(started.status).toBe(502);
      expect(started.text).toContain("another issuer");
    }));

  it("needs its id", async () => {
    const auth = { type: "oauth", client_secret: "x" };
    const body = { name: "x", url: `${fake.origin}/oauth/mcp`, auth };
    const refused = await owner.withKey.post("/api/mcp-servers", body);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain("auth.client_id is required");
  });
});

it("leaves one short line in the log of what an authorization server writes", async () => {
  const server = await startServer();
  const person = await createPerson(server.url);
  const { path } = await connect(person);
  const { oauth } = fake.state;
  oauth.accessTokens.clear();
  oauth.refreshTokens.clear();
  const mark = randomUUID();
  const token = registerSecret(randomUUID(), "token in a description");
  const words = `${mark}\nhttps://as.example.com/?code=${token} access_token: ${token} `;
  oauth.refusal = { error_description: words + "x".repeat(60_000) };
  const refreshed = serverOf(await person.withKey.post(`${path}/refresh`));
  oauth.refusal = {};
  expect(refreshed.auth).toMatchObject({ is_connected: false });
  await expect.poll(() => server.logs()).toContain(mark);
  const [line = "", ...more] = server
    .logs()
    .split("\n")
    .filter((each) => each.includes(mark) || each.includes("xxxx"));
  expect(more).toEqual([]);
  expect(JSON.parse(line)).toMatchObject({ source: "console", level: 40 });
  expect(line.length).toBeLessThan(10_000);
  expect(server.logs()).not.toContain(token);
  await server.stop();
});

it.each<[string, "metadata" | "resource", object, string]>([
  [
    "that does not say that it knows PKCE",
    "metadata",
    { code_challenge_methods_supported: undefined },
    "does not support PKCE",
  ],
  [
    "that knows no safe kind of PKCE",
    "metadata",
    { code_challenge_methods_supported: ["plain"] },
    "does not support PKCE",
  ],
  ["whose resource has a fragment", "resource", { resource: "#" }, "has a fragment"],
  [
    "that sends metadata without end",
    "metadata",
    { logo_uri: "x".repeat(100_000) },
    "sends too much",
  ],
])("is not started at a server %s", async (_, kind, fields, fault) => {
  const { path } = await add();
  const { oauth } = fake.state;
  oauth[kind] = kind === "resource" ? { resource: `${fake.origin}/oauth/mcp#x` } : { ...fields };
  const started = await owner.withKey.post(`${path}/authorize`);
  oauth.metadata = {};
  oauth.resource = {};
  expect(started.status).toBe(502);
  expect(started.text).toContain(fault);
});
