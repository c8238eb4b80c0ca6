/** The chat by the keyboard alone. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, isPhone, showNavigation } from "../support/harness/browser.ts";
import {
  messageBox,
  openChatPage,
  provideChatServer,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { untilLoaded } from "../support/harness/page-costs.ts";

const place = provideChatServer();

describeInBrowser("the chat, by keyboard", (browsing) => {
  it("is used by the keyboard alone", async () => {
    place.model.script("keys", function* ({ step, toolResults }) {
      if (step > 0) yield { text: `Told: ${toolResults.at(-1)}` };
      else {
        yield {
          tool: "ask_user_question",
          input: {
            questions: [
              {
                question: "Which?",
                header: "Choice",
                options: [
                  { label: "One", description: "" },
                  { label: "Two", description: "" },
                ],
              },
            ],
          },
        };
      }
    });
    const { page } = await openChatPage(browsing, place.server);
    // The box has the focus from the start.
    await expect.poll(() => focused(page)).toBe("Message");
    await page.keyboard.type("[script:keys]");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("second line");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Two" }).waitFor();
    await waitUntilIdle(page);
    await tabTo(page, "Two", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByText('Told: {"answers":{"Which?":"Two"}}').waitFor();
    expect(await page.getByRole("article", { name: "You" }).textContent()).toContain("second line");
    await waitUntilIdle(page);

    // Past everything to the content, and to the files and back.
    await page.reload();
    await messageBox(page).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await tabTo(page, "Skip to content");
    await page.keyboard.press("Enter");
    await tabTo(page, "Files");
    await page.keyboard.press("Enter");
    const files = page.getByRole("complementary", { name: "Files of this chat" });
    await files.waitFor();
    await expect.poll(() => focused(page)).toBe("Files of this chat");
    await page.keyboard.press("Escape");
    await files.waitFor({ state: "detached" });

    // The menu of a chat, and out of it again. On a phone, it is in the drawer.
    if (isPhone(page)) {
      await tabTo(page, "Open navigation", "Shift+Tab");
      await page.keyboard.press("Enter");
    }
    await tabTo(page, "Actions for [script:keys] second line", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByLabel("New name for [script:keys] second line").waitFor();
    await page.keyboard.type("By keys");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "By keys" }).waitFor();
    if (isPhone(page)) await page.keyboard.press("Escape");
    await page.getByRole("heading", { level: 1, name: "By keys" }).waitFor();
  });

  it("keeps the button of a chat's menu where it is while the menu's code is on its way", async () => {
    const { page } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[deltas:1] Slow menu");
    await waitUntilIdle(page);
    await page.reload();
    await showNavigation(page);
    const row = page.getByRole("link", { name: "[deltas:1] Slow menu" });
    await row.waitFor();
    await untilLoaded(page);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let held = 0;
    await page.route("**/_next/static/**/*.js", async (route) => {
      held += 1;
      await released;
      await route.continue();
    });

    await row.focus();
    await expect.poll(() => held).toBeGreaterThan(0);
    await page.keyboard.press("Tab");
    const name = "Actions for [deltas:1] Slow menu";
    expect(await focused(page)).toBe(name);
    const button = page.getByRole("button", { name });
    const before = await button.elementHandle();
    await page.keyboard.press("Enter");
    release();
    // The key came before the menu could hear it, and still leads to its first item.
    await expect.poll(() => focused(page)).toBe("Rename");
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page)).toBe(name);
    expect(await button.evaluate((now, old) => now === old, before)).toBe(true);

    // A second click closes the menu.
    await button.click();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await button.click();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor({ state: "detached" });
  });
});

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const one = document.activeElement;
    return one?.getAttribute("aria-label") ?? one?.textContent?.trim() ?? "";
  });

async function tabTo(page: Page, name: string, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  for (let steps = 0; steps < 60; steps++) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press(key);
  }
  throw new Error(`The key ${key} does not lead to ${name}`);
}
