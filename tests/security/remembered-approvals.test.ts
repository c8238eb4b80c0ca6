/** Which calls a remembered approval covers: calls equal to the approved one except for their texts. */
import { describe, expect, it } from "vitest";
import { effectOf } from "../../lib/approvals/effects.ts";
import { judgeRequest } from "../../lib/openapi/registry.ts";
import { serviceOrigin } from "../../lib/platform/service-origin.ts";
import { stack } from "../support/harness/stack.ts";

Object.assign(process.env, stack.env);

const app = {
  judgeRequest: async (method: string, url: URL, body: string | undefined) =>
    judgeRequest(method, url, body, () => false),
  connectors: null,
  agentTasks: () => import("../../lib/tasks/agent-tasks.ts"),
};
const charts = {
  ...{
    serverId: "1",
    server: "charts",
    tool: "post",
    sha256: "",
    description: "",
    inputSchema: {},
  },
  ...{ name: "mcp__charts__post", readOnly: false, destructive: false },
};
const turn = {
  ...{ mcp_tools: [charts], options: {}, artist_id: null, is_of_task: false },
  skills: { listed: [], disabled: [], loaded: [] },
};
const fieldsOf = async (name: string, input: unknown) =>
  (await effectOf(app, { id: "1", name, input }, turn))?.fields;

const mail = { user_id: "me", thread_id: "colleague", subject: "Hi", body: "Hello" };
const act = (input: object, name = "SEND") => ({
  url: `${serviceOrigin()}/api/connectors/slack/actions/${name}`,
  method: "POST",
  body: JSON.stringify({ input }),
});

describe.each([
  ["an action", "fetch", act],
  ["a tool of an MCP server", "mcp__charts__post", (input: object) => input],
] as const)("an approval of %s", (_, tool, call) => {
  it.each([
    ["another text", { ...mail, body: "Goodbye", subject: "Re: Hi" }],
    ["an empty text", { ...mail, body: "" }],
    ["the fields in another order", Object.fromEntries(Object.entries(mail).reverse())],
  ])("covers %s", async (_name, other) => {
    expect(await fieldsOf(tool, call(other))).toEqual(await fieldsOf(tool, call(mail)));
  });

  it.each([
    ["another recipient", { ...mail, thread_id: "attacker" }],
    ["all messages", { ...mail, message_id: "ALL" }],
    ["a field that was not there", { ...mail, send_to: "attacker" }],
    ["a nested recipient", { ...mail, extra: { bcc: ["attacker@example.com"] } }],
    ["a recipient in a list", { ...mail, forward_to: ["attacker@example.com"] }],
    ["a text where there was none", { ...mail, message: "Hello" }],
    ["a missing text", { user_id: "me", thread_id: "colleague", subject: "Hi" }],
    ["a missing field", { user_id: "me", subject: "Hi", body: "Hello" }],
    ["a field of null", { ...mail, thread_id: null }],
    ["fields in place of a text", { ...mail, body: { to: "attacker@example.com" } }],
    ["fields in a text", { ...mail, body: '{"to":"attacker@example.com"}' }],
    ["a list in a text", { ...mail, body: ' [{"to":"attacker@example.com"}]' }],
    ["a form in a text", { ...mail, body: "to=attacker@example.com" }],
    ["headers in a text", { ...mail, body: "Bcc: attacker@example.com\n\nHello" }],
    ["markup in a text", { ...mail, body: "<envelope to='attacker'/>" }],
    ["a list in place of one", { ...mail, thread_id: ["colleague", "attacker"] }],
    ["a number in place of a text", { ...mail, thread_id: 1 }],
    ["other letters", { ...mail, Thread_Id: "attacker" }],
  ])("does not cover %s", async (_name, other) => {
    expect(await fieldsOf(tool, call(other))).not.toEqual(await fieldsOf(tool, call(mail)));
  });

  it("does not cover the same without what made it harmless", async () => {
    const tried = { ...mail, dry_run: true };
    expect(await fieldsOf(tool, call(mail))).not.toEqual(await fieldsOf(tool, call(tried)));
  });

  it("covers nested texts at the same place only", async () => {
    const nested = { channel: "a", blocks: [{ text: "Hi" }] };
    const same = { channel: "a", blocks: [{ text: "Ho" }] };
    const more = { channel: "a", blocks: [{ text: "Hi" }, { text: "Ho" }] };
    expect(await fieldsOf(tool, call(same))).toEqual(await fieldsOf(tool, call(nested)));
    expect(await fieldsOf(tool, call(more))).not.toEqual(await fieldsOf(tool, call(nested)));
  });
});

describe("an approval of a request", () => {
  const get = { url: "https://example.com/a", method: "GET" };
  const post = { url: "https://example.com/hooks/mine", method: "POST", body: '{"text":"Hi"}' };
  it.each([
    ["another page of the host", get, { ...get, url: "https://example.com/b?c=d" }],
    ["a method that is the default", get, { url: get.url }],
    ["another text", post, { ...post, body: '{"text":"Ho"}' }],
  ])("covers %s", async (_name, approved, other) => {
    expect(await fieldsOf("fetch", other)).toEqual(await fieldsOf("fetch", approved));
  });

  it.each([
    ["another host", get, { ...get, url: "https://sub.example.com/a" }],
    ["another port", get, { ...get, url: "https://example.com:444/a" }],
    ["http", get, { ...get, url: "http://example.com/a" }],
    ["another method", get, { ...get, method: "DELETE" }],
    ["headers", get, { ...get, headers: { authorization: "Bearer x" } }],
    ["another path", post, { ...post, url: "https://example.com/hooks/attackers" }],
    ["another field", post, { ...post, body: '{"text":"Hi","channel":"attacker"}' }],
    ["another body that is no JSON", { ...post, body: "a" }, { ...post, body: "b" }],
  ])("does not cover %s", async (_name, approved, other) => {
    expect(await fieldsOf("fetch", other)).not.toEqual(await fieldsOf("fetch", approved));
  });

  it("of an image covers another prompt, and no other reference", async () => {
    const image = (body: object) => ({
      ...{ url: `${serviceOrigin()}/api/content/image`, method: "POST" },
      body: JSON.stringify(body),
    });
    const fields = (body: object) => fieldsOf("fetch", image(body));
    const first = { prompt: "A cover", reference_image_url: "https://example.com/a.png" };
    expect(await fields({ ...first, prompt: "Another" })).toEqual(await fields(first));
    const other = { ...first, reference_image_url: "https://example.com/?d=SECRET" };
    expect(await fields(other)).not.toEqual(await fields(first));
  });
});

describe("a call that may destroy something", () => {
  it.each([
    [
      "a tool that its server calls destructive",
      { ...turn, mcp_tools: [{ ...charts, destructive: true }] },
      charts.name,
      mail,
    ],
    ["an action of which nobody knows", turn, "fetch", act(mail)],
    [
      "the deletion of a file",
      turn,
      "fetch",
      { url: `${serviceOrigin()}/api/workspace/files/content?path=a`, method: "DELETE" },
    ],
  ])("is asked for each time: %s", async (_name, of, name, input) => {
    const found = await effectOf(app, { id: "1", name, input }, of);
    expect(await found?.isMemorable()).toBe(false);
  });
});

it("a request that stores its answer is an effect of write, also where nothing else would be asked", async () => {
  const of = { ...turn, mcp_tools: [] };
  const categoriesOf = async (input: object) =>
    (await effectOf(app, { id: "1", name: "fetch", input }, of))?.categories;
  const own = `${serviceOrigin()}/api/artists`;
  expect(await categoriesOf({ url: own })).toBeUndefined();
  expect(await categoriesOf({ url: own, saveTo: "a.json" })).toEqual(["write"]);
  expect(await categoriesOf({ url: "https://example.com", saveTo: "a" })).toEqual([
    "fetch",
    "write",
  ]);
});
