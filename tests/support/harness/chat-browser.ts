/** The console's chat in a browser, in front of a scripted model. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { SharedServer } from "../fakes/model-router.ts";
import { startFakeOpenAI } from "../fakes/openai.ts";
import { type Browsing, signIn, type TabOptions } from "./browser.ts";
import { client } from "./clients.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { mailsTo } from "./mailbox.ts";
import { joinServer } from "./shared-workspace.ts";
import { stack } from "./stack.ts";
import { textOf } from "./turn-stream.ts";

export type ChatServer = ReturnType<typeof provideChatServer>;

/**
 * Joins the server that files with scripted models share, for the tests of this file. The names of
 * its scripts are its own.
 */
export function provideChatServer() {
  let model: Awaited<ReturnType<typeof startFakeOpenAI>>;
  let server: SharedServer;
  beforeAll(async () => {
    model = await startFakeOpenAI();
    server = await joinServer(model);
  });
  afterAll(() => model.close());
  return {
    get model() {
      return model;
    },
    get server() {
      return server;
    },
  };
}

/** Opens an empty chat of a new account. */
export async function openChatPage(
  browsing: Browsing,
  { url }: { readonly url: string } = stack,
  options: TabOptions = {},
) {
  const pageUrl = options.url ?? url;
  const tab = await browsing.newTab({ ...options, url: pageUrl });
  const { bearer } = await signIn(tab, pageUrl);
  const caller = client({ bearer }, url);
  const conversation = await openConversation(caller);
  await goTo(tab.page, conversation);
  return { tab, page: tab.page, caller, conversation };
}

export async function goTo(page: Page, { sessionId, chatId }: Conversation): Promise<void> {
  await page.goto(`/chat/${sessionId}/${chatId}`);
  // The chat was read.
  await page.getByRole("region", { name: "Conversation" }).waitFor();
}

export const messageBox = (page: Page): Locator => page.getByRole("textbox", { name: "Message" });

export const answers = (page: Page): Locator => page.getByRole("article", { name: "Agent" });

const sendButton = (page: Page): Locator => page.getByRole("button", { name: "Send", exact: true });

export async function sendMessage(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  // A chat takes no message before it was read.
  await expect.poll(() => sendButton(page).isEnabled()).toBe(true);
  await messageBox(page).press("Enter");
}

/** The turn is over when a message can be sent again. */
export async function waitUntilIdle(page: Page): Promise<void> {
  await sendButton(page).waitFor();
}

/** Expects the newest answer on the page to equal the stored one, and no other answers. */
export async function expectShown(
  page: Page,
  conversation: Conversation,
  text: string,
): Promise<void> {
  await waitUntilIdle(page);
  const { messages } = await conversation.read();
  const stored = messages.filter(({ role }) => role === "assistant");
  await expect.poll(() => answers(page).count()).toBe(stored.length);
  expect(textOf(stored.at(-1))).toBe(text);
  const shown = (await answers(page).last().locator("p").allTextContents()).join("");
  expect(shown).toBe(text);
}

/** Signs in through the form, with a mailed code. @param dataDir of the server, with its mailbox */
export async function signInByCode(page: Page, dataDir?: string): Promise<void> {
  const email = `${crypto.randomUUID()}@example.com`;
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send code" }).click();
  const code = async () =>
    /code is (\d{8})/.exec((await mailsTo(email, dataDir)).at(-1) ?? "")?.[1];
  await expect.poll(() => code().catch(() => undefined)).toBeDefined();
  await page.getByLabel("Code").fill((await code()) ?? "");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}
