/** The tools of the agent that act in the service: tasks that it creates, and media that it generates. */
import sharp from "sharp";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { ofStandIn } from "../../support/fixtures/generations.ts";
import { createTask } from "../../support/fixtures/tasks.ts";
import { provideChatServer } from "../../support/harness/chat-browser.ts";
import { type Client, createPerson, type Person } from "../../support/harness/clients.ts";
import { openConversation } from "../../support/harness/conversation.ts";
import {
  answerApproval,
  type Started,
  startRun,
  waitForApprovals,
  waitForRun,
} from "../../support/harness/runs.ts";
import { sql } from "../../support/harness/stack.ts";

const place = provideChatServer();
let person: Person;
let caller: Client;
beforeAll(async () => {
  person = await createPerson(place.server.url);
  caller = person.withKey;
});

const wanted = {
  title: "Monday charts",
  prompt: `Check the charts. ${"Say so, and why. ".repeat(200)}The end.`,
  cron: "0 9 * * MON",
  timezone: "Europe/Berlin",
};

/** Calls the tool at once with each of the inputs. Returns the results as the model got them. */
function scriptCalls(name: string, tool: string, inputs: readonly object[]) {
  const script = `service-${name}`;
  place.model.script(script, function* ({ step }) {
    if (step > 0) yield { text: "Done" };
    else yield* inputs.map((input, at) => ({ tool, id: `${name}-${at}`, input }));
  });
  return {
    prompt: `[script:${script}]`,
    tools: () => place.model.callsOf(script)[0]?.tools ?? [],
    results: () => place.model.callsOf(script)[1]?.toolResults ?? [],
  };
}

const tasksTitled = async (title: string) =>
  sql`select * from scheduled_prompts where account_id = ${person.id} and title = ${title}`;
const completed = async (run: Started) =>
  expect(await waitForRun(caller, run)).toMatchObject({ status: "completed", error: null });

describe("schedule", () => {
  it("creates the task that a person has approved, once, and none that was denied", async () => {
    const until = `${new Date().getUTCFullYear() + 1}-12-31`;
    const script = scriptCalls("plans", "schedule", [
      { ...wanted, deliver: [person.email], until },
      { ...wanted, title: "Denied" },
      { ...wanted, title: "Often", cron: "*/30 9 * * MON" },
    ]);
    const options = { scheduling: true, approvals: { bash: "ask" } };
    const run = await startRun(caller, { prompt: script.prompt, ...options });
    const asked = await waitForApprovals(caller, run);
    expect(asked).toMatchObject([
      { tool: "schedule", category: "schedules", is_memorable: false, sources: [] },
      { input: { title: "Denied" } },
    ]);
    const lines = new Map(asked[0]?.effect.map(({ label, value }) => [label, value]));
    expect(Object.fromEntries(lines)).toMatchObject({
      ...{ Title: wanted.title, Prompt: wanted.prompt, Schedule: "0 9 * * MON (Europe/Berlin)" },
      ...{ "Mail to": person.email, Until: until },
    });
    const times = lines.get("Next times")?.split("; ") ?? [];
    expect(times).toEqual(Array(3).fill(expect.stringMatching(/^Monday,? .* 09:00$/)));
    expect(await tasksTitled(wanted.title)).toEqual([]);

    const [first, second] = asked.map(({ id }) => id);
    const approve = () => answerApproval(caller, run, first, { approved: true });
    const answers = [await approve(), await approve()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await answerApproval(caller, run, second, { approved: false });
    await completed(run);
    const made = await tasksTitled(wanted.title);
    expect(made).toMatchObject([
      {
        ...{ id: first, prompt: wanted.prompt, schedule: wanted.cron, enabled: true },
        options: {
          approvals: { bash: "ask" },
          deliver: [{ kind: "email", to: [person.email] }],
          ends_at: `${until}T22:59:59.000Z`,
        },
      },
    ]);
    expect(await tasksTitled("Denied")).toEqual([]);
    expect(script.results()).toEqual([
      expect.stringContaining(String(first)),
      expect.stringContaining("denied this"),
      expect.stringContaining("at most once an hour"),
    ]);

    const list = scriptCalls("looks", "list_schedules", [{}]);
    await completed(await startRun(caller, { prompt: list.prompt, scheduling: true }));
    expect(list.results()[0]).toContain(wanted.title);
  });

  it("is asked for in an untrusted turn whatever the policy, and not in another", async () => {
    const options = { scheduling: true, approvals: { schedules: "auto" } } as const;
    const trusted = scriptCalls("trusted", "schedule", [{ ...wanted, title: "Trusted" }]);
    const conversation = await openConversation(caller);
    const { sessionId, chatId } = conversation;
    await caller.patch(`/api/sessions/${sessionId}/chats/${chatId}`, options);
    await (await conversation.send(trusted.prompt)).ended;
    expect(await tasksTitled("Trusted")).toHaveLength(1);

    const source = { kind: "web", name: "a.example" };
    await sql`update sessions set untrusted = ${sql.json([source])} where id = ${sessionId}`;
    const untrusted = scriptCalls("untrusted", "schedule", [{ ...wanted, title: "Untrusted" }]);
    const stream = await conversation.send(untrusted.prompt);
    await stream.ended;
    expect(stream.chunks.at(-1)).toMatchObject({
      type: "tool-approval-request",
      approvalDescriptor: { category: "schedules", sources: [source] },
    });
    expect(await tasksTitled("Untrusted")).toEqual([]);
  });

  it("is no tool of a run that a task has started, nor of one without the option", async () => {
    const calls = [{ ...wanted, title: "Of a task" }];
    const ofTask = scriptCalls("of-task", "schedule", calls);
    const options = { scheduling: true, approvals: { schedules: "auto" } };
    const task = await createTask(caller, { prompt: ofTask.prompt, ...options });
    const { body } = await caller.post(`/api/tasks/${task.id}/run`);
    const { run_id: runId, chat_id: chatId, session_id: sessionId } = Object(body);
    await completed({ runId, chatId, sessionId });
    expect(ofTask.tools()).toContain("list_schedules");
    const without = scriptCalls("without", "schedule", calls);
    await completed(await startRun(caller, { prompt: without.prompt }));
    for (const { tools, results } of [ofTask, without]) {
      expect(tools()).not.toContain("schedule");
      expect(results()).toEqual([expect.stringContaining("unavailable tool 'schedule'")]);
    }
    expect(await tasksTitled("Of a task")).toEqual([]);
  });
});

const media = z.object({ path: z.string(), url: z.url() }).loose();
const resultIn = (text = "") => media.parse(JSON.parse(text));

describe("make_media", () => {
  it("writes an image into the sandbox, also from an image there, and says that it is a placeholder", async () => {
    place.model.script("service-cover", function* ({ step, toolResults }) {
      const more = step === 0 ? {} : { image: resultIn(toolResults[0]).path };
      const input = { kind: "image", prompt: "A red kite", aspect_ratio: "9:16", ...more };
      if (step < 2) yield { tool: "make_media", id: `cover-${step}`, input };
      else yield { text: "Done" };
    });
    const approvals = { media: "ask_when_untrusted" };
    const options = { media_tools: true, approvals };
    const run = await startRun(caller, { prompt: "[script:service-cover]", ...options });
    await completed(run);
    const results = place.model.callsOf("service-cover")[2]?.toolResults.map(resultIn) ?? [];
    expect(results).toHaveLength(2);
    for (const result of results) {
      expect(result).toMatchObject({ width: 720, height: 1280, format: "image/png", ...ofStandIn });
      const query = new URLSearchParams({ sessionId: run.sessionId, path: result.path });
      const file = await fetch(`${place.server.url}/api/sandbox/files/content?${query}`, {
        headers: caller.headers,
      });
      const bytes = Buffer.from(await file.arrayBuffer());
      expect(bytes).toHaveLength(Number(result.bytes));
      expect(await sharp(bytes).metadata()).toMatchObject({ width: 720, height: 1280 });
    }
    const { body } = await caller.get("/api/tasks/runs");
    const runs = z.object({ runs: z.array(z.object({ status: z.string() })) }).parse(body).runs;
    expect(runs.filter(({ status }) => status === "COMPLETED").length).toBeGreaterThanOrEqual(2);
  });

  it("is asked for as the request that it stands for", async () => {
    const image = "https://pictures.example/a.png";
    const script = scriptCalls("asks", "make_media", [{ kind: "video", prompt: "Wind", image }]);
    const options = { media_tools: true, approvals: { fetch: "ask", write: "deny" } };
    const denied = await startRun(caller, { prompt: script.prompt, ...options });
    await completed(denied);
    expect(script.results()[0]).toContain("approvals.write");
    const again = { ...options, approvals: { fetch: "ask" } };
    const run = await startRun(caller, { prompt: script.prompt, ...again });
    expect(await waitForApprovals(caller, run)).toMatchObject([
      {
        category: "fetch",
        effect: expect.arrayContaining([
          { label: "Host", value: "pictures.example" },
          { label: "Request", value: "POST /api/content/video" },
        ]),
      },
    ]);
  });
});
