/** MCP servers of an account: their secrets, their tools, and hostile ones. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeMcp, MCP_TOKEN, startFakeMcp, toolNamed } from "../support/fakes/mcp.ts";
import { serverOf } from "../support/fixtures/mcp-servers.ts";
import { createPerson, type Person } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

let fake: FakeMcp;
let owner: Person;
beforeAll(async () => {
  [fake, owner] = await Promise.all([startFakeMcp(), createPerson()]);
  registerSecret(MCP_TOKEN, "token of an MCP server");
  fake.state.tools = [toolNamed("get_track"), toolNamed("set_track")];
});
afterAll(() => fake.close());

const add = (path: string, more: object = {}, person = owner) =>
  person.withKey.post("/api/mcp-servers", {
    name: `s-${randomUUID().slice(0, 8)}`,
    url: `${fake.origin}${path}`,
    ...more,
  });

describe("a server", () => {
  it.each(["/mcp", "/sessions"])("is listed with its tools: %s", async (path) => {
    const created = await add(path);
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({
      server: {
        auth: { type: "none", header_names: [] },
        tool_counts: { known: 0, changed: 0, new: 2 },
        refresh_error: null,
        tools: [
          { name: "get_track", state: "new", read_only: true, fault: null, change: null },
          { name: "set_track", state: "new", read_only: false },
        ],
      },
    });
    // Its session has ended.
    await expect.poll(() => fake.sessions.size).toBe(0);
  });

  it("gets its headers, which no one else does", async () => {
    const auth = { type: "headers", headers: { authorization: `Bearer ${MCP_TOKEN}` } };
    const name = `p-${randomUUID().slice(0, 8)}`;
    const created = await add("/private", { name, auth });
    expect(serverOf(created)).toMatchObject({
      refresh_error: null,
      auth: { type: "headers", header_names: ["authorization"] },
    });
    expect(created.text).not.toContain(MCP_TOKEN);
    const [row] = await sql`select to_jsonb(s)::text as text from mcp_servers s
      where id = ${serverOf(created).id}`;
    expect(row?.text).not.toContain(MCP_TOKEN);

    const path = `/api/mcp-servers/${serverOf(created).id}`;
    const moved = await owner.withKey.patch(path, { url: `${fake.origin}/mcp` });
    expect(moved.body).toMatchObject({ error: "auth must be given again with another url" });
    const open = await owner.withKey.patch(path, {
      url: `${fake.origin}/private`,
      auth: { type: "none" },
    });
    expect(open.body).toMatchObject({
      server: { refresh_error: "The server rejects the credentials (status 401)" },
    });
    expect((await add("/mcp", { name })).status).toBe(409);
  });

  it("must have a public address, and headers that are its own", async () => {
    for (const url of [
      "http://example.com/mcp",
      "https://10.0.0.1/mcp",
      "https://u:p@example.com/",
    ]) {
      expect((await add("", { url })).status, url).toBe(400);
    }
    for (const headers of [{ host: "x" }, { "mcp-session-id": "x" }, { a: "b\r\nc: d" }]) {
      expect((await add("/mcp", { auth: { type: "headers", headers } })).status).toBe(400);
    }
  });

  it("is one of at most 20, even if they are added at once", async () => {
    const person = await createPerson();
    const added = await Promise.all(
      Array.from({ length: 21 }, () => add("/hostile/many", {}, person)),
    );
    expect(added.map(({ status }) => status).sort()).toEqual([...Array(20).fill(201), 403]);
  });

  it("can be named only by its account", async () => {
    const { name } = serverOf(await add("/mcp"));
    const stranger = await createPerson();
    const prompt = { prompt: "hello", mcp_servers: [name] };
    const refused = await stranger.withKey.post("/api/chat/runs", prompt);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(`no MCP server ${name}`);
  });
});

describe("a hostile server", () => {
  it.each([
    ["endless", "The server did not answer as the protocol says"],
    ["many", "The server has more than 200 tools"],
    ["huge", "The server sends too much"],
    ["deep", "The server did not answer as the protocol says"],
    ["other-id", "The server did not answer as the protocol says"],
    ["broken-stream", "The server did not answer as the protocol says"],
    ["internal-redirect", "The server redirects to another address"],
  ])("ends as an error: %s", async (kind, error) => {
    const server = serverOf(await add(`/hostile/${kind}`));
    expect(server).toMatchObject({ refresh_error: error, tools: [] });
  });

  it("cannot make its client send requests without end", async () => {
    const before = fake.count("/hostile/pings");
    const server = serverOf(await add("/hostile/pings"));
    expect(server.refresh_error).not.toBeNull();
    expect(fake.count("/hostile/pings") - before).toBeLessThanOrEqual(101);
  });

  it("has only the tools whose schemas are sound", async () => {
    const server = serverOf(await add("/hostile/schemas"));
    const faults = new Map<string, string | null>(
      server.tools.map(({ name, fault }) => [name, fault]),
    );
    const sound = [...faults].filter(([, fault]) => fault === null).map(([name]) => name);
    expect(sound).toEqual(["bash", "slow pattern"]);
    expect(faults.size).toBe(9);
    const [bash] = server.tools;
    expect(bash?.agent_name).toMatch(/^mcp__[a-z0-9-]+__bash$/);
  });

  it("loses only the tools that are not as the protocol says", async () => {
    const server = serverOf(await add("/hostile/odd"));
    expect(server.refresh_error).toBeNull();
    const faults = server.tools.map(({ name, fault }) => [name.slice(0, 10), fault]);
    const schema = "The input schema is not as the protocol says";
    expect(faults).toEqual([
      ["choice", schema],
      ["empty", schema],
      ["get_album", null],
      ["get_track", null],
      ["hints", "The definition is not as the protocol says"],
      ["none", schema],
      ["nulls", schema],
      ["reference", schema],
      ["xxxxxxxxxx", "The name is too long or has invisible characters"],
    ]);
  });
});
