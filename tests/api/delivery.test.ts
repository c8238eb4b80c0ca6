/** `deliver` of runs and tasks, and the deliveries of a run. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { delivery } from "../../lib/delivery/contract.ts";
import { createTask, readTask, validTask } from "../support/fixtures/tasks.ts";
import { createPerson } from "../support/harness/clients.ts";
import { mailsTo } from "../support/harness/mailbox.ts";
import {
  answerApproval,
  readRun,
  startRun,
  waitForApprovals,
  waitForRun,
} from "../support/harness/runs.ts";

const list = z.strictObject({
  status: z.literal("success"),
  deliveries: z.array(z.strictObject(delivery.shape)),
});

describe("deliver", () => {
  test("of a task is stored, changed and removed, and its runs have it", async () => {
    const { withKey, email } = await createPerson();
    const entry = {
      kind: "email",
      to: [email],
      subject: "Charts",
      attach: ["*.md"],
      format: "summary",
    };
    const task = await createTask(withKey, { deliver: [entry] });
    expect(task.deliver).toEqual([entry]);
    const other = [{ kind: "email", to: [email] }];
    await withKey.patch(`/api/tasks/${task.id}`, { deliver: other });
    expect((await readTask(withKey, task.id)).deliver).toEqual(other);
    await withKey.patch(`/api/tasks/${task.id}`, { deliver: "" });
    expect(await readTask(withKey, task.id)).not.toHaveProperty("deliver");
  });

  test("of a run sends its answer, which the run and its deliveries show", async () => {
    const [person, stranger] = [await createPerson(), await createPerson()];
    const { withKey, email } = person;
    const run = await startRun(withKey, {
      prompt: "Say hello",
      deliver: [
        { kind: "email", to: [email], subject: "Für Ada\u2028Bcc: x", attach: ["none.pdf"] },
      ],
    });
    await waitForRun(withKey, run);
    await expect
      .poll(async () => (await readRun(withKey, run)).delivery, { timeout: 90_000 })
      .toBe("sent");
    const path = `/api/chat/runs/${run.runId}/deliveries`;
    const { deliveries } = list.parse((await withKey.get(path)).body);
    expect(deliveries).toMatchObject([{ kind: "email", to: email, status: "sent", attempts: 1 }]);
    expect(deliveries[0]?.sent_at).toBeDefined();
    const [mail = "", ...more] = await mailsTo(email);
    expect(more).toEqual([]);
    expect(mail).toContain("Content-Type: multipart/alternative");
    expect(mail).not.toMatch(/^Bcc/m);
    expect(mail.replaceAll("=\r\n", "")).toContain("none.pdf");
    expect((await stranger.withKey.get(path)).status).toBe(404);
  });

  test("that waits for an approval is mailed to an account that wants it, without its input", async () => {
    const { withKey, email } = await createPerson();
    const body = { prompt: "Run `echo secret`", approvals: { bash: "ask" } };
    const unwanted = await startRun(withKey, body);
    await waitForApprovals(withKey, unwanted);
    await withKey.patch("/api/accounts/me", { mail_when_waiting: true });
    const run = await startRun(withKey, body);
    const [asked] = await waitForApprovals(withKey, run);
    await expect.poll(() => mailsTo(email), { timeout: 90_000 }).toHaveLength(1);
    const [mail = ""] = await mailsTo(email);
    const text = mail.replaceAll("=\r\n", "");
    expect(text).toContain(`/runs/${run.runId}`);
    expect(text).not.toContain(asked?.input);
    await answerApproval(withKey, run, asked?.id, { approved: true });
    await waitForRun(withKey, run);
    const { body: sent } = await withKey.get(`/api/chat/runs/${run.runId}/deliveries`);
    expect(list.parse(sent).deliveries).toMatchObject([{ kind: "waiting", status: "sent" }]);
    expect(await mailsTo(email)).toHaveLength(1);
  });

  test.each([
    [{ to: [] }, "to"],
    [{ to: ["a@example.com\r\nBcc: b@example.com"] }, "to"],
    [{ to: ["a@example.com, b@example.com"] }, "to"],
    [{ subject: "Hello\r\nBcc: b@example.com" }, "subject must be a single line"],
    [{ attach: ["../../etc/passwd"] }, "relative to /home/agent"],
    [{ attach: ["/etc/passwd"] }, "relative to /home/agent"],
    [{ kind: "sms" }, "kind"],
  ])("%j is refused", async (values, error) => {
    const { withKey, email } = await createPerson();
    const deliver = [{ kind: "email", to: [email], ...values }];
    const answer = await withKey.post("/api/tasks", { ...validTask, deliver });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toContain(error);
  });

  test("has at most 5 entries and 20 recipients, each of them once", async () => {
    const { withKey, email } = await createPerson();
    const entry = { kind: "email", to: [email] };
    const crowd = Array.from({ length: 11 }, (_, place) => `a${place}@example.com`);
    const other = crowd.map((address) => `b${address}`);
    for (const deliver of [
      Array.from({ length: 6 }, () => entry),
      [entry, entry],
      [
        { ...entry, to: crowd },
        { ...entry, to: other },
      ],
    ]) {
      const answer = await withKey.post("/api/tasks", { ...validTask, deliver });
      expect(answer.status, answer.text).toBe(400);
    }
  });
});
