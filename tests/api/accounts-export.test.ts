import { strFromU8, unzipSync } from "fflate";
import { expect, test } from "vitest";
import { z } from "zod";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import { makeMedia } from "../support/fixtures/media.ts";
import { makeArtist, makeOrganization } from "../support/fixtures/people.ts";
import { createSession, writeSandboxFile } from "../support/fixtures/sessions.ts";
import { skillText } from "../support/fixtures/skills.ts";
import { createTask } from "../support/fixtures/tasks.ts";
import { createTemplate } from "../support/fixtures/templates.ts";
import { createTrigger } from "../support/fixtures/triggers.ts";
import { putFile } from "../support/fixtures/workspace-files.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

async function download(caller: Client) {
  const path = "/api/accounts/me/export";
  const response = await fetch(caller.url + path, { headers: caller.headers });
  const files = unzipSync(new Uint8Array(await response.arrayBuffer()));
  const read = (name: string): unknown => JSON.parse(strFromU8(files[name] ?? new Uint8Array()));
  return { response, files, read };
}

test("200: has everything that the account owns, and nothing of others", async () => {
  const [person, other] = await Promise.all([createPerson(), createPerson()]);
  const { withKey } = person;
  await createTemplate(other.withKey);
  const image = await makeImage();
  const [template, artist, url, organization] = await Promise.all([
    createTemplate(withKey),
    makeArtist(withKey),
    makeMedia(person.id, image, "image/png"),
    makeOrganization(withKey),
  ]);
  const webhook = { url: "https://example.com/hook", events: ["run.completed"] };
  await withKey.post("/api/webhooks", webhook);
  const task = {
    title: "Charts",
    prompt: "Report",
    schedule: "0 9 * * 1",
    timezone: "Europe/Berlin",
  };
  const trigger = await createTrigger(withKey, {}, (await createTask(withKey, task)).id);
  await withKey.post("/api/delivery-addresses", { address: "manager@export.example.com" });
  await sql`insert into deliveries (account_id, run_id, kind, recipient, entry, status, due_at)
    values (${person.id}, 'wrun_1', 'email', ${person.email}, '{}', 'sent', null)`;
  const skill = { files: { "SKILL.md": skillText("press") } };
  await withKey.request("PUT", "/api/skills/press", { body: skill });
  const { session, chat } = await createSession(withKey, { title: "Release" });
  await sql`insert into messages (chat_id, id, role, parts)
    values (${chat.id}, 'm1', 'user', '[{"type": "text", "text": "Hello"}]')`;
  await sql`insert into messages (chat_id, id, role, parts, parent_id, on_path)
    values (${chat.id}, 'a1', 'assistant', '[]', 'm1', true),
      (${chat.id}, 'a0', 'assistant', '[]', 'm1', false)`;
  const messages = `/api/sessions/${session.id}/chats/${chat.id}/messages`;
  await withKey.request("PUT", `${messages}/a1/feedback`, { body: { rating: "up" } });
  await withKey.request("PUT", `/api/sessions/${session.id}/chats/${chat.id}/share`);
  const address = `/api/sessions/${session.id}/chats/${chat.id}`;
  await withKey.patch(address, { instructions: "Write in German" });
  await withKey.request("PUT", `${address}/connectors`, { body: { connectors: ["gmail"] } });
  await withKey.post("/api/sandbox", { sessionId: session.id });
  await writeSandboxFile(session.id, "in/notes.txt", "notes");
  await putFile(withKey, "in/deal.md", "old");
  await putFile(withKey, "in/deal.md", "new");
  await putFile(withKey, "brief.md", "brief", { artist_id: artist });

  const { response, files, read } = await download(person.withBearer);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/zip");
  expect(response.headers.get("content-disposition")).toContain("account.zip");
  const folder = `sessions/${session.id}`;
  const mediaName = `media/${url.split("/").at(-1)}`;
  expect(Object.keys(files).sort()).toEqual(
    [
      "account.json",
      "agent-template-versions.json",
      "agent-templates.json",
      "approvals.json",
      "api-keys.json",
      "artists.json",
      "connections.json",
      "deliveries.json",
      "delivery-addresses.json",
      "requests.json",
      mediaName,
      "runs.json",
      `${folder}/chats/${chat.id}.branches.json`,
      `${folder}/chats/${chat.id}.json`,
      `${folder}/files/in/`,
      `${folder}/files/in/notes.txt`,
      `${folder}/session.json`,
      "shares.json",
      "skills/press/SKILL.md",
      "task-runs.json",
      "tasks.json",
      "mcp-servers.json",
      "triggers.json",
      "webhooks.json",
      "workspace/in/deal.md",
      `artists/${artist}/workspace/brief.md`,
    ].sort(),
  );
  expect(strFromU8(files["workspace/in/deal.md"] ?? new Uint8Array())).toBe("new");
  expect(read("account.json")).toMatchObject({
    account: { id: person.id, email: person.email },
    organizations: [{ organization_id: organization }],
  });
  expect(read("agent-templates.json")).toMatchObject([{ id: template.id }]);
  expect(read("agent-template-versions.json")).toMatchObject([
    { template_id: template.id, version: 1, prompt: template.prompt },
  ]);
  expect(read("deliveries.json")).toMatchObject([{ run_id: "wrun_1", to: person.email }]);
  expect(read("delivery-addresses.json")).toMatchObject([
    { address: "manager@export.example.com", state: "pending" },
  ]);
  expect(read("artists.json")).toMatchObject([{ account_id: artist }]);
  expect(read("tasks.json")).toMatchObject([task]);
  const { status: _, secret, ...ofTrigger } = trigger;
  expect(read("triggers.json")).toEqual([ofTrigger]);
  expect(JSON.stringify(read("triggers.json"))).not.toContain(secret);
  expect(read("webhooks.json")).toMatchObject([webhook]);
  expect(JSON.stringify(read("webhooks.json"))).not.toContain("whsec_");
  expect(read("shares.json")).toMatchObject([{ chat_id: chat.id, message_count: 1 }]);
  expect(JSON.stringify(read("shares.json"))).not.toContain("/share/");
  expect(read("task-runs.json")).toMatchObject([{ status: "COMPLETED" }]);
  expect(read(`${folder}/chats/${chat.id}.json`)).toMatchObject({
    messages: [{ id: "m1" }, { id: "a1" }],
  });
  expect(read(`${folder}/chats/${chat.id}.branches.json`)).toMatchObject({
    messages: [{ id: "a0", parent_id: "m1" }],
    feedback: [{ message_id: "a1", rating: "up" }],
    choices: { instructions: "Write in German", connectors: ["gmail"] },
  });
  expect(strFromU8(files[`${folder}/files/in/notes.txt`] ?? new Uint8Array())).toBe("notes");
  expect(Buffer.from(files[mediaName] ?? "").equals(image)).toBe(true);
});

test("200: lists of more than a page are whole, and unreadable parts are named", async () => {
  const person = await createPerson();
  await sql`insert into agent_templates
      (account_id, title, description, prompt, tags, is_private)
    select ${person.id}, n::text, 'd', 'p', '{}', true from generate_series(1, 230) n`;
  await sql`insert into sessions (account_id, title)
    select ${person.id}, n::text from generate_series(1, 130) n`;
  const url = await makeMedia(person.id, await makeImage(), "image/png");
  const name = url.split("/").at(-1) ?? "";
  const lost = `${"0".repeat(31)}1.png`;
  await sql`update media_files set name = ${lost} where name = ${name}`;
  const { files, read } = await download(person.withKey);
  const titles = z.array(z.object({ title: z.string() })).parse(read("agent-templates.json"));
  expect(new Set(titles.map(({ title }) => title)).size).toBe(230);
  const sessions = Object.keys(files).filter((path) => path.endsWith("/session.json"));
  expect(sessions).toHaveLength(130);
  expect(read("missing.json")).toEqual([`media/${lost}`]);
});
