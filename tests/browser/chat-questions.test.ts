/** The questions of the agent in a chat: answering one, answering several, declining. */
import { expect, it } from "vitest";
import { describeInBrowser, expectGood } from "../support/harness/browser.ts";
import {
  answers,
  openChatPage,
  provideChatServer,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";

const place = provideChatServer();

const two = {
  questions: [
    {
      question: "Which format?",
      header: "Format",
      options: [
        { label: "Album", description: "Ten songs" },
        { label: "Single", description: "One song" },
      ],
    },
    {
      question: "Where to?",
      header: "Shops",
      options: [
        { label: "Online", description: "" },
        { label: "Vinyl", description: "" },
      ],
      multiSelect: true,
    },
  ],
};
const one = { questions: two.questions.slice(0, 1) };

/** Asks, and then repeats the answer it received. */
function scriptQuestion(name: string, input: unknown): void {
  place.model.script(name, function* ({ step, toolResults }) {
    if (step > 0) yield { text: `Told: ${toolResults.at(-1)}` };
    else {
      yield { text: "One moment." };
      yield { tool: "ask_user_question", input };
    }
  });
}

describeInBrowser("a question of the agent", (browsing) => {
  it("answers a question by one button, and the turn goes on in the same answer", async () => {
    scriptQuestion("ask-one", one);
    const { page, conversation } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:ask-one]");
    const card = page.getByRole("region", { name: "Question from the agent" });
    await page.getByRole("status").getByText("The agent has a question").waitFor();
    await card.getByRole("button", { name: /^Single/ }).press("Enter");
    // Not lost with the button that had it.
    const focused = () => page.evaluate(() => document.activeElement?.ariaLabel);
    await expect.poll(focused).toBe("Conversation");
    await page.getByText('Told: {"answers":{"Which format?":"Single"}}').waitFor();
    await waitUntilIdle(page);
    expect(await answers(page).count()).toBe(1);
    expect(await card.getByRole("button").count()).toBe(0);
    await card.getByText("Single").waitFor();
    expect((await conversation.read()).messages).toHaveLength(2);
  });

  it("answers several questions at once, several choices and own words among them", async () => {
    scriptQuestion("ask-two", two);
    const { page } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:ask-two]");
    const card = page.getByRole("region", { name: "Question from the agent" });
    const send = card.getByRole("button", { name: "Send answers" });
    await card.getByRole("button", { name: "Online" }).click();
    await card.getByRole("button", { name: "Vinyl" }).click();
    expect(await send.isDisabled()).toBe(true);
    await expectGood(page);
    await card.getByLabel("Your own answer to: Which format?").fill("A tape");
    await send.click();
    await page.getByText(/Told: .*"Where to\?":\["Online","Vinyl"\]/).waitFor();
    await page.getByText(/Told: .*"Which format\?":"A tape"/).waitFor();
  });

  it("declines a question", async () => {
    scriptQuestion("ask-no", one);
    const { page } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:ask-no]");
    await page.getByRole("button", { name: "Skip" }).click();
    await page.getByText('Told: {"declined":true}').waitFor();
    await page.getByText("Declined to answer").waitFor();
  });
});
