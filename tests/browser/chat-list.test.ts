/**
 * The list of chats beside a conversation, and the page of a shared chat.
 * This file is long because each of its tests walks through all of a state.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { hostileTexts } from "../support/fixtures/hostile-texts.ts";
import { writeSandboxFile } from "../support/fixtures/sessions.ts";
import {
  type Browsing,
  describeInBrowser,
  expectGood,
  hideNavigation,
  showNavigation,
  signIn,
  type TabOptions,
} from "../support/harness/browser.ts";
import { client } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

/** Creates chats with the titles `Chat 1`, the newest, to `Chat <count>`, a minute and a session apart. */
async function createChats(accountId: string, count: number): Promise<void> {
  await sql`with made as (
      insert into sessions (account_id, created_at)
      select ${accountId}, now() - n * interval '1 minute' from generate_series(1, ${count}::int) n
      returning id, created_at)
    insert into chats (session_id, account_id, title, created_at)
    select id, ${accountId}, 'Chat ' || row_number() over (order by created_at desc), created_at
    from made`;
}

async function chatTitled(accountId: string, title: string) {
  const [row] = await sql<{ id: string; session_id: string }[]>`
    select id, session_id from chats where account_id = ${accountId} and title = ${title}`;
  if (!row) throw new Error(`There is no chat ${title}`);
  return { ...row, href: `/chat/${row.session_id}/${row.id}` };
}

const say = (chatId: string, role: string, text: string, second: number) =>
  sql`insert into messages (chat_id, id, role, parts, created_at) values (${chatId},
    ${randomUUID()}, ${role}, ${sql.json([{ type: "text", text }])},
    now() + ${second} * interval '1 second')`;

async function openList(browsing: Browsing, count: number, options: TabOptions = {}) {
  const tab = await browsing.newTab(options);
  const { id, bearer } = await signIn(tab);
  await createChats(id, count);
  const { page } = tab;
  return { tab, page, bearer, id, list: page.getByRole("navigation", { name: "Chats" }) };
}

async function choose(page: Page, list: Locator, title: string, action: string): Promise<void> {
  await list.getByRole("link", { name: title, exact: true }).hover();
  await list.getByRole("button", { name: `Actions for ${title}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

const titlesIn = (list: Locator) => list.getByRole("link").allTextContents();

describeInBrowser("the list of chats", (browsing) => {
  it("gives a menu its focus back, and lists a new chat, also when its page shows it first", async () => {
    const { page, list } = await openList(browsing, 2);
    await page.goto("/chat");
    await showNavigation(page);
    // When a dialog of a chat's menu is closed, the focus is on the button of the menu again.
    const actions = list.getByRole("button", { name: "Actions for Chat 1" });
    const cancel = page.getByRole("alertdialog").getByRole("button", { name: "Cancel" });
    for (const key of ["Enter", "Escape"]) {
      await actions.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "Delete" }).press("Enter");
      await expect.poll(() => cancel.evaluate(isFocused)).toBe(true);
      await page.keyboard.press(key);
      await cancel.waitFor({ state: "detached" });
      await expect.poll(() => actions.evaluate(isFocused)).toBe(true);
    }

    const shown = Promise.withResolvers<void>();
    let requests = 0;
    await hideNavigation(page);
    await page.route("**/api/sessions/*/chats?limit=100", async (route) => {
      requests++;
      if (requests === 1) await shown.promise;
      await route.continue();
    });
    await page.getByRole("textbox", { name: "Message" }).fill("Plan the tour");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\/.+\/.+/);
    shown.resolve();
    await showNavigation(page);
    await list.getByRole("heading", { name: "Open chat" }).waitFor({ state: "detached" });
    await expect.poll(() => titlesIn(list)).toContain("Plan the tour");
  });

  it("watches all running chats with one request at a time", async () => {
    const { page, list } = await openList(browsing, 3);
    const chatIds = new Set<string>();
    let reads = 0;
    // The turn of the first chat has ended at the second read of the runs, all others at the fourth.
    const hasEnded = (chatId: string) => reads > (chatId === [...chatIds][0] ? 1 : 3);
    await page.route("**/api/chats?*pinned_first=true*", async (route) => {
      const response = await route.fetch();
      const { chats, ...rest } = await response.json();
      const running = chats.map((chat: { id: string }) => {
        chatIds.add(chat.id);
        return { ...chat, activeStreamId: hasEnded(chat.id) ? null : "turn" };
      });
      await route.fulfill({ response, json: { ...rest, chats: running } });
    });
    await page.route("**/api/chat/runs?limit=*", (route) => {
      reads++;
      const runs = [...chatIds].map((chatId) => ({
        ...{ runId: chatId, chatId, sessionId: chatId, title: "" },
        finishedAt: hasEnded(chatId) ? new Date().toISOString() : null,
      }));
      return route.fulfill({ json: { runs } });
    });
    const bySession: string[] = [];
    page.on("request", (request) => {
      if (/\/sessions\/[^/]+\/chats\?/.test(request.url())) bySession.push(request.url());
    });
    await page.goto("/chat");
    await showNavigation(page);
    const marks = list.getByRole("img", { name: "(answering)" });
    await expect.poll(() => marks.count()).toBe(3);
    await expect.poll(() => marks.count(), { timeout: 90_000 }).toBe(2);
    await expect.poll(() => marks.count(), { timeout: 90_000 }).toBe(0);
    expect(bySession).toEqual([]);
  });

  it("searches, scrolls, pins, archives and deletes among ten thousand chats", async () => {
    const { page, id, list } = await openList(browsing, 10_000);
    const old = await chatTitled(id, "Chat 9000");
    await say(old.id, "user", "Where is the royalty statement of Velvet Harbor?", 0);
    for (let second = 1; second < 60; second++) await say(old.id, "assistant", "Hm.", second);
    await sql`update chats set title = 'Velvet Harbor' where account_id = ${id} and title = 'Chat 5'`;

    // The open chat is shown, although its page is far away, and only the rows in view are rendered.
    await page.goto(old.href);
    await showNavigation(page);
    await list.getByRole("heading", { name: "Open chat" }).waitFor();
    const opened = list.getByRole("link", { name: "Chat 9000" });
    expect(await opened.getAttribute("aria-current")).toBe("page");
    await list.getByRole("link", { name: "Chat 1", exact: true }).waitFor();
    await expect.poll(() => page.title()).toBe("Chat 9000 · Agent Platform");
    const lastShown = async () => {
      await list.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      return Number((await titlesIn(list)).at(-1)?.replace("Chat ", ""));
    };
    await expect.poll(lastShown).toBeGreaterThan(150);
    expect(await list.getByRole("listitem").count()).toBeLessThan(60);
    await list.evaluate((box) => box.scrollTo(0, 0));

    // A search for words of a message, with the passage.
    const search = page.getByRole("searchbox", { name: "Search chats" });
    await search.fill("velvet stat");
    const found = list.getByRole("link", { name: /^Chat 9000/ });
    await found.getByText("royalty").waitFor();
    expect(await found.locator("mark").allTextContents()).toEqual(["stat", "Velvet"]);
    await search.fill("velvt harbro");
    await expect.poll(() => found.locator("mark").allTextContents()).toEqual(["Velvet Harbor"]);
    await found.click();
    const marks = () => page.evaluate(() => [...(CSS.highlights.get("found") ?? [])].map(String));
    await expect.poll(marks).toEqual(["Velvet Harbor"]);
    const first = page.getByRole("article").first();
    const top = () => first.evaluate((one) => one.getBoundingClientRect().top);
    await expect.poll(top).toBeGreaterThan(0);
    await showNavigation(page);
    await search.fill("no such words");
    await list.getByText("No chat has “no such words”").waitFor();
    await search.fill("");
    await list.getByRole("link", { name: "Chat 1", exact: true }).waitFor();

    // Pinned chats come first.
    await choose(page, list, "Chat 3", "Pin");
    await list.getByRole("heading", { name: "Pinned" }).waitFor();
    await expect
      .poll(async () => (await titlesIn(list)).slice(0, 4))
      .toEqual(["Chat 9000", "Chat 3", "Chat 1", "Chat 2"]);
    await page.reload();
    await showNavigation(page);
    await list.getByRole("heading", { name: "Pinned" }).waitFor();
    await choose(page, list, "Chat 3", "Unpin");
    await list.getByRole("heading", { name: "Pinned" }).waitFor({ state: "detached" });
    await expect
      .poll(async () => (await titlesIn(list)).slice(1, 4))
      .toEqual(["Chat 1", "Chat 2", "Chat 3"]);

    // An archived chat is in its own list, and comes back.
    await choose(page, list, "Chat 2", "Archive");
    await list.getByRole("link", { name: "Chat 2", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Chat list" }).click();
    await page.getByRole("menuitem", { name: "Show archived chats" }).click();
    await expect.poll(() => titlesIn(list)).toEqual(["Chat 2"]);
    await choose(page, list, "Chat 2", "Unarchive");
    await list.getByText("Nothing is archived").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await list.getByRole("link", { name: "Chat 2", exact: true }).waitFor();

    // Many go at once, and who deletes the open chat gets a new one.
    await page.getByRole("button", { name: "Chat list" }).click();
    await page.getByRole("menuitem", { name: "Select chats" }).click();
    for (const title of ["Chat 9000", "Chat 1", "Chat 3"]) {
      await list.getByRole("checkbox", { name: title, exact: true }).check();
    }
    const bar = page.getByRole("region", { name: "Selected chats" });
    await bar.getByText("3 selected").waitFor();
    await bar.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Delete 3 chats?" });
    await expect
      .poll(() => dialog.getByRole("button", { name: "Cancel" }).evaluate(isFocused))
      .toBe(true);
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "What would you like to work on?" }).waitFor();
    await showNavigation(page);
    await expect.poll(async () => (await titlesIn(list)).slice(0, 2)).toEqual(["Chat 2", "Chat 4"]);
    const [left] =
      await sql`select count(*)::int as sessions from sessions where account_id = ${id}`;
    expect(left?.sessions).toBe(9_997);
  });

  it("shares a chat as it is now, until the link is revoked, and exports it", async () => {
    const { page, bearer, id, list } = await openList(browsing, 1);
    const { id: chatId, session_id: sessionId, href } = await chatTitled(id, "Chat 1");
    await client({ bearer }).post("/api/sandbox", { sessionId });
    await writeSandboxFile(sessionId, "workspace/tour.csv", "city\nGhent\n");
    await writeSandboxFile(sessionId, "private.txt", "private");
    await writeSandboxFile(sessionId, "workspace/inv\u202efdp.html", "<p>");
    const texts = hostileTexts();
    await say(chatId, "user", texts[0] ?? "", 0);
    for (const [second, text] of texts.entries()) await say(chatId, "assistant", text, second + 1);
    await page.goto(href);
    await showNavigation(page);
    await choose(page, list, "Chat 1", "Share…");
    const dialog = page.getByRole("dialog", { name: "Share chat" });
    await dialog.getByLabel("workspace/tour.csv").check();
    await dialog.getByLabel("workspace/inv\\u202efdp.html").check();
    await dialog.getByRole("button", { name: "Create link" }).click();
    await dialog.getByText(`${texts.length + 1} messages`).waitFor();
    const url = await dialog.getByLabel("Link").inputValue();
    await expectGood(page);
    await say(chatId, "assistant", "said after sharing", 60);

    const stranger = await browsing.newTab({ expected: /404/ });
    const visit = await stranger.page.goto(new URL(url).pathname);
    expect(visit?.status()).toBe(200);
    const headers = visit?.headers() ?? {};
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["x-robots-tag"]).toBe("noindex, nofollow");
    expect(headers["cache-control"]).toContain("no-store");
    await stranger.page.getByRole("heading", { level: 1, name: "Chat 1" }).waitFor();
    expect(await stranger.page.getByRole("article", { name: "Agent" }).count()).toBe(texts.length);
    expect(await stranger.page.title()).toBe("Chat 1 · Agent Platform");
    const preview = stranger.page.locator('meta[property="og:title"]');
    expect(await preview.getAttribute("content")).toBe("Chat 1");
    const main = stranger.page.locator("main");
    expect(await main.locator("img, script, [onerror]").count()).toBe(0);
    expect(await main.textContent()).not.toContain("said after sharing");
    expect(await stranger.page.evaluate(() => "hacked" in window)).toBe(false);
    const saved = stranger.page.waitForEvent("download");
    const shared = main.getByRole("list", { name: "Files" }).getByRole("link");
    await shared.filter({ hasText: "tour.csv" }).click();
    expect((await saved).suggestedFilename()).toBe("tour.csv");
    await shared.filter({ hasText: "inv\\u202efdp.html" }).waitFor();
    expect(await main.textContent()).not.toMatch(/\u202efdp/);
    expect(await readFile(await (await saved).path(), "utf8")).toBe("city\nGhent\n");
    const start = main.getByRole("link", { name: "Start your own chat" });
    expect(await start.getAttribute("href")).toBe("/chat");
    await expectGood(stranger.page);
    const reader = await browsing.signedIn();
    await reader.page.goto(new URL(url).pathname);
    await reader.page.getByRole("button", { name: "Continue in your own chat" }).click();
    await reader.page.waitForURL(/\/chat\/.+\/.+/);
    await reader.page.getByRole("heading", { level: 1, name: "Chat 1" }).waitFor();

    await dialog.getByRole("button", { name: "Stop sharing" }).click();
    await dialog.getByRole("button", { name: "Create link" }).waitFor();
    expect((await stranger.page.reload())?.status()).toBe(404);
    await stranger.page.getByRole("heading", { name: "Page not found" }).waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();

    const download = page.waitForEvent("download");
    await showNavigation(page);
    await choose(page, list, "Chat 1", "Export as Markdown");
    const file = await download;
    expect(file.suggestedFilename()).toBe("Chat 1.md");
    expect(await readFile(await file.path(), "utf8")).toContain("said after sharing");
  });

  it("has no findings in any state, and shows recent chats beside every page", async () => {
    const { page, id, list } = await openList(browsing, 30, { width: 1440, height: 900 });
    await page.goto("/keys");
    await expect.poll(() => visibleRows(list)).toBeGreaterThanOrEqual(12);
    await sql`update chats set pinned = true where account_id = ${id} and title = 'Chat 2'`;
    await page.goto("/chat");
    await page.getByRole("heading", { name: "What would you like to work on?" }).waitFor();
    // Without the list, which is beside the page of a desktop.
    await expectGood(page, [360]);
    for (const width of [1280, 360] as const) {
      await page.setViewportSize({ width, height: 740 });
      if (width === 360) {
        await showNavigation(page);
        await expect.poll(() => visibleRows(list)).toBeGreaterThanOrEqual(6);
      }
      await list.getByRole("link", { name: "Chat 1", exact: true }).waitFor();
      expect(await list.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
      await expectGood(page, [width]);
      const search = page.getByRole("searchbox", { name: "Search chats" });
      await search.fill("chat 1");
      await list.getByRole("heading", { name: "Chats" }).waitFor();
      await expectGood(page, [width]);
      await search.fill("");
      // All chats are shown again, so no row moves from here on.
      await list.getByRole("link", { name: "Chat 2", exact: true }).waitFor();
      await page.getByRole("button", { name: "Chat list" }).click();
      await page.getByRole("menuitem", { name: "Select chats" }).click();
      await list.getByRole("checkbox", { name: "Chat 1", exact: true }).check();
      await expectGood(page, [width]);
      await page.getByRole("button", { name: "Done" }).click();
    }
  });
});

/** Counts the chats that are entirely in view. */
const visibleRows = (list: Locator) =>
  list.evaluate((box) => {
    const bottomOf = (element: Element) => element.getBoundingClientRect().bottom;
    return [...box.querySelectorAll("a")].filter((row) => bottomOf(row) <= bottomOf(box)).length;
  });

const isFocused = (element: Element): boolean => element === document.activeElement;
