/** The playground, and chats and runs as code. */
import { toolSchemas } from "@platform/agent/tools";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { agentTools } from "../../app/(console)/playground/agent-tools.ts";
import { describeInBrowser, expectGood, isPhone } from "../support/harness/browser.ts";
import {
  messageBox,
  openChatPage,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { client } from "../support/harness/clients.ts";
import { registerSecret } from "../support/secrets/register.ts";

const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

const archivedChats = z.object({
  chats: z.array(z.looseObject({ tools: z.array(z.string()) })),
});

it("the playground names the tools of the agent", () => {
  const names = agentTools.map(({ name }) => name).sort();
  expect(names).toEqual(Object.keys(toolSchemas({ headless: false })).sort());
});

describeInBrowser("the playground", (browsing) => {
  it("sets an agent up, streams its answer, and shows the same as code", async () => {
    const { page } = await browsing.signedIn();
    await page.goto("/playground");
    if (isPhone(page)) await page.getByRole("button", { name: "Setup" }).click();
    await page.getByLabel("Instructions to the agent").fill("Answer in one line.");
    await page.getByLabel("Context limit").fill("0");
    await page.getByText("Enter a whole number from 1 to 10,000,000.").waitFor();
    await sendMessage(page, "count to 3");
    await page.getByRole("alert").getByText("Correct the context limit first.").waitFor();
    await expect.poll(() => messageBox(page).inputValue()).toBe("count to 3");
    await page.getByLabel("Context limit").fill("50000");
    await page.getByRole("checkbox", { name: "bash" }).uncheck();
    await page.getByLabel("Temperature").fill("0.5");
    await page.getByLabel("Answer limit").fill("300");
    const request = page.waitForRequest((sent) => sent.url().endsWith("/api/chat"));
    await messageBox(page).press("Enter");
    expect((await request).postDataJSON()).toMatchObject({ context: { contextLimit: 50_000 } });
    await page.getByRole("article", { name: "Agent" }).waitFor();
    await waitUntilIdle(page);
    expect(await messageBox(page).inputValue()).toBe("");

    await page.getByRole("button", { name: "View as code" }).click();
    const dialog = page.getByRole("dialog");
    const firstTab = dialog.getByRole("tab", { name: "curl" });
    await expect.poll(() => firstTab.evaluate((one) => one === document.activeElement)).toBe(true);
    await dialog.getByRole("button", { name: "Copy Shell" }).click();
    expect(await copied(page)).toContain('"instructions": "Answer in one line."');
    expect(await copied(page)).toContain('"temperature": 0.5,\n  "max_output_tokens": 300');
    await dialog.getByRole("tab", { name: "TypeScript" }).click();
    await dialog.getByRole("button", { name: "Copy npm install" }).click();
    expect(await copied(page)).toContain("process.env.AGENT_PLATFORM_API_KEY");
    await dialog.getByRole("button", { name: "Create a key and insert it" }).click();
    await dialog.getByRole("button", { name: "Copy key" }).click();
    const key = registerSecret(await copied(page), "API key");
    await dialog.getByRole("tab", { name: "Python" }).click();
    await dialog.getByRole("button", { name: "Copy pip install" }).click();
    expect(await copied(page)).toContain(`"x-api-key": "${key}"`);
    expect((await client({ key }).get("/api/keys")).status).toBe(200);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "View as code" }).click();
    expect(await dialog.textContent()).not.toContain(key);
    await page.keyboard.press("Escape");
    const listed = await client({ key }).get("/api/chats?archived=false");
    expect(listed.body).toMatchObject({ chats: [] });
    const [archived] = archivedChats.parse((await client({ key }).get("/api/chats")).body).chats;
    expect(archived).toMatchObject({ temperature: 0.5, max_output_tokens: 300 });
    expect(archived?.tools).not.toContain("bash");
    await sendMessage(page, "count to 4");
    await page.getByRole("article", { name: "Agent" }).nth(1).waitFor();
    await waitUntilIdle(page);
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("row", { name: "Status" }).getByText("Completed").nth(1).waitFor();
  });

  it("shows a chat as code, by the keyboard, and a run", async () => {
    const { page, conversation, caller } = await openChatPage(browsing);
    const { sessionId, chatId } = conversation;
    await caller.request("PUT", `/api/sessions/${sessionId}/chats/${chatId}/connectors`, {
      body: { connectors: ["gmail", "slack"] },
    });
    const button = page.getByRole("button", { name: "Chat menu" });
    await button.press("Enter");
    await page.getByRole("menuitem", { name: "View as code" }).press("Enter");
    const tabs = page.getByRole("dialog").getByRole("tab", { name: "curl" });
    await page.getByText("# In this chat, the agent may act with gmail, slack.").waitFor();
    await tabs.focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("button", { name: "Copy pip install" }).click();
    expect(await copied(page)).toContain(`chat_id = "${chatId}"`);
    await page.keyboard.press("Escape");
    await expect.poll(() => button.evaluate((one) => one === document.activeElement)).toBe(true);

    const body = { prompt: "Check the tour budget" };
    const started = await caller.post("/api/chat/runs", body);
    const { runId } = z.object({ runId: z.string() }).parse(started.body);
    await page.goto(`/runs/${runId}`);
    await page.getByRole("button", { name: "View as code" }).click();
    await page.getByRole("button", { name: "Copy Shell" }).click();
    expect(await copied(page)).toContain('"prompt": "Check the tour budget"');
  });

  it("has no findings", async () => {
    const { page } = await browsing.signedIn({ width: 360 });
    await page.goto("/playground");
    await page.getByRole("button", { name: "Setup" }).click();
    await page.getByText("ask_user_question").waitFor();
    await expectGood(page);
    await page.getByRole("button", { name: "View as code" }).click();
    await page.getByRole("dialog").getByText("Shell").first().waitFor();
    await expectGood(page);
  });
});
