/** The chat through reloads, second tabs, lost networks and restarted servers. */
import { expect, it } from "vitest";
import { startFaultProxy } from "../support/fakes/fault-proxy.ts";
import { type Gate, gate } from "../support/fakes/openai.ts";
import { writeSandboxFile } from "../support/fixtures/sessions.ts";
import { describeInBrowser, expectGood } from "../support/harness/browser.ts";
import {
  answers,
  type ChatServer,
  expectShown,
  goTo,
  messageBox,
  openChatPage,
  provideChatServer,
  sendMessage,
  signInByCode,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { crash, startWorkspace } from "../support/harness/workspace.ts";

const chatServer = provideChatServer();

/** Two steps with a command between them; in the second it waits at the gate. */
function scriptHeld(name: string, { model }: Pick<ChatServer, "model"> = chatServer): Gate {
  const held = gate();
  model.script(name, async function* ({ step }) {
    if (step === 0) {
      yield { text: "Before the command. " };
      yield { tool: "bash", input: { command: "echo once >> effects; cat effects" } };
      return;
    }
    yield { text: "After it, " };
    await held.pass();
    yield { text: "to the end." };
  });
  return held;
}
const WHOLE = "Before the command. After it, to the end.";

describeInBrowser("a turn", (browsing) => {
  it("is given a message in its middle, and shows it where it took effect", async () => {
    chatServer.model.script("steered-in-page", function* ({ userText, step }) {
      if (userText.includes("venue")) yield { text: "At the harbor." };
      else if (step > 0) yield { text: "Done." };
      else yield { tool: "bash", input: { command: "while [ ! -e go ]; do sleep 0.05; done" } };
    });
    const { page, conversation } = await openChatPage(browsing, chatServer.server);
    await sendMessage(page, "[script:steered-in-page]");
    await page.getByRole("button", { name: /Running: .*while/ }).waitFor();
    await messageBox(page).fill("[script:steered-in-page] Name the venue");
    await messageBox(page).press("Enter");
    const queue = page.getByRole("region", { name: "Queued messages" });
    await expect.poll(() => queue.getByRole("button", { name: "Send now" }).isEnabled()).toBe(true);
    await writeSandboxFile(conversation.sessionId, "go", "");
    const answer = page.getByRole("article", { name: "Agent" });
    const steered = answer.getByRole("article", { name: "You" }).getByText("Name the venue");
    await steered.waitFor();
    await queue.waitFor({ state: "detached" });
    await answer.getByText("At the harbor.").waitFor();
    await waitUntilIdle(page);
    await expectGood(page);
    expect((await conversation.read()).messages).toHaveLength(2);
    const order = /while \[.*Name the venue.*At the harbor/s;
    expect(await answer.textContent()).toMatch(order);
    await page.reload();
    await steered.waitFor();
    expect(await answer.textContent()).toMatch(order);
    expect(await answer.count()).toBe(1);
  });

  it("is whole after a reload in its middle, and continues", async () => {
    const held = scriptHeld("reload");
    const { page, conversation } = await openChatPage(browsing, chatServer.server);
    await sendMessage(page, "[script:reload]");
    await page.getByText("After it,").waitFor();
    await page.reload();
    await page.getByText("Before the command.").waitFor();
    await page.getByText("After it,").waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    expect(await answers(page).count()).toBe(1);
    held.open();
    await expectShown(page, conversation, WHOLE);
    await answers(page)
      .getByRole("button", { name: /^Ran echo once/ })
      .click();
    const terminal = await page.getByRole("group", { name: "Terminal" }).textContent();
    expect(terminal?.match(/^once$/gm)).toHaveLength(1);
  });

  it("is seen and stopped from a second tab that was there before it began", async () => {
    chatServer.model.script("tabs", function* () {
      yield { text: "Seen by both." };
      yield { hang: true };
    });
    const { tab, page, conversation } = await openChatPage(browsing, chatServer.server);
    const second = (await browsing.anotherTab(tab, { url: chatServer.server.url })).page;
    await goTo(second, conversation);
    await sendMessage(page, "[script:tabs]");
    await second.getByText("Seen by both.").waitFor();
    expect(await second.getByRole("article", { name: "You" }).count()).toBe(1);
    await second.getByRole("button", { name: "Stop" }).click();
    for (const one of [page, second]) {
      await answers(one).last().getByText("Stopped").waitFor();
      await expectShown(one, conversation, "Seen by both.");
    }
    // And the other way round, in the same chat.
    await sendMessage(second, "[deltas:3]");
    await expect.poll(() => answers(page).count()).toBe(2);
    await expectShown(page, conversation, "0 1 2 ");
  });

  it("of a second message at the same time is refused, and the words are not lost", async () => {
    const held = scriptHeld("taken");
    const { page, conversation } = await openChatPage(browsing, chatServer.server, {
      expected: /409/,
    });
    // Another client of the same account sends first, and this page does not know.
    const other = await conversation.send("[script:taken]");
    await held.reached;
    await sendMessage(page, "me too");
    await page.getByRole("alert").getByText("Your message was not sent").waitFor();
    await expect.poll(() => messageBox(page).inputValue()).toBe("me too");
    await page.getByText("After it,").waitFor();
    held.open();
    await other.ended;
    await expectShown(page, conversation, WHOLE);
    expect(await page.getByRole("article", { name: "You" }).count()).toBe(1);
  });

  it("begins once when the network was away while it was being sent", async () => {
    const proxy = await startFaultProxy(chatServer.server.port);
    try {
      const { page, conversation } = await openChatPage(browsing, chatServer.server, {
        url: proxy.url,
        expected: /net::ERR_/,
      });
      proxy.refuse();
      proxy.cutAll();
      await sendMessage(page, "[deltas:4]");
      await page.getByText("Connection lost. Reconnecting…").waitFor();
      proxy.open();
      await expectShown(page, conversation, "0 1 2 3 ");
      expect((await conversation.read()).messages).toHaveLength(2);
    } finally {
      await proxy.close();
    }
  });

  it("survives the server: killed in its middle and restarted, it continues in the page", async () => {
    const own = await startWorkspace();
    const proxy = await startFaultProxy(own.server.port);
    try {
      const held = scriptHeld("restart", own);
      const { page } = await browsing.newTab({ url: proxy.url, expected: /net::ERR_/ });
      await page.goto("/chat");
      await signInByCode(page, own.env.DATA_DIR);
      await sendMessage(page, "[script:restart]");
      await page.getByText("After it,").waitFor();
      await crash(own.server);
      await page.getByText("Connection lost. Reconnecting…").waitFor();
      const { port } = await own.startServer();
      proxy.setTarget(port);
      held.open();
      await waitUntilIdle(page);
      expect((await answers(page).locator("p").allTextContents()).join("")).toBe(WHOLE);
      const [chat] = await own.sql`select session_id from chats`;
      expect(await own.readSandboxFile(chat?.session_id, "effects")).toBe("once\n");
    } finally {
      await proxy.close();
      await own.stop();
    }
  }, 150_000);
});
