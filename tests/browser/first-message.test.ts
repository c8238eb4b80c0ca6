/** The first message of a chat, when the service refuses it or the page is left before it is stored. */
import { expect, it } from "vitest";
import { z } from "zod";
import { describeInBrowser, expectGood, signIn } from "../support/harness/browser.ts";
import { messageBox, sendMessage, waitUntilIdle } from "../support/harness/chat-browser.ts";
import { client } from "../support/harness/clients.ts";
import { untilLoaded } from "../support/harness/page-costs.ts";

describeInBrowser("the first message of a chat", (browsing) => {
  it("is kept until it is stored, and leaves no empty chat behind", async () => {
    const tab = await browsing.newTab({
      expected: /status of (402|404|409|413|429|500)|ERR_FAILED/,
    });
    const { page } = tab;
    const { bearer } = await signIn(tab);
    const caller = client({ bearer });
    const storedChats = async () =>
      z.object({ chats: z.array(z.unknown()) }).parse((await caller.get("/api/chats")).body).chats;
    const text = "Plan the tour";
    const file = page.getByRole("list", { name: "Attachments" }).getByText("royalty-statement.csv");
    const expectReturned = async () => {
      await expect.poll(() => messageBox(page).inputValue()).toBe(text);
      expect(new URL(page.url()).pathname).toBe("/chat");
      expect(await page.getByRole("navigation", { name: "Chats" }).getByRole("link").count()).toBe(
        0,
      );
    };
    await page.goto("/chat");

    // Code that the page has not loaded, and that a deployment has replaced.
    await untilLoaded(page);
    await page.route("**/_next/static/**/*.js", (route) => route.fulfill({ status: 404 }));
    await sendMessage(page, text);
    await page.getByRole("alert").getByText("Reload the page, then send your message.").waitFor();
    await expectReturned();
    expect(await storedChats()).toEqual([]);
    await page.unroute("**/_next/static/**/*.js");
    await page.reload();

    // A budget that is spent, and refusals of each request that a first message needs.
    expect((await caller.patch("/api/accounts/me", { monthly_budget_usd: 0 })).status).toBe(200);
    await sendMessage(page, text);
    await page.getByRole("alert").getByText("Your monthly budget is spent.").waitFor();
    await page.getByRole("alert").getByRole("link", { name: "Open settings" }).waitFor();
    await expectReturned();
    expect(await storedChats()).toEqual([]);
    await expectGood(page);
    await caller.patch("/api/accounts/me", { monthly_budget_usd: null });
    for (const [path, status] of [
      ["/api/sessions", 429],
      ["/api/chat", 409],
      ["/api/chat", 429],
      ["/api/chat", 500],
    ] as const) {
      await page.route(`**${path}`, (route) =>
        route.request().method() === "POST"
          ? route.fulfill({ status, json: {} })
          : route.continue(),
      );
      await page.getByRole("button", { name: "Dismiss" }).click();
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByRole("alert").getByRole("button", { name: "Dismiss" }).waitFor();
      await expectReturned();
      expect(await storedChats()).toEqual([]);
      await page.unroute(`**${path}`);
    }

    // Files stay with the text.
    await page.locator("input[type=file]").setInputFiles({
      ...{ name: "royalty-statement.csv", mimeType: "text/csv" },
      buffer: Buffer.from("track,net_usd\n"),
    });
    await page.getByRole("list", { name: "Attachments" }).getByText("14 B").waitFor();
    await page.route("**/api/chat", (route) => route.fulfill({ status: 413, json: {} }));
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("alert").getByText("This is too long.").waitFor();
    await expectReturned();
    await file.waitFor();
    await page.unroute("**/api/chat");

    // A reload while the service cannot be reached.
    await page.route("**/api/chat", (route) => route.abort());
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Connection lost. Reconnecting…").waitFor();
    await page.reload();
    await expectReturned();
    await file.waitFor();
    await page.unroute("**/api/chat");

    // A reload after the message was stored, and before the page knows.
    const stored = Promise.withResolvers<void>();
    await page.route("**/api/chat", async (route) => {
      const response = await caller.post("/api/chat", route.request().postDataJSON());
      expect(response.status).toBe(200);
      stored.resolve();
    });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await stored.promise;
    // While the route is registered, the browser cannot send the request itself.
    await page.reload();
    await page.unroute("**/api/chat");
    await page.waitForURL(/\/chat\/[\w-]{36}\/[\w-]{36}$/);
    await page.getByRole("article", { name: "You" }).getByText(text).waitFor();
    await waitUntilIdle(page);
    expect(await messageBox(page).inputValue()).toBe("");
    expect(await storedChats()).toHaveLength(1);
    await page.goto("/chat");
    await expect.poll(() => messageBox(page).isVisible()).toBe(true);
    expect(await messageBox(page).inputValue()).toBe("");
    expect(await file.count()).toBe(0);
  });
});
