/** The version of a template in everything that names one: new and changed chats and tasks, and runs. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSession } from "../support/fixtures/sessions.ts";
import { createTask } from "../support/fixtures/tasks.ts";
import { createTemplate, templateIn } from "../support/fixtures/templates.ts";
import { type Client, createPerson } from "../support/harness/clients.ts";
import { readRun, startedOf, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

const pathOf = (id: string) => `/api/agents/templates/${id}`;
const promptOf = (number: number) => `Answer as the planner of release ${number}.`;
const rewrite = async (owner: Client, id: string, number: number) =>
  templateIn(await owner.patch(pathOf(id), { prompt: promptOf(number) })).version;

const started = z.object({ run_id: z.string(), chat_id: z.string(), session_id: z.string() });
const outcomeOf = async (answer: ReturnType<Client["post"]>) => {
  const { status, body } = await answer;
  const { task, chat = task } = Object(body);
  return status < 400 ? chat.template_version : [status, Object(body).error];
};
const missing = [404, "Template version not found"];

/** The ways to name a template in a new chat, a changed chat, a task and a run: each returns its version, or an error. */
async function doorsOf(caller: Client, template_id: string) {
  const { session } = await createSession(caller);
  const chats = `/api/sessions/${session.id}/chats`;
  const task = { title: "t", prompt: "p", schedule: "0 9 * * MON", enabled: false };
  const doors = {
    chat: (version: object) =>
      outcomeOf(caller.post(chats, { templateId: template_id, ...version })),
    changedChat: async (version: object) => {
      const { body } = await caller.post(chats, {});
      const path = `${chats}/${Object(body).chat.id}`;
      return outcomeOf(caller.patch(path, { templateId: template_id, ...version }));
    },
    task: (version: object) =>
      outcomeOf(caller.post("/api/tasks", { ...task, template_id, ...version })),
    changedTask: async (version: object) => {
      const { id } = await createTask(caller, { enabled: false });
      return outcomeOf(caller.patch(`/api/tasks/${id}`, { template_id, ...version }));
    },
    run: async (version: object) => {
      const answer = await caller.post("/api/chat/runs", { prompt: "hi", template_id, ...version });
      if (answer.status >= 400) return [answer.status, Object(answer.body).message];
      const run = startedOf(answer);
      await waitForRun(caller, run);
      const { template_version } = await readRun(caller, run);
      const [turn] = await sql`select instructions from turns where run_id = ${run.runId}`;
      expect(turn).toEqual({ instructions: promptOf(template_version ?? 0) });
      return template_version;
    },
  };
  const each = async (version: object = {}) => {
    const found: Record<string, unknown> = {};
    for (const [name, open] of Object.entries(doors)) found[name] = await open(version);
    return found;
  };
  const all = (version: unknown) =>
    Object.fromEntries(Object.keys(doors).map((name) => [name, version]));
  return { doors, each, all };
}

/** An account whose chat has the public template of another, in version 1 of 2. */
async function createUse() {
  const [owner, user] = await Promise.all([createPerson(), createPerson()]);
  const { id } = await createTemplate(owner.withKey, { prompt: promptOf(1) });
  const { session, chat } = await createSession(user.withKey);
  const path = `/api/sessions/${session.id}/chats/${chat.id}`;
  await user.withKey.patch(path, { templateId: id });
  await rewrite(owner.withKey, id, 2);
  return { owner, user, id, path };
}

describe("whatever names another account's template", () => {
  test("takes the version that the account uses, and the newest once it is accepted", async () => {
    const { owner, user, id, path } = await createUse();
    const { doors, each, all } = await doorsOf(user.withKey, id);
    // Version 1 is the one of a chat from before acceptances were recorded.
    await sql`delete from agent_template_acceptances where account_id = ${user.id}`;
    expect(await each()).toEqual(all(1));
    expect(await each({ template_version: 3 })).toEqual(all(missing));
    expect(await doors.run({ templateVersion: 2 })).toBe(2);
    expect(await each()).toEqual(all(2));
    await rewrite(owner.withKey, id, 3);
    expect(await each()).toEqual(all(2));
    expect(await user.withKey.patch(path, { template_version: 3 })).toMatchObject({ status: 200 });
    expect(await each()).toEqual(all(3));
    // The chats and tasks above keep it.
    expect(await each({ template_version: 2 })).toEqual(all(2));
  });

  test.each(["chat", "changedChat", "task", "changedTask", "run"] as const)(
    "accepts the current version at its first use (%s), which outlives that use",
    async (door) => {
      const [owner, user] = await Promise.all([createPerson(), createPerson()]);
      const { id } = await createTemplate(owner.withKey, { prompt: promptOf(1) });
      await rewrite(owner.withKey, id, 2);
      const { doors } = await doorsOf(user.withKey, id);
      // Others do not see the earlier versions.
      expect(await doors[door]({ template_version: 1 })).toEqual(missing);
      expect(await doors[door]({})).toBe(2);
      await rewrite(owner.withKey, id, 3);
      await sql`delete from chats where account_id = ${user.id} and template_id = ${id}`;
      await sql`delete from scheduled_prompts where account_id = ${user.id}`;
      const again = await doorsOf(user.withKey, id);
      expect(await again.doors[door]({})).toBe(2);
      // It is seen, too.
      expect((await user.withKey.get(`${pathOf(id)}/versions/2`)).status).toBe(200);
      // Another account's acceptance does not count.
      const other = await doorsOf((await createPerson()).withKey, id);
      expect(await other.doors[door]({})).toBe(3);
    },
  );

  test("is 404 once the template is private or deleted, and keeps its version when it is public again", async () => {
    const { owner, user, id } = await createUse();
    const { each, all } = await doorsOf(user.withKey, id);
    const gone = all([404, "Template not found"]);
    await owner.withKey.patch(pathOf(id), { is_private: true });
    expect(await each()).toEqual(gone);
    expect(await each({ template_version: 1 })).toEqual(gone);
    await owner.withKey.patch(pathOf(id), { is_private: false });
    expect(await each()).toEqual(all(1));
    await owner.withKey.delete(pathOf(id));
    expect(await each()).toEqual(gone);
  });

  test("is not taken back by a task that keeps an earlier version", async () => {
    const { user, id, path } = await createUse();
    const task = await createTask(user.withKey, { template_id: id });
    await user.withKey.patch(path, { template_version: 2 });
    const { body } = await user.withKey.post(`/api/tasks/${task.id}/run`);
    const { run_id: runId, chat_id: chatId, session_id: sessionId } = started.parse(body);
    const run = { runId, chatId, sessionId };
    await waitForRun(user.withKey, run);
    expect(await readRun(user.withKey, run)).toMatchObject({ template_version: 1 });
    const { doors } = await doorsOf(user.withKey, id);
    expect(await doors.chat({})).toBe(2);
  });
});

test("an own template is followed wherever it is named, unless with a version", async () => {
  const { withKey } = await createPerson();
  const { id } = await createTemplate(withKey, { prompt: promptOf(1) });
  const { each, all } = await doorsOf(withKey, id);
  await rewrite(withKey, id, 2);
  expect(await each({ template_version: 1 })).toEqual(all(1));
  expect(await each()).toEqual(all(2));
  expect(await each({ template_version: 3 })).toEqual(all(missing));
});

test("a version without a template is missing, and a repeated chat accepts none", async () => {
  const { user, id } = await createUse();
  const { session } = await createSession(user.withKey);
  const chats = `/api/sessions/${session.id}/chats`;
  expect(await outcomeOf(user.withKey.post(chats, { template_version: 1 }))).toEqual(missing);
  const run = await user.withKey.post("/api/chat/runs", { prompt: "hi", template_version: 1 });
  expect([run.status, Object(run.body).message]).toEqual(missing);
  const chat = { id: crypto.randomUUID(), templateId: id, template_version: 1 };
  expect(await outcomeOf(user.withKey.post(chats, chat))).toBe(1);
  await user.withKey.patch(`${chats}/${chat.id}`, { template_version: 2 });
  expect(await outcomeOf(user.withKey.post(chats, chat))).toBe(2);
  expect(await outcomeOf(user.withKey.post(chats, { templateId: id }))).toBe(2);
});
