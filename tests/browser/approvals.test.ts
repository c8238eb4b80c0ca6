/** The calls that an agent asks for in a chat: approving, denying, remembering, and what happens while one waits. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { oneQuestion } from "../support/fixtures/questions.ts";
import { createTask } from "../support/fixtures/tasks.ts";
import { describeInBrowser, expectGood, type TabOptions } from "../support/harness/browser.ts";
import {
  answers,
  goTo,
  messageBox,
  openChatPage,
  provideChatServer,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";
import { sql } from "../support/harness/stack.ts";

const place = provideChatServer();

/** Runs a command, and then says what came of it. */
function scriptCommand(name: string): void {
  place.model.script(name, function* ({ step, toolResults }) {
    if (step > 0) yield { text: `Told: ${toolResults.at(-1)}` };
    else yield { tool: "bash", id: name, input: { command: "echo done" } };
  });
}

const cardOf = (page: Page) => page.getByRole("region", { name: "Approval" });

describeInBrowser("a call to approve", (browsing) => {
  const openAskingChat = async (options: TabOptions) => {
    const opened = await openChatPage(browsing, place.server, options);
    const { sessionId, chatId } = opened.conversation;
    const path = `/api/sessions/${sessionId}/chats/${chatId}`;
    await opened.caller.patch(path, { approvals: { bash: "ask" } });
    return opened;
  };
  const button = (page: Page, name: string) => cardOf(page).getByRole("button", { name });

  it("waits through reloads and in all tabs, and continues in the same answer", async () => {
    scriptCommand("approve");
    const { tab, page, conversation } = await openAskingChat({ width: 1440, height: 900 });
    const { sessionId } = conversation;
    await sql`update sessions set untrusted = '[{"kind": "web", "name": "example.com"}]'
      where id = ${sessionId}`;
    await sendMessage(page, "[script:approve]");
    await page.getByRole("status").getByText("The agent asks for your approval").waitFor();
    await cardOf(page).getByText("echo done", { exact: true }).first().waitFor();
    await cardOf(page).getByText("Web page: example.com").waitFor();
    await waitUntilIdle(page);
    await cardOf(page).getByText("Exact input").click();
    await expectGood(page);
    await page.reload();
    await button(page, "Approve").waitFor();
    const second = (await browsing.anotherTab(tab, { url: place.server.url })).page;
    await goTo(second, conversation);
    await button(second, "Approve").waitFor();
    // The tabs do not make each other read the turn again and again.
    await second.waitForLoadState("networkidle", { timeout: 20_000 });
    // A card that is read again in the moment of a click would lose it.
    await cardOf(page).evaluate((card) => Object.assign(card, { isFirst: true }));
    const isRead = page.waitForResponse(/\/api\/chat\/runs\/[^?/]+$/);
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await (await isRead).finished();
    expect(await cardOf(page).evaluate((card) => "isFirst" in card)).toBe(true);

    await button(page, "Approve").press("Enter");
    const focused = () => page.evaluate(() => document.activeElement?.ariaLabel);
    await expect.poll(focused).toBe("Conversation");
    for (const one of [page, second]) {
      await one.getByText(/Told: .*done/).waitFor();
      await waitUntilIdle(one);
      expect(await cardOf(one).count()).toBe(0);
      expect(await answers(one).count()).toBe(1);
    }
  });

  it("is denied by its button or by another message, and remembered on a phone", async () => {
    for (const name of ["card-deny", "card-instead", "card-always", "card-again"])
      scriptCommand(name);
    place.model.script("card-next", () => [{ text: "Something else" }]);
    const { page } = await openAskingChat({ width: 390, height: 844 });
    await sendMessage(page, "[script:card-deny]");
    await button(page, "Deny").click();
    await page.getByText(/Told: .*denied/).waitFor();
    await answers(page).last().getByText("Denied", { exact: true }).waitFor();

    await waitUntilIdle(page);
    await sendMessage(page, "[script:card-instead]");
    await cardOf(page).waitFor();
    await sendMessage(page, "[script:card-next]");
    await page.getByText("Something else").waitFor();
    await answers(page).nth(1).getByText("Denied", { exact: true }).waitFor();

    await waitUntilIdle(page);
    await sendMessage(page, "[script:card-always]");
    const written = Promise.withResolvers<void>();
    await page.route("**/approvals/*", async (route) => {
      await written.promise;
      await route.continue();
    });
    await button(page, "Always in this chat").click();
    await sendMessage(page, "[script:card-again] at once");
    await expect.poll(() => messageBox(page).inputValue()).toBe("");
    written.resolve();
    const told = page.getByText(/^Told: .*done/);
    await told.last().waitFor();
    await waitUntilIdle(page);
    const before = await told.count();
    await sendMessage(page, "[script:card-again]");
    await expect.poll(() => told.count()).toBe(before + 1);
  });

  it("is in one list with all that waits, and what is remembered is in the settings", async () => {
    scriptCommand("list");
    scriptCommand("list-task");
    place.model.script("list-question", () => [
      { tool: "ask_user_question", id: "which", input: oneQuestion },
    ]);
    const { page, caller, conversation } = await openChatPage(browsing, place.server, {
      width: 1440,
      height: 900,
    });
    const approvals = { bash: "ask" };
    await startRun(caller, { prompt: "[script:list]", approvals });
    await sendMessage(page, "[script:list-question] Left or right?");
    await page.getByText("Which one?").first().waitFor();
    await page.goto("/runs?tab=waiting");
    await cardOf(page).getByText("echo done", { exact: true }).first().waitFor();
    const runs = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Runs" });
    await runs.getByText("2 waiting").waitFor();
    await expectGood(page);
    await button(page, "Always in this chat").click();
    await cardOf(page).waitFor({ state: "detached" });
    await page
      .getByRole("region", { name: "Chats that need your answer" })
      .getByRole("link")
      .click();
    await page.waitForURL(`**/chat/${conversation.sessionId}/${conversation.chatId}`);
    await page.getByText("Which one?").first().waitFor();

    await page.setViewportSize({ width: 390, height: 844 });
    const task = await createTask(caller, { prompt: "[script:list-task]", approvals });
    const runTask = async () => {
      const { body } = await caller.post(`/api/tasks/${task.id}/run`);
      const { run_id: runId, chat_id: chatId, session_id: sessionId } = Object(body);
      return { runId, chatId, sessionId };
    };
    await runTask();
    await page.goto("/runs?tab=waiting");
    await button(page, "Always for this task").click();
    await cardOf(page).waitFor({ state: "detached" });
    expect(await waitForRun(caller, await runTask())).toMatchObject({ status: "completed" });

    await page.goto("/settings/notifications");
    await page.getByRole("switch", { name: "Email" }).check();
    await page.setViewportSize({ width: 1440, height: 900 });
    await expectGood(page);
    await expect
      .poll(async () => (await caller.get("/api/accounts/me")).body)
      .toMatchObject({ account: { mail_when_waiting: true } });
    await page.goto("/settings");
    await page.getByLabel("Run commands").selectOption("Ask me");
    await page.getByRole("button", { name: "Save approvals" }).click();
    await page.getByText("Your changes were saved.").waitFor();
    await expectGood(page);
    const forget = page.getByRole("button", { name: "Forget bash · echo done" });
    await forget.first().click();
    await expect.poll(() => forget.count()).toBe(1);
    await forget.click();
    await page.getByText("None yet.").waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Run commands").inputValue()).toBe("ask");
  });
});
