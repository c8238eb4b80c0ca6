/** The model and the output schema of agent templates in chats, runs and tasks. */
import { beforeAll, expect, it } from "vitest";
import { createSession } from "../../support/fixtures/sessions.ts";
import { createTask } from "../../support/fixtures/tasks.ts";
import { createTemplate } from "../../support/fixtures/templates.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, createPerson } from "../../support/harness/clients.ts";
import { type Started, startRun, waitForRun } from "../../support/harness/runs.ts";

const place = provideChatServer();
let owner: Client;
beforeAll(async () => {
  owner = (await createPerson(place.server.url)).withKey;
  place.model.script("templated", function* ({ toolSchemas }) {
    const isText = JSON.stringify(toolSchemas.submit_output).includes('"text"');
    yield { tool: "submit_output", input: isText ? { text: "Twelve" } : { tracks: 12 } };
  });
});

const output_schema = {
  type: "object",
  properties: { tracks: { type: "integer" } },
  required: ["tracks"],
};

/** Returns the model and the output of a run that has completed. */
async function resultOf(caller: Client, run: Started) {
  const { status, output } = await waitForRun(caller, run);
  expect(status).toBe("completed");
  const { body } = await caller.get(`/api/chat/runs?chat_id=${run.chatId}`);
  return { model: Object(body).runs[0].model_id, output };
}

it("are those of its runs and tasks, unless a run says otherwise", async () => {
  const { id } = await createTemplate(owner, { model: "fake-vision", output_schema });
  const stranger = (await createPerson(place.server.url)).withKey;
  const body = { prompt: "[script:templated]", template_id: id };
  const text = {
    type: "object",
    properties: { text: { type: "string" } },
    additionalProperties: false,
  };
  const runs = [
    [owner, body],
    [owner, { ...body, model: "fake-small" }],
    // Another account's template must not select a paid model.
    [stranger, body],
    [owner, { ...body, output_schema: text }],
  ] as const;
  const ended = await Promise.all(
    runs.map(async ([caller, given]) => resultOf(caller, await startRun(caller, given))),
  );
  expect(ended).toEqual([
    { model: "fake-vision", output: { tracks: 12 } },
    { model: "fake-small", output: { tracks: 12 } },
    { model: "auto", output: { tracks: 12 } },
    { model: "fake-vision", output: { text: "Twelve" } },
  ]);
  const task = await createTask(owner, { prompt: "[script:templated]", template_id: id });
  const { body: started } = await owner.post(`/api/tasks/${task.id}/run`);
  const { run_id: runId, chat_id: chatId, session_id: sessionId } = Object(started);
  expect(await resultOf(owner, { runId, chatId, sessionId })).toEqual(ended[0]);
});

it("sets the model of a chat that has none of its own, and is versioned", async () => {
  const { id } = await createTemplate(owner, { model: "fake-vision" });
  const { session, chat } = await createSession(owner);
  const chats = `/api/sessions/${session.id}/chats`;
  const modelOf = async (answer: ReturnType<Client["post"]>) =>
    Object((await answer).body).chat.modelId;
  expect(await modelOf(owner.post(chats, { templateId: id }))).toBe("fake-vision");
  const chosen = { templateId: id, modelId: "fake-small" };
  expect(await modelOf(owner.post(chats, chosen))).toBe("fake-small");
  const path = `${chats}/${chat.id}`;
  expect(await modelOf(owner.patch(path, { templateId: id }))).toBe("fake-vision");
  await owner.patch(path, { modelId: "fake-small", templateId: "" });
  expect(await modelOf(owner.patch(path, { templateId: id }))).toBe("fake-small");

  const template = `/api/agents/templates/${id}`;
  for (const values of [{ model: "none-such" }, { output_schema: { type: "no such type" } }]) {
    expect((await owner.patch(template, values)).status).toBe(400);
  }
  await owner.patch(template, { model: "", output_schema });
  const { body } = await owner.get(`${template}/versions/2?compare_to=1`);
  expect(Object(body).comparison.changes).toEqual([
    { field: "model", before: "fake-vision", after: null },
    { field: "output_schema", before: null, after: output_schema },
  ]);
});
