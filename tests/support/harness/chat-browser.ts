/** The console's chat in a browser, in front of a scripted model. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { RunningNext } from "../../../scripts/run-next.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../fakes/openai.ts";
import { type Browsing, signIn, type Tab, type TabOptions } from "./browser.ts";
import { type Client, client } from "./clients.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { mailsTo } from "./mailbox.ts";
import { startServer } from "./server.ts";

export interface ChatServer {
  readonly model: FakeOpenAI;
  readonly server: RunningNext;
  stop(): Promise<void>;
}

export async function startChatServer(): Promise<ChatServer> {
  const model = await startFakeOpenAI();
  const server = await startServer({ env: { OPENAI_BASE_URL: model.url } });
  return {
    model,
    server,
    async stop() {
      await model.close();
      await server.stop();
    },
  };
}

export interface OpenChat {
  readonly tab: Tab;
  readonly page: Page;
  readonly caller: Client;
  readonly conversation: Conversation;
}

/** Someone new at an empty chat. */
export async function openChatPage(
  browsing: Browsing,
  { url }: RunningNext,
  options: TabOptions = {},
): Promise<OpenChat> {
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

/** What is so at last, on however slow a machine. */
export const eventually = <T>(fact: () => T | Promise<T>) => expect.poll(fact, { timeout: 45_000 });

const sendButton = (page: Page): Locator => page.getByRole("button", { name: "Send", exact: true });

export async function sendMessage(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text);
  // A chat takes no message before it was read.
  await eventually(() => sendButton(page).isEnabled()).toBe(true);
  await messageBox(page).press("Enter");
}

/** The turn is over when a message can be sent again. */
export async function waitUntilIdle(page: Page): Promise<void> {
  await sendButton(page).waitFor();
}

/** The newest answer, as a person reads it, is the one that is stored; and there is no other. */
export async function expectShown(
  page: Page,
  conversation: Conversation,
  text: string,
): Promise<void> {
  await waitUntilIdle(page);
  const { messages } = await conversation.read();
  const stored = messages.filter(({ role }) => role === "assistant");
  await eventually(() => answers(page).count()).toBe(stored.length);
  const newest = stored.at(-1)?.parts ?? [];
  const said = newest.map((part) => (part.type === "text" ? part.text : "")).join("");
  expect(said).toBe(text);
  const shown = (await answers(page).last().locator("p").allTextContents()).join("");
  expect(shown).toBe(text);
}

/** Through the form, with the code of the mail. @param dataDir where the server's mailbox is. */
export async function signInByCode(page: Page, dataDir?: string): Promise<void> {
  const email = `${crypto.randomUUID()}@example.com`;
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send code" }).click();
  const code = async () =>
    /code is (\d{8})/.exec((await mailsTo(email, dataDir)).at(-1) ?? "")?.[1];
  await eventually(() => code().catch(() => undefined)).toBeDefined();
  await page.getByLabel("Code").fill((await code()) ?? "");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}
