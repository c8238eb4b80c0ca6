/** Commands by keyboard, the settings of an account, and notices of answers. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, expectGood, showNavigation } from "../support/harness/browser.ts";
import { stack } from "../support/harness/stack.ts";

const palette = (page: Page) => page.getByRole("dialog", { name: "Search and commands" });

describeInBrowser("the speed of hand", ({ newTab, signedIn }) => {
  it("finds pages, actions and chats in the palette, and shows the shortcuts", async () => {
    const { page, bearer } = await signedIn();
    const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
    const body = JSON.stringify({ title: "Aurora release plan" });
    const made = await fetch(`${stack.url}/api/sessions`, { method: "POST", headers, body });
    const { session, chat } = await made.json();
    await fetch(`${stack.url}/api/sessions/${session.id}/chats/${chat.id}`, {
      method: "PATCH",
      headers,
      body,
    });

    await page.goto("/keys");
    const search = page.getByRole("button", { name: "Search" });
    await search.click();
    const first = palette(page).getByRole("option", { name: "Aurora release plan" });
    await expect.poll(() => first.getAttribute("aria-selected")).toBe("true");
    await expectGood(page);
    await page.keyboard.type("aurora");
    await palette(page)
      .getByRole("option", { name: /Aurora release plan/ })
      .waitFor();
    await page.keyboard.press("Escape");
    await palette(page).waitFor({ state: "detached" });
    await expect.poll(() => search.evaluate((it) => it === document.activeElement)).toBe(true);

    await page.keyboard.press("ControlOrMeta+k");
    await page.keyboard.type("aurora");
    await palette(page)
      .getByRole("option", { name: /Aurora release plan/ })
      .click();
    await page.waitForURL(`**/chat/${session.id}/${chat.id}`);

    await page.goto("/connectors");
    await page.getByRole("heading", { name: "Connectors", level: 1 }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await expectGood(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("k");
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  });

  it("changes the settings of an account, and deletes it", async () => {
    // A refused picture, requests while the account is deleted, and the end of its session.
    const { page, email } = await signedIn({ expected: /status of 40[013]/ });
    await page.goto("/settings");
    await page.getByRole("heading", { name: "Profile" }).waitFor();
    await page.getByLabel("Name").fill("Maya Lindqvist");
    await page.getByLabel("Picture address").fill("http://example.com/maya.png");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("Enter an address that begins with https://.").waitFor();
    await page.getByLabel("Picture address").fill("");
    await page.getByLabel("Time zone").selectOption("Europe/Lisbon");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.getByText("Your changes were saved.").waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Maya Lindqvist");
    expect(await page.getByLabel("Time zone").inputValue()).toBe("Europe/Lisbon");

    await page.getByLabel("Agents may reach").selectOption("Only these hosts");
    await page.getByLabel("Hosts").fill("*.com");
    await page.getByRole("button", { name: "Save network settings" }).click();
    await page.getByText("Enter at most 100 hosts").waitFor();
    await page.getByLabel("Hosts").fill("example.com\n*.example.org");
    await page.getByRole("button", { name: "Save network settings" }).click();
    await page.getByText("Your changes were saved.").waitFor();
    await page.reload();
    await expect
      .poll(() => page.getByLabel("Hosts").inputValue())
      .toBe("example.com\n*.example.org");

    await page.getByRole("button", { name: "Delete account…" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete your account?" });
    const cancel = dialog.getByRole("button", { name: "Cancel" });
    expect(await cancel.evaluate((it) => it === document.activeElement)).toBe(true);
    await expectGood(page);
    await dialog.getByLabel(`Type ${email} to confirm`).fill(email);
    await dialog.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  });

  it("tells on another page that an answer is ready, with a link to it", async () => {
    const { page } = await signedIn();
    await page.goto("/chat");
    await page.getByPlaceholder("Message the agent").fill("run `sleep 3; echo done`");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\/.+\/.+/);
    const chat = new URL(page.url()).pathname;
    await showNavigation(page);
    await page.getByRole("link", { name: "Artists" }).click();
    await page.getByRole("heading", { name: "Artists", level: 1 }).waitFor();
    const notice = page.getByRole("status").getByRole("link", { name: "Open chat" });
    await notice.waitFor();
    expect(await notice.getAttribute("href")).toBe(chat);
    // It disappears when the chat is opened, by any route.
    await page.goBack();
    await page.waitForURL(`**${chat}`);
    await notice.waitFor({ state: "detached", timeout: 60_000 });
  });

  it("has no inbox and no mail in production", async () => {
    const { page } = await newTab({ expected: /status of 404/ });
    await page.goto("/dev/mail");
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    const { origin } = new URL(stack.url);
    const answer = await fetch(`${origin}/auth/developer/mail`, {
      method: "POST",
      headers: { origin },
    });
    expect(answer.status).toBe(404);
    await page.goto("/");
    await page.getByRole("button", { name: "Send code" }).waitFor();
    expect(await page.getByText("development inbox").count()).toBe(0);
  });
});
