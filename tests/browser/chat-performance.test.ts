/** The cost of the chat: bytes of script, and components rendered by a keystroke. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser, isPhone } from "../support/harness/browser.ts";
import {
  answers,
  goTo,
  messageBox,
  openChatPage,
  provideChatServer,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { countScripts, observe, seenBy, untilLoaded } from "../support/harness/page-costs.ts";
import { sql } from "../support/harness/stack.ts";

const place = provideChatServer();

/** The compressed size of the script that the page of a new chat and an opened chat may load at first. */
const MAX_SCRIPT_BYTES = { fresh: 195_000, opened: 230_000 };

describeInBrowser("the chat", (browsing) => {
  it("takes text before its scripts run, whose size has a limit", async () => {
    const { tab, page, conversation } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[tools:1] [deltas:3]");
    await waitUntilIdle(page);
    const fresh = await browsing.anotherTab(tab, { url: place.server.url });
    for (const path of ["/chat", `/chat/${conversation.sessionId}/${conversation.chatId}`]) {
      await typeBeforeScripts(fresh.page, path);
    }
    const load = async (open: () => Promise<unknown>) => {
      const sizes = countScripts(fresh.page);
      await open();
      await untilLoaded(fresh.page);
      return (await sizes()).reduce((sum, bytes) => sum + bytes, 0);
    };
    const total = {
      fresh: await load(async () => {
        await fresh.page.goto("/chat");
        if (!isPhone(page)) await listOf(fresh.page).getByText("tools:1").waitFor();
      }),
      opened: await load(async () => {
        await goTo(fresh.page, conversation);
        await answers(fresh.page).last().getByText("0 1 2").waitFor();
      }),
    };
    console.info("script of a new chat and an opened chat, in bytes of gzip:", total);
    for (const page of ["fresh", "opened"] as const) {
      expect(total[page]).toBeGreaterThan(0);
      expect(total[page]).toBeLessThan(MAX_SCRIPT_BYTES[page]);
    }
  });

  it("needs one request before its first answer streams, and four to be opened", async () => {
    const { page } = await openChatPage(browsing);
    await page.goto("/chat");
    await untilLoaded(page);
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() !== "GET") sent.push(new URL(request.url()).pathname);
    });
    await sendMessage(page, "count to 3");
    await page.waitForURL(/\/chat\/[\w-]{36}\/[\w-]{36}$/);
    await waitUntilIdle(page);
    expect(sent).toEqual(["/api/sessions", "/api/chat"]);
    const [, , sessionId, chatId] = new URL(page.url()).pathname.split("/");
    // Also where a response comes before all of the page runs.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: 10 });
    await page.reload();
    if (!isPhone(page)) await listOf(page).getByText("count to 3").waitFor();
    await page.getByText(/^1\D+2\D+3/).waitFor();
    await page.getByRole("button", { name: /^Context: / }).waitFor();
    await untilLoaded(page);
    // The page before the reload may still read something; this document has only its own requests.
    const asked = await page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .map(({ name }) => name.slice(location.origin.length))
        .filter((target) => target.startsWith("/api/")),
    );
    const path = `/api/sessions/${sessionId}/chats/${chatId}`;
    expect(asked.toSorted()).toEqual(
      [
        "/api/chat/runs?limit=50&include=waiting",
        "/api/chats?limit=40&pinned_first=true&archived=false",
        `${path}/context`,
        `${path}?include=branches,connectors,feedback,model,queue`,
      ].sort(),
    );
    // The gauge is read when the chat can be used.
    expect(asked.findLast((target) => target.startsWith(path))).toBe(`${path}/context`);
  });

  it("draws nothing of a chat of 1,000 messages for a key, and shows all of them on request", async () => {
    const { page, conversation } = await openChatPage(browsing, place.server);
    await fill(conversation.chatId, 1_000);
    await page.reload();
    await page.getByText("Answer 999", { exact: false }).first().waitFor();
    const articles = page.getByRole("article");
    const drawn = await articles.count();
    expect(drawn).toBeLessThan(100);
    await report(page, `${drawn} of 1,000 messages drawn`);
    const earlier = page.getByRole("button", { name: /^Show earlier messages/ });
    while ((await articles.count()) < 1_000) await earlier.press("Enter").catch(() => {});
    await page.getByText("Question 0", { exact: true }).waitFor({ state: "attached" });
    // The browser lays out those near the view, and finds the text of all.
    const laidOut = () =>
      articles.evaluateAll(
        (all) => all.filter((one) => one.checkVisibility({ contentVisibilityAuto: true })).length,
      );
    expect(await laidOut()).toBeGreaterThan(0);
    expect(await laidOut()).toBeLessThan(100);
    await report(page, "all 1,000 messages drawn");
    // From the start of the page, and no further than its end.
    const found = await page.evaluate(() => {
      getSelection()?.setPosition(document.body, 0);
      return (window as unknown as { find(text: string): boolean }).find("Question 500");
    });
    expect(found).toBe(true);
    expect(await laidOut()).toBeLessThan(100);
  }, 150_000);
});

/** Opens a page whose scripts only arrive when something was typed, which must be kept. */
async function typeBeforeScripts(page: Page, path: string): Promise<void> {
  let release = () => {};
  const typed = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/_next/static/**/*.js", async (route) => {
    await typed;
    await route.continue();
  });
  await page.goto(path, { waitUntil: "commit" });
  await messageBox(page).fill("Which releases");
  release();
  const send = page.getByRole("button", { name: "Send", exact: true });
  await expect.poll(() => send.isEnabled()).toBe(true);
  await messageBox(page).press("End");
  await messageBox(page).pressSequentially(" are late?");
  expect(await messageBox(page).inputValue()).toBe("Which releases are late?");
  await messageBox(page).fill("");
  await page.unrouteAll({ behavior: "wait" });
}

/** Types and measures: only the box may change. */
async function report(page: Page, what: string): Promise<void> {
  await observe(page);
  await page.evaluate(() => {
    const changed = { changes: 0 };
    Object.assign(window, { changed });
    const box = document.querySelector('section[aria-label="Conversation"]');
    if (!box) throw new Error("There is no conversation");
    new MutationObserver((records) => {
      changed.changes += records.length;
    }).observe(box, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  await messageBox(page).focus();
  const text = "a message that is typed while a long chat stands above it";
  await page.keyboard.type(text);
  const seen = await seenBy(page);
  const changes = await page.evaluate(
    () => (window as unknown as { changed: { changes: number } }).changed.changes,
  );
  const delays = seen.delays.toSorted((a, b) => a - b);
  const at = (share: number) => delays[Math.floor(delays.length * share)]?.toFixed(1);
  console.info(
    `${what}: key to frame p50 ${at(0.5)} ms, p95 ${at(0.95)} ms; long tasks: ${seen.longTasks.length}`,
  );
  expect(changes).toBe(0);
  await messageBox(page).fill("");
}

/** The list of chats, which a phone has in its drawer. */
const listOf = (page: Page) => page.getByRole("navigation", { name: "Chats" });

/** Questions of a line; answers with a call and Markdown. */
async function fill(chatId: string, count: number): Promise<void> {
  await sql`
    insert into messages (chat_id, id, role, parts, created_at)
    select ${chatId}::uuid, 'message-' || n,
      case when n % 2 = 0 then 'user' else 'assistant' end,
      case when n % 2 = 0
        then jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'Question ' || n))
        else jsonb_build_array(
          jsonb_build_object('type', 'tool-bash', 'toolCallId', 'call-' || n, 'state', 'output-available',
            'input', jsonb_build_object('command', 'ls'),
            'output', jsonb_build_object('exitCode', 0, 'stdout', 'a', 'stderr', '', 'truncated', false)),
          jsonb_build_object('type', 'text', 'state', 'done',
            'text', '**Answer ' || n || '**: some *words*, \`code\`, and a list' || E'\n\n- one\n- two\n\n'
              || repeat('A sentence of the usual length stands here. ', 6)))
      end,
      now() - interval '1 hour' + n * interval '1 second'
    from generate_series(0, ${count - 1}::int) n`;
}
