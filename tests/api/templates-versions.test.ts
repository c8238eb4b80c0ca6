/** Versions of agent templates, and the ones that chats and tasks keep. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSession } from "../support/fixtures/sessions.ts";
import { createTask, readTask } from "../support/fixtures/tasks.ts";
import { createTemplate, templateIn, templateNotFound } from "../support/fixtures/templates.ts";
import { type Client, client, createPerson } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { readRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

const pathOf = (id: string) => `/api/agents/templates/${id}`;
const promptOf = (number: number) => `Answer as the planner of release ${number}.`;
const versionNotFound = {
  status: "error",
  error: "Template version not found",
  missing_fields: [],
};

const page = z.object({
  versions: z.array(z.object({ version: z.number(), title: z.string(), author_id: z.string() })),
  next_cursor: z.string().nullable(),
});
const started = z.object({ run_id: z.string(), chat_id: z.string(), session_id: z.string() });
const versionsOf = async (caller: Client, id: string) => {
  const { body } = await caller.get(`${pathOf(id)}/versions?limit=100`);
  return page.parse(body).versions.map(({ version }) => version);
};
const rewrite = async (owner: Client, id: string, number: number) =>
  templateIn(await owner.patch(pathOf(id), { prompt: promptOf(number) })).version;

/** An account whose chat has the public template of another, in version 1 of 2. */
async function createUse() {
  const [owner, user] = await Promise.all([createPerson(), createPerson()]);
  const { id } = await createTemplate(owner.withKey, { prompt: promptOf(1) });
  const { session, chat } = await createSession(user.withKey);
  const path = `/api/sessions/${session.id}/chats/${chat.id}`;
  await user.withKey.patch(path, { templateId: id });
  await rewrite(owner.withKey, id, 2);
  const read = async () => Object((await user.withKey.get(path)).body).chat;
  return { owner, user, id, chatId: chat.id, path, read };
}

describe("GET /api/agents/templates/{id}/versions", () => {
  test("has a version for each new content, newest first, in pages", async () => {
    const { id: author_id, withKey } = await createPerson();
    const { id, version } = await createTemplate(withKey);
    expect(version).toBe(1);
    for (const change of [
      { prompt: promptOf(2) },
      { prompt: promptOf(2), is_private: true },
      { effort: "high" },
      { effort: "high" },
      { title: "Renamed" },
    ]) {
      await withKey.patch(pathOf(id), change);
    }
    const first = await withKey.get(`${pathOf(id)}/versions?limit=3`);
    expect(first.body).toMatchObject({
      versions: [
        { version: 4, title: "Renamed", author_id },
        { version: 3, title: "Release planner" },
        { version: 2 },
      ],
    });
    const cursor = page.parse(first.body).next_cursor;
    expect((await withKey.get(`${pathOf(id)}/versions?cursor=${cursor}`)).body).toMatchObject({
      versions: [{ version: 1 }],
      next_cursor: null,
    });
  });

  test("changes at once have a version each", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey);
    const numbers = await Promise.all([2, 3, 4, 5].map((n) => rewrite(withKey, id, n)));
    expect(numbers).toHaveLength(4);
    expect(await versionsOf(withKey, id)).toEqual([5, 4, 3, 2, 1]);
  });

  test("the first, the newest 500, and those that are kept stay", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey);
    await sql`insert into agent_template_versions
        (template_id, version, title, description, prompt, tags, options, is_kept)
      select ${id}, n, 't', 'd', 'p', '{}', '{}', n = 3 from generate_series(2, 503) n`;
    expect(await rewrite(withKey, id, 504)).toBe(504);
    const [{ kept } = { kept: [] }] = await sql<{ kept: number[] }[]>`
      select array_agg(version order by version) as kept from agent_template_versions
      where template_id = ${id}`;
    expect(kept.slice(0, 3)).toEqual([1, 3, 5]);
    expect(kept).toHaveLength(502);
  });
});

describe("GET /api/agents/templates/{id}/versions/{version}", () => {
  test("reads a version, and what has changed since another one", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey, { prompt: "Plan the release.\nAsk first.\n" });
    const change = { prompt: "Plan the release.\nNever ask.\n", tags: [], effort: "low" };
    await withKey.patch(pathOf(id), change);
    const answer = await withKey.get(`${pathOf(id)}/versions/2?compare_to=1`);
    expect(answer.body).toMatchObject({
      version: { version: 2, title: "Release planner", ...change },
      comparison: {
        version: 1,
        changes: [
          { field: "prompt", after: change.prompt },
          { field: "tags", before: ["release", "planning"], after: [] },
          { field: "effort", before: null, after: "low" },
        ],
      },
    });
    expect(Object(answer.body).comparison.diff).toContain("-Ask first.\n+Never ask.\n");
    const other = await withKey.get(`${pathOf(id)}/versions/3`);
    expect([other.status, other.body]).toEqual([404, versionNotFound]);
    expect((await withKey.get(`${pathOf(id)}/versions/0`)).status).toBe(400);
  });

  test("others see the newest, and those that their chats keep", async () => {
    const { owner, user, id } = await createUse();
    await rewrite(owner.withKey, id, 3);
    expect(await versionsOf(owner.withKey, id)).toEqual([3, 2, 1]);
    expect(await versionsOf(user.withKey, id)).toEqual([3, 1]);
    const read = (path: string) => user.withKey.get(`${pathOf(id)}/versions/${path}`);
    expect((await read("3?compare_to=1")).status).toBe(200);
    for (const path of ["2", "3?compare_to=2"]) {
      expect([(await read(path)).status, (await read(path)).body]).toEqual([404, versionNotFound]);
    }
    await owner.withKey.patch(pathOf(id), { is_private: true });
    for (const path of ["/versions", "/versions/3"]) {
      const answer = await user.withKey.get(pathOf(id) + path);
      expect([answer.status, answer.text]).toEqual([404, templateNotFound]);
    }
  });
});

describe("POST /api/agents/templates/{id}/restore", () => {
  test("200 makes the old content the next version, once", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey, { prompt: promptOf(1), effort: "low" });
    await withKey.patch(pathOf(id), { prompt: promptOf(2), effort: "", limits: { max_steps: 5 } });
    for (let time = 1; time <= 2; time++) {
      const restored = templateIn(await withKey.post(`${pathOf(id)}/restore`, { version: 1 }));
      expect(restored).toMatchObject({ version: 3, prompt: promptOf(1), effort: "low" });
      expect(restored.limits).toBeUndefined();
    }
  });

  test("404 without the version", async () => {
    const { withKey } = await createPerson();
    const { id } = await createTemplate(withKey);
    const answer = await withKey.post(`${pathOf(id)}/restore`, { version: 2 });
    expect(answer.body).toEqual(versionNotFound);
  });
});

describe("a chat", () => {
  test("keeps its version of another account's template until a newer one is accepted", async () => {
    const { owner, user, id, chatId, path, read } = await createUse();
    const outdated = { template_version: 1, template_update: { version: 2 } };
    expect(await read()).toMatchObject({ templateId: id, ...outdated });
    // The state of a chat from before there were versions.
    await sql`update chats set template_version = null where id = ${chatId}`;
    expect(await read()).toMatchObject(outdated);
    await user.withKey.patch(path, { templateId: id });
    expect(await read()).toMatchObject(outdated);

    for (const body of [{ template_version: 3 }, { template_version: 2, templateId: "" }]) {
      const refused = await user.withKey.patch(path, body);
      expect([refused.status, Object(refused.body).error]).toEqual([
        404,
        "Template version not found",
      ]);
    }
    const run = client({ key: (await createRunCredential(user.id, "key")).raw });
    expect((await run.patch(path, { template_version: 2 })).status).toBe(403);
    expect(await read()).toMatchObject(outdated);

    const { withKey } = user;
    const accepted = await withKey.patch(path, { template_version: 2 });
    expect(Object(accepted.body).chat.template_update).toBeUndefined();
    expect(await read()).toMatchObject({ template_version: 2 });
    // The version before is no longer one that the account keeps.
    expect((await withKey.patch(path, { template_version: 1 })).status).toBe(404);

    await owner.withKey.patch(pathOf(id), { is_private: true });
    expect((await withKey.patch(path, { template_version: 2 })).status).toBe(404);
    expect((await read()).template_version).toBeUndefined();
  });

  test("of another account's template has the options of its version", async () => {
    const { owner, user, id, chatId } = await createUse();
    await owner.withKey.patch(pathOf(id), { skills: ["setlist"], limits: { max_steps: 1 } });
    const options = () => sql`select chat_options(${user.id}, ${chatId}) as options`;
    expect([...(await options())]).toEqual([{ options: {} }]);
    await sql`update chats set template_version = 3 where id = ${chatId}`;
    expect([...(await options())]).toEqual([
      { options: { skills: ["setlist"], limits: { max_steps: 1 } } },
    ]);
  });
});

test("a task keeps its version too, which its runs record", async () => {
  const [owner, user] = await Promise.all([createPerson(), createPerson()]);
  const { id: template_id } = await createTemplate(owner.withKey, { prompt: promptOf(1) });
  const { id } = await createTask(user.withKey, { template_id });
  await rewrite(owner.withKey, template_id, 2);
  const path = `/api/tasks/${id}`;
  await user.withKey.patch(path, { title: "Renamed", template_id });
  expect(await readTask(user.withKey, id)).toMatchObject({
    template_version: 1,
    template_update: { version: 2 },
  });
  const runNow = async () => {
    const {
      run_id: runId,
      chat_id: chatId,
      session_id: sessionId,
    } = started.parse((await user.withKey.post(`${path}/run`)).body);
    const run = { runId, chatId, sessionId };
    await waitForRun(user.withKey, run);
    const [turn] = await sql`select instructions from turns where run_id = ${run.runId}`;
    return { run: await readRun(user.withKey, run), turn };
  };
  expect(await runNow()).toMatchObject({
    run: { template_id, template_version: 1 },
    turn: { instructions: promptOf(1) },
  });
  expect((await user.withKey.patch(path, { template_version: 3 })).status).toBe(404);
  const accepted = await user.withKey.patch(path, { template_version: 2 });
  expect(accepted.body).toMatchObject({ task: { template_version: 2, template_update: null } });
  expect(await runNow()).toMatchObject({
    run: { template_id, template_version: 2 },
    turn: { instructions: promptOf(2) },
  });
});
