/**
 * A chat as a person uses it: the first answer, stopping, scrolling, the list and the files.
 * This file is long because its tests share a server.
 */
import { expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import {
  describeInBrowser,
  expectGood,
  hideNavigation,
  showNavigation,
} from "../support/harness/browser.ts";
import {
  answers,
  expectShown,
  messageBox,
  openChatPage,
  provideChatServer,
  sendMessage,
  signInByCode,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { createPerson } from "../support/harness/clients.ts";
import { openChat, openConversation } from "../support/harness/conversation.ts";

const place = provideChatServer();

describeInBrowser("the chat", (browsing) => {
  it("takes a stranger from the first visit to the first answer", async () => {
    const { page } = await browsing.newTab();
    await page.goto("/chat");
    await signInByCode(page);
    await page.getByRole("heading", { name: "What would you like to work on?" }).waitFor();
    const isShown = Promise.withResolvers<void>();
    await page.route("**/api/**", async (route) => {
      await isShown.promise;
      await route.continue();
    });
    await sendMessage(page, "run `echo first-answer`");
    await page.getByRole("article", { name: "You" }).getByText("run `echo first-answer`").waitFor();
    isShown.resolve();
    await page.waitForURL(/\/chat\/[\w-]{36}\/[\w-]{36}$/);
    await waitUntilIdle(page);
    const answer = answers(page).last();
    await answer.getByText("first-answer", { exact: true }).waitFor();
    await answer.getByRole("button", { name: /^Ran echo first-answer/ }).click();
    await answer.getByRole("group", { name: "Terminal" }).getByText("first-answer").waitFor();
    // The model, and its cost.
    await answer.getByText(/^embedded\/rules · [\d.]+ m?s$/).waitFor();
    // The list contains the chat, titled by its first words.
    await showNavigation(page);
    const list = page.getByRole("navigation", { name: "Chats" });
    await list.getByRole("link", { name: "run `echo first-answer`" }).waitFor();
    await hideNavigation(page);
    await page.getByRole("heading", { level: 1, name: "run `echo first-answer`" }).waitFor();
  });

  it("tells the name of each page that is opened after it", async () => {
    const { page } = await browsing.signedIn({ url: place.server.url });
    // Leads to the new chat.
    await page.goto("/");
    await page.getByRole("heading", { name: "What would you like to work on?" }).waitFor();
    await sendMessage(page, "Plan a tour");
    await expect.poll(() => page.title()).toBe("Plan a tour · Agent Platform");
    const announced = page.locator("next-route-announcer").getByRole("alert");
    for (const name of ["Artists", "Content", "Schedules"]) {
      await showNavigation(page);
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await expect.poll(() => announced.textContent()).toMatch(new RegExp(`^${name}`));
      await expect.poll(() => page.title()).toBe(`${name} · Agent Platform`);
    }
  });

  it("shows each tool's work as what it is", async () => {
    place.model.script("tools", function* ({ step }) {
      if (step === 0) {
        yield { reasoning: "A plan comes first." };
        yield {
          tool: "todo",
          input: {
            todos: [
              { id: "1", content: "Write the list", status: "completed" },
              { id: "2", content: "Check the list", status: "in_progress" },
              { id: "3", content: "Send the list", status: "pending" },
            ],
          },
        };
        yield { tool: "write", input: { filePath: "songs/list.txt", content: "one\ntwo\n" } };
      } else if (step === 1) {
        yield { tool: "read", input: { filePath: "songs/list.txt" } };
        yield { tool: "grep", input: { pattern: "two" } };
        yield { tool: "glob", input: { pattern: "**/*.txt" } };
        yield { tool: "bash", input: { command: "cat songs/list.txt; echo oh >&2; exit 3" } };
        yield { tool: "read", input: { filePath: "nothing.txt" } };
      } else yield { text: "Done." };
    });
    const { page, conversation } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:tools]");
    await expectShown(page, conversation, "Done.");
    const answer = answers(page).last();

    const plan = answer.getByRole("list", { name: "Plan" });
    expect(await plan.getByRole("listitem").count()).toBe(3);
    await plan.getByRole("img", { name: "In progress:" }).waitFor();

    await answer.getByRole("button", { name: "Reasoning" }).click();
    await answer.getByText("A plan comes first.").waitFor();
    await answer.getByRole("button", { name: /^6 steps, [\d.]+ m?s 1 failed$/ }).click();
    await answer.getByRole("button", { name: /^Wrote songs\/list.txt/ }).click();
    await answer.getByRole("group", { name: "Content of songs/list.txt" }).waitFor();
    await answer.getByRole("button", { name: /^Searched for two 1 match/ }).click();
    await answer.getByRole("group", { name: "Matches" }).getByText("two").waitFor();
    await answer.getByRole("button", { name: /^Looked for files .* 1 file/ }).click();
    await answer.getByRole("button", { name: /^Ran cat .* exit 3/ }).click();
    const terminal = answer.getByRole("group", { name: "Terminal" });
    expect(await terminal.textContent()).toContain("one\ntwo\noh");
    await answer.getByRole("button", { name: /^Read nothing.txt Failed/ }).click();

    // Opens the file of a call beside the chat.
    await answer
      .getByRole("group", { name: "Files" })
      .getByRole("button", { name: "songs/list.txt" })
      .click();
    const files = page.getByRole("complementary", { name: "Files of this chat" });
    await files.getByRole("group", { name: "Content of list.txt" }).getByText("two").waitFor();
    await expectGood(page);
    const download = page.waitForEvent("download");
    await files.getByRole("button", { name: "Download file" }).click();
    expect((await download).suggestedFilename()).toBe("list.txt");
    await files.getByRole("button", { name: "Back to folder" }).click();
    await files.getByRole("button", { name: "Folder songs" }).click();
    await files.getByRole("button", { name: /list.txt/ }).waitFor();
  });

  it("stops by Escape within a turn, keeps the answer so far, and takes the next message", async () => {
    place.model.script("endless", function* () {
      yield { text: "As far as this." };
      yield { hang: true };
    });
    const { page, conversation } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:endless]");
    await page.getByText("As far as this.").waitFor();
    await page.keyboard.press("Escape");
    await answers(page).last().getByText("Stopped").waitFor();
    await page.getByRole("status").getByText("The answer was stopped").waitFor();
    await page.reload();
    await answers(page).last().getByText("Stopped").waitFor();
    await expectShown(page, conversation, "As far as this.");
    await sendMessage(page, "[deltas:2]");
    await expectShown(page, conversation, "0 1 ");
  });

  it("shows plainly that a turn failed, and continues", async () => {
    let isFailing = true;
    place.model.script("fails", function* () {
      yield { text: isFailing ? "So far." : "All of it." };
      if (isFailing) yield { fail: 400 };
    });
    const { page, conversation } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:fails]");
    const failure = answers(page).last().getByRole("alert");
    await failure.getByText("The model failed to answer.").waitFor();
    expect(await page.getByText("The agent has answered").count()).toBe(0);
    // The cause is stored.
    await page.reload();
    await failure.getByText("The model failed to answer.").waitFor();
    await answers(page).last().getByText("So far.").waitFor();
    await expectGood(page);
    isFailing = false;
    await failure.getByRole("button", { name: "Retry" }).click();
    await expectShown(page, conversation, "All of it.");
    await answers(page).getByText("2 / 2").waitFor();
    await sendMessage(page, "[deltas:2]");
    await expectShown(page, conversation, "0 1 ");
    expect(await page.getByRole("alert").getByText("failed").count()).toBe(0);

    // The cause, and the way out.
    place.model.script("too-long", function* () {
      yield { fail: 400, message: "This model's maximum context length is 128000 tokens" };
    });
    await sendMessage(page, "[script:too-long]");
    const alert = page.getByRole("alert");
    await alert.getByText("The newest message alone is too long for this model").waitFor();
    expect(await alert.getByRole("button", { name: "Retry" }).count()).toBe(0);
    place.model.script("too-long", function* ({ model }) {
      yield { text: `Answered by ${model}` };
    });
    await alert.getByRole("button", { name: "Try another model" }).click();
    await page.getByRole("option", { name: "fake-small" }).click();
    await answers(page).last().getByText("Answered by fake-small").waitFor();
  });

  it("stays where one reads while text streams in, and jumps to the latest when asked", async () => {
    const held = gate();
    place.model.script("long", async function* () {
      yield { text: Array.from({ length: 80 }, (_, n) => `Line ${n}`).join("\n\n") };
      await held.pass();
      yield { text: "\n\nThe last line" };
    });
    const { page } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:long]");
    const box = page.getByRole("region", { name: "Conversation" });
    const fromEnd = () =>
      box.evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop);
    await page.getByText("Line 79").waitFor();
    await expect.poll(fromEnd).toBeLessThan(2);
    await box.hover();
    await page.mouse.wheel(0, -600);
    const jump = page.getByRole("button", { name: "Jump to latest" });
    await jump.waitFor();
    const place0 = await box.evaluate((one) => one.scrollTop);
    held.open();
    await page.getByText("The last line").waitFor({ state: "attached" });
    await waitUntilIdle(page);
    expect(await box.evaluate((one) => one.scrollTop)).toBe(place0);
    await jump.click();
    await expect.poll(fromEnd).toBeLessThan(2);
    await jump.waitFor({ state: "detached" });
  });

  it("lists, renames and deletes chats, and marks one that runs", async () => {
    const held = gate();
    place.model.script("marked", async function* () {
      yield { text: "Working." };
      await held.pass();
    });
    const { page, caller, conversation } = await openChatPage(browsing, place.server);
    const list = page.getByRole("navigation", { name: "Chats" });

    await sendMessage(page, "[script:marked]");
    await showNavigation(page);
    const mine = list.getByRole("link", { name: "[script:marked]" });
    await mine.getByRole("img", { name: "(answering)" }).waitFor();
    held.open();
    await mine.getByRole("img").waitFor({ state: "detached" });

    await mine.hover();
    await list.getByRole("button", { name: "Actions for [script:marked]" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await list.getByLabel("New name for [script:marked]").fill("Better name");
    await page.keyboard.press("Enter");
    await hideNavigation(page);
    await page.getByRole("heading", { level: 1, name: "Better name" }).waitFor();
    expect((await conversation.read()).chat.title).toBe("Better name");

    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "View as code" }).click();
    await page.getByRole("dialog").getByText("/api/chat").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Chat menu" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "What would you like to work on?" }).waitFor();
    await showNavigation(page);
    await list.getByRole("link", { name: "Better name" }).waitFor({ state: "detached" });
    expect((await caller.get(`/api/sessions/${conversation.sessionId}`)).status).toBe(404);
  });

  it("chooses the model of the next turn", async () => {
    const { page, conversation } = await openChatPage(browsing, place.server);
    const picker = page.getByRole("button", { name: /^Model/ });
    await picker.focus();
    await page.keyboard.press("Enter");
    const option = page
      .getByRole("listbox", { name: "Models" })
      .getByRole("option", { name: /^fake-model(?! \(default)/ });
    // The provider's description of the model.
    await option.getByText("128K", { exact: true }).waitFor();
    await page.keyboard.type("no such");
    await page.getByText("No model matches “no such”.").waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("fake");
    await page
      .getByRole("listbox", { name: "Models" })
      .getByRole("option", { name: /^fake-small/ })
      .waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect
      .poll(() => picker.evaluate((button) => button === document.activeElement))
      .toBe(true);
    await expect.poll(async () => (await conversation.read()).chat.modelId).toBe("fake-small");
    place.model.script("small", function* () {
      yield { text: "From the small one." };
    });
    await sendMessage(page, "[script:small]");
    await answers(page)
      .last()
      .getByText(/^fake-small · /)
      .waitFor();
    expect(place.model.callsOf("small").at(-1)?.model).toBe("fake-small");
  });

  it("keeps a draft for each chat, and says of a chat that is not there what to do", async () => {
    const { page, caller, conversation } = await openChatPage(browsing, place.server, {
      expected: /404/,
    });
    const second = await openChat(conversation, caller);
    await messageBox(page).fill("half a thought");
    await page.goto(`/chat/${second.sessionId}/${second.chatId}`);
    await messageBox(page).waitFor();
    expect(await messageBox(page).inputValue()).toBe("");
    await page.goBack();
    await expect.poll(() => messageBox(page).inputValue()).toBe("half a thought");

    const other = await createPerson(place.server.url);
    const foreign = await openConversation(other.withBearer);
    await page.goto(`/chat/${foreign.sessionId}/${foreign.chatId}`);
    await page.getByRole("heading", { name: "Chat not found" }).waitFor();
    await page.getByRole("link", { name: "Start a new chat" }).click();
    await page.getByRole("heading", { name: "What would you like to work on?" }).waitFor();
    expect((await caller.get("/api/sessions")).status).toBe(200);
  });
});
