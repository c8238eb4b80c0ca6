/** The report of a task, with a file, through three servers that are killed: it arrives once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { type FakeSmtp, startFakeSmtp } from "../support/fakes/smtp.ts";
import { createTask } from "../support/fixtures/tasks.ts";
import { readRun, startRun, waitForRun } from "../support/harness/runs.ts";
import { clientAt, crash, startWorkspace, type Workspace } from "../support/harness/workspace.ts";

let smtp: FakeSmtp;
let workspace: Workspace;
beforeAll(async () => {
  smtp = await startFakeSmtp();
  workspace = await startWorkspace({
    SMTP_URL: smtp.url,
    MAIL_FROM: "Agent Platform <platform@example.com>",
  });
});
afterAll(async () => {
  await workspace?.stop();
  smtp?.close();
});

const row = async () => (await workspace.sql`select * from deliveries`)[0];
/** Expires the lease of the server that died. */
const endLease = () => workspace.sql`update deliveries set due_at = now() where due_at is not null`;

test("a server dies in the run, one before the content of the mail, and one after it", async () => {
  const { id, caller } = await workspace.createPerson(workspace.server.url);
  const email = `${id}@example.com`;
  const report = gate();
  workspace.model.script("report", async function* ({ step }) {
    if (step === 0) {
      const command = "mkdir -p reports && printf 'PK rows' > reports/royalties.xlsx";
      yield { tool: "bash", id: "write", input: { command } };
      return;
    }
    await report.pass();
    yield { text: "# Royalties\n\nNothing is missing." };
  });
  const deliver = [{ kind: "email", to: [email], attach: ["reports/*.xlsx"] }];
  const task = await createTask(caller, { prompt: "[script:report]", title: "Weekly", deliver });
  const started = await caller.post(`/api/tasks/${task.id}/run`);
  expect(started.status, started.text).toBe(202);
  const { run_id: runId, chat_id: chatId, session_id: sessionId } = Object(started.body);
  const run = { runId, chatId, sessionId };

  await report.reached;
  await crash(workspace.server);
  smtp.answer("RCPT TO", "nothing");
  const second = clientAt((await workspace.startServer()).url, caller);
  report.open();
  expect(await waitForRun(second, run)).toMatchObject({ status: "completed", delivery: "pending" });
  await expect.poll(async () => (await row())?.attempts, { timeout: 90_000 }).toBe(1);
  await crash(workspace.server);
  expect(await row()).toMatchObject({ status: "pending" });

  smtp.answer("RCPT TO");
  smtp.answer("DATA", "nothing after accepting");
  await endLease();
  await workspace.startServer();
  await expect.poll(() => smtp.mails.length, { timeout: 90_000 }).toBe(1);
  expect(await row()).toMatchObject({ status: "sending", attempts: 2 });
  await crash(workspace.server);

  smtp.answer("DATA");
  await endLease();
  const last = clientAt((await workspace.startServer()).url, caller);
  const state = async () => (await readRun(last, run)).delivery;
  await expect.poll(state, { timeout: 90_000 }).toBe("failed");
  const answer = await last.get(`/api/chat/runs/${runId}/deliveries`);
  expect(answer.body).toMatchObject({
    deliveries: [{ kind: "email", to: email, status: "failed", error: "outcome unknown" }],
  });

  const [mail, ...more] = smtp.mailsTo(email);
  expect(more).toEqual([]);
  expect(mail?.raw).toContain("Subject: Weekly");
  expect(mail?.raw).toMatch(/Content-Disposition: attachment; filename=royalties.xlsx/);
  expect(mail?.raw).toContain(Buffer.from("PK rows").toString("base64"));
  expect(mail?.raw).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
});

test("a server that is to exit waits for the answer to a mail", async () => {
  const { server } = workspace;
  const { id, caller } = await workspace.createPerson(server.url);
  const answered = Promise.withResolvers<void>();
  smtp.answer("DATA", answered.promise);
  const deliver = [{ kind: "email", to: [`${id}@example.com`] }];
  await startRun(caller, { prompt: "hello", deliver });
  const status = async () =>
    (await workspace.sql`select status from deliveries where account_id = ${id}`)[0]?.status;
  await expect.poll(status, { timeout: 90_000 }).toBe("sending");
  server.kill("SIGTERM");
  const isReady = () =>
    fetch(`${server.url}/api/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady, { timeout: 90_000 }).toBe(false);
  answered.resolve();
  await server.died;
  expect(await status()).toBe("sent");
});
