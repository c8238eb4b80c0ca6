/** Text that hides in instructions: tag characters, which no one sees and models read. */
import { expect, test } from "vitest";
import { createPersonWithSession } from "../support/fixtures/sessions.ts";
import { sentenceOf } from "../support/fixtures/shapes.ts";
import type { Client } from "../support/harness/clients.ts";

const hiding = `A text that is long enough.${String.fromCodePoint(0xe0072, 0xe006d)}`;
const inFlags = "A text that is long enough. 🏴󠁧󠁢󠁥󠁮󠁧󠁿";
const template = (prompt: string, description = "A description") => ({
  ...{ title: "Template", description, prompt, tags: [], is_private: true, share_emails: [] },
});
const task = { title: "Task", schedule: "0 9 * * 1" };
const skill = (head: string, text: string) => ({
  "SKILL.md": `---\nname: hidden-tags\ndescription: ${head}\n---\n${text}`,
});

type Given = readonly [
  name: string,
  send: (caller: Client, path: string, text: string) => ReturnType<Client["post"]>,
];
const given: Given[] = [
  ["a run's prompt", (one, _, prompt) => one.post("/api/chat/runs", { prompt })],
  [
    "a run's instructions",
    (one, _, instructions) => one.post("/api/chat/runs", { prompt: "Hello", instructions }),
  ],
  [
    "a rubric",
    (one, _, rubric) => one.post("/api/chat/runs", { prompt: "Hello", outcome: { rubric } }),
  ],
  ["a template", (one, _, prompt) => one.post("/api/agents/templates", template(prompt))],
  [
    "a template's description",
    (one, _, text) => one.post("/api/agents/templates", template("A prompt of a template", text)),
  ],
  ["a scheduled prompt", (one, _, prompt) => one.post("/api/tasks", { ...task, prompt })],
  ["a chat's instructions", (one, path, instructions) => one.patch(path, { instructions })],
  [
    "a skill",
    (one, _, text) =>
      one.request("PUT", "/api/skills/hidden-tags", { body: { files: skill("It helps", text) } }),
  ],
  [
    "a skill's description",
    (one, _, text) =>
      one.request("PUT", "/api/skills/hidden-tags", { body: { files: skill(text, "Text") } }),
  ],
  [
    "a skill's description, escaped",
    (one, _, text) =>
      one.request("PUT", "/api/skills/hidden-tags", {
        body: {
          files: skill(
            `"${text.replace(/[\u{e0000}-\u{e007f}]/gu, (tag) => `\\U000${tag.codePointAt(0)?.toString(16)}`)}"`,
            "Text",
          ),
        },
      }),
  ],
  ["an image's prompt", (one, _, prompt) => one.post("/api/content/image", { prompt })],
];

test.each(given)("%s is refused with them, and keeps flags", async (_, send) => {
  const { person, session, chat } = await createPersonWithSession();
  const path = `/api/sessions/${session.id}/chats/${chat.id}`;
  const refused = await send(person.withKey, path, hiding);
  expect([refused.status, sentenceOf(refused)]).toEqual([
    400,
    expect.stringMatching(/invisible tag characters \(U\+E0000 to U\+E007F\)/),
  ]);
  expect((await send(person.withKey, path, inFlags)).status).toBeLessThan(300);
});
