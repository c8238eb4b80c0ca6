/** Messages that are edited and answered again, the way between their versions, and ratings. */
import { expect, it } from "vitest";
import { describeInBrowser, expectGood } from "../support/harness/browser.ts";
import {
  answers,
  goTo,
  messageBox,
  openChatPage,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { stack } from "../support/harness/stack.ts";

describeInBrowser("versions of messages", (browsing) => {
  it("are made by Edit and Regenerate, switched by arrows, rated, and there after a reload", async () => {
    const { tab, page, conversation } = await openChatPage(browsing);
    const mine = page.getByRole("article", { name: "You" });
    const versions = mine.getByRole("group", { name: "Versions of this message" });
    const texts = async () =>
      (await conversation.read()).messages.map(({ id, role }) => (role === "user" ? "user" : id));
    await sendMessage(page, "run `echo first`");
    await waitUntilIdle(page);

    // Escape leaves the message as it is, and the focus where it was.
    const edit = mine.getByRole("button", { name: "Edit message" });
    await mine.hover();
    await edit.click();
    await page.getByRole("textbox", { name: "Edit message" }).waitFor();
    await page.keyboard.type(" no");
    await page.keyboard.press("Escape");
    await mine.getByText("run `echo first`", { exact: true }).waitFor();
    await expect.poll(() => edit.evaluate((one) => one === document.activeElement)).toBe(true);

    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Edit message" }).fill("run `echo second`");
    await page.getByRole("button", { name: "Send", exact: true }).first().click();
    await versions.getByText("2 / 2").waitFor();
    await waitUntilIdle(page);
    await answers(page).getByText("second").first().waitFor();
    expect(await texts()).toHaveLength(2);

    const before = await texts();
    await answers(page).getByRole("button", { name: "Regenerate answer" }).click();
    await answers(page).getByText("2 / 2").waitFor();
    expect(await texts()).not.toEqual(before);
    const other = await browsing.anotherTab(tab);
    await goTo(other.page, conversation);
    await answers(other.page).getByText("2 / 2").waitFor();

    // Back to the first message by keyboard. The other tab follows.
    await versions.getByRole("button", { name: "Previous version" }).focus();
    await page.keyboard.press("ArrowLeft");
    await versions.getByText("1 / 2").waitFor();
    await answers(page).getByText("first").first().waitFor();
    const next = versions.getByRole("button", { name: "Next version" });
    await expect.poll(() => next.evaluate((one) => one === document.activeElement)).toBe(true);
    await answers(other.page).getByText("first").first().waitFor();
    await other.page.close();

    const bad = answers(page).getByRole("button", { name: "Bad answer" });
    await bad.click();
    await page.getByRole("textbox", { name: "What was wrong?" }).fill("The date is wrong");
    await page.getByRole("button", { name: "Save comment" }).click();
    await page.getByRole("textbox", { name: "What was wrong?" }).waitFor({ state: "detached" });
    await page.reload();
    await versions.getByText("1 / 2").waitFor();
    await expect.poll(() => bad.getAttribute("aria-pressed")).toBe("true");
    await answers(page).getByRole("button", { name: "Edit comment" }).click();
    const comment = page.getByRole("textbox", { name: "What was wrong?" });
    expect(await comment.inputValue()).toBe("The date is wrong");

    await expectGood(page);
    await page.setViewportSize({ width: 360, height: 800 });
    // On a phone, the actions are there without pointing at the message.
    const opacity = () =>
      edit.evaluate((one) => getComputedStyle(one.parentElement ?? one).opacity);
    await expect.poll(opacity).toBe("1");
    await edit.click();
    await expectGood(page);
    await page.getByRole("button", { name: "Cancel" }).first().click();
  });

  it("go on in mid-stream after a reload, and a command that is stopped says so", async () => {
    const { page, bearer } = await browsing.signedIn();
    const conversation = await openConversation(client({ bearer }, stack.url));
    const first = await conversation.send("hello");
    await first.ended;
    await goTo(page, conversation);
    const mine = page.getByRole("article", { name: "You" });
    await mine.hover();
    await mine.getByRole("button", { name: "Edit message" }).click();
    await page
      .getByRole("textbox", { name: "Edit message" })
      .fill("run: for n in 1 2; do echo track $n; done; sleep 100");
    await page.keyboard.press("Enter");
    // The newest line of its output.
    const running = answers(page).getByRole("button", { name: /Running for n in .* track 2$/ });
    await running.waitFor();
    await page.reload();
    await running.waitFor();
    await expectGood(page);
    await mine.getByText("2 / 2").waitFor();
    await messageBox(page).focus();
    await page.keyboard.press("Escape");
    await answers(page)
      .getByRole("button", { name: /^Ran for n in .* Stopped/ })
      .waitFor();
    await waitUntilIdle(page);
    expect(
      await answers(page)
        .getByText(/failed/i)
        .count(),
    ).toBe(0);
  });
});
