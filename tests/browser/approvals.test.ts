/** The calls that an agent asks for in a chat: approving, denying, remembering, and what happens while one waits. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { describeRequest } from "../../packages/client/src/cli/ask-approval.ts";
import {
  hiddenTexts,
  isVisible,
  readVisible,
  withCountedBlanks,
} from "../../packages/endpoint/tests/hidden-texts.ts";
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
import { startRun, waitForApprovals, waitForRun } from "../support/harness/runs.ts";
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
    await second.waitForLoadState("networkidle", { timeout: 90_000 });
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
      await one.getByText(/Told: .*done/s).waitFor();
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
    await cardOf(page).getByText("Approved", { exact: true }).waitFor();
    await sendMessage(page, "[script:card-again] at once");
    await expect.poll(() => messageBox(page).inputValue()).toBe("");
    written.resolve();
    const told = page.getByText(/^Told: .*done/s);
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

  it("shows what runs: nothing is invisible, reordered or out of sight", async () => {
    place.model.script("hidden", function* ({ step }) {
      if (step > 0) yield { text: "Done" };
      else
        for (const [at, command] of hiddenTexts.entries())
          yield { tool: "bash", id: `hidden-${at}`, input: { command } };
    });
    const { page, caller } = await openChatPage(browsing, place.server, {
      width: 900,
      height: 900,
    });
    const run = await startRun(caller, { prompt: "[script:hidden]", approvals: { bash: "ask" } });
    const asked = await waitForApprovals(caller, run);
    expect(asked).toHaveLength(hiddenTexts.length);
    const shown = asked.map((request) => {
      const { command } = z.object({ command: z.string() }).parse(request.input);
      const [{ value = "", is_cut = false } = {}] = request.effect;
      expect(isVisible(value)).toBe(true);
      if (!is_cut && !value.includes(" more⟩"))
        expect(readVisible(value)).toBe(withCountedBlanks(command));
      const lines = describeRequest(request).join("\n");
      expect(isVisible(lines)).toBe(true);
      // The whole input, where the effect leaves a part out.
      if (is_cut) expect(lines).toContain("The whole input");
      return { value, command };
    });
    expect(shown.map(({ command }) => command).toSorted()).toEqual(hiddenTexts.toSorted());

    await page.goto("/runs?tab=waiting");
    await expect.poll(() => cardOf(page).count()).toBe(shown.length);
    const values = await cardOf(page).evaluateAll((cards) =>
      cards.map((card) => card.querySelector("dd")?.textContent ?? ""),
    );
    expect(values.toSorted()).toEqual(shown.map(({ value }) => value).toSorted());
    // Hebrew letters stay in place, and the text between them runs from left to right.
    const reordered = cardOf(page).filter({ hasText: "\u05d0 > \u05d1" });
    const places = await reordered.locator("dd").evaluate((line) => {
      const letters = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      const lefts: number[] = [];
      for (let node = letters.nextNode(); node; node = letters.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(node);
        lefts.push(range.getBoundingClientRect().left);
      }
      return lefts;
    });
    expect(places.length).toBeGreaterThan(4);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it("is not approved by a click that comes too early, or before its input is read", async () => {
    place.model.script("early", function* ({ step, toolResults }) {
      if (step > 0) yield { text: `Told: ${toolResults.at(-1)}` };
      else {
        const command = `echo ${"x".repeat(3_000)} | wc -c # ${"read me ".repeat(2_000)}`;
        yield { tool: "bash", id: "early", input: { command } };
      }
    });
    const { page } = await openAskingChat({ width: 1440, height: 900 });
    await page.evaluate(() => {
      const observer = new MutationObserver(() => {
        const approve = [...document.querySelectorAll("button")].find(
          ({ textContent }) => textContent === "Approve",
        );
        if (!approve) return;
        observer.disconnect();
        approve.click();
        document.body.dataset.clicked = "early";
      });
      observer.observe(document.body, { childList: true, subtree: true });
    });
    await sendMessage(page, "[script:early]");
    const approve = button(page, "Approve");
    await approve.waitFor();
    expect(await page.evaluate(() => document.body.dataset.clicked)).toBe("early");
    await cardOf(page)
      .getByText(/characters left out/)
      .waitFor();
    await cardOf(page)
      .getByText(/Read “Exact input” to its end/)
      .waitFor();
    const isOff = () => approve.getAttribute("aria-disabled");
    await cardOf(page).getByText("Exact input", { exact: true }).click();
    const input = cardOf(page).getByRole("group", { name: "Exact input" });
    await input.getByText(/echo x/).waitFor();
    await approve.dispatchEvent("click");
    expect(await isOff()).toBe("true");
    await expectGood(page);
    await input.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await expect.poll(isOff).toBe("false");

    // In a window without the focus, a click may be meant for another one.
    await page.evaluate(() => {
      document.hasFocus = () => false;
      window.dispatchEvent(new Event("blur"));
    });
    await expect.poll(isOff).toBe("true");
    await approve.dispatchEvent("click");
    await page.evaluate(() => {
      document.hasFocus = () => true;
      window.dispatchEvent(new Event("focus"));
    });
    await expect.poll(isOff).toBe("false");
    await approve.click();
    await page.getByText(/Told: .*3001/s).waitFor();
  });
});
