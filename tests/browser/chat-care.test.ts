/** What the chat owes everybody: safety, keyboard, contrast, small screens, few bytes, quick keys. */
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeInBrowser, seriousFindings, type Tab } from "../support/harness/browser.ts";
import {
  answers,
  type ChatServer,
  eventually,
  goTo,
  messageBox,
  openChatPage,
  say,
  startChatServer,
  untilIdle,
} from "../support/harness/chat-browser.ts";
import { sql } from "../support/harness/stack.ts";

let place: ChatServer;
beforeAll(async () => {
  place = await startChatServer();
});
afterAll(() => place.stop());

/** Compressed bytes of script that the chat page may load at first. */
const MOST_SCRIPT = 250_000;

const HOSTILE = [
  "<script>document.title = 'owned'</script>",
  '<img src="https://evil.example/x.png" onerror="document.title=\'owned\'">',
  '<iframe src="javascript:alert(1)"></iframe>',
  "[click me](javascript:document.title='owned')",
  "[data](data:text/html;base64,PHNjcmlwdD4=)",
  "[relative](/api/keys)",
  "![picture](https://evil.example/pixel.png)",
  "[honest](https://example.com/page)",
  "https://auto.example/link",
  "| a | b |\n|---|---|\n| <b>x</b> | [y](vbscript:z) |",
  "```html\n<script>fenced()</script>\n```",
  `${"w".repeat(5_000)}`,
  "&lt;b&gt; &#60;i&#62; **bold** `code <u>`",
].join("\n\n");

describeInBrowser("the chat", (browsing) => {
  it("shows hostile words of a model, a tool and a title as text", async () => {
    place.model.script("hostile", function* ({ step }) {
      if (step > 0) yield { text: HOSTILE };
      else yield { tool: "bash", input: { command: "echo '<img src=x onerror=alert(1)>'" } };
    });
    const { page, talk, caller } = await openChatPage(browsing, place.server);
    const title = "<img src=x onerror=\"document.title='owned'\"> [script:hostile]";
    await say(page, title);
    await page.getByText("<script>document.title = 'owned'</script>").waitFor();
    await untilIdle(page);
    const answer = answers(page).last();
    await answer.getByRole("button", { name: /^Ran echo/ }).click();

    const found = await answer.evaluate((node) => ({
      dangerous: node.querySelectorAll("script, img, iframe, object, embed, b, u, i, style, form")
        .length,
      links: [...node.querySelectorAll("a")].map((link) => [link.href, link.rel, link.target]),
    }));
    expect(found.dangerous).toBe(0);
    const rel = "noopener noreferrer nofollow";
    expect(found.links).toEqual([
      ["https://evil.example/pixel.png", rel, "_blank"],
      ["https://example.com/page", rel, "_blank"],
      ["https://auto.example/link", rel, "_blank"],
    ]);
    await answer.getByText("click me").waitFor();
    await answer.getByText("<b> <i> bold code <u>").waitFor();

    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("<img src=x");
    const list = page.getByRole("navigation", { name: "Chats" });
    await list.getByRole("link", { name: /^<img src=x/ }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).toContain("<img src=x");
    await expectNoSideScroll(page);

    await caller.patch(`/api/sessions/${talk.sessionId}/chats/${talk.chatId}`, {
      title: "w".repeat(200),
    });
    await page.reload();
    await list.getByRole("link", { name: /^www/ }).waitFor();
    await expectNoSideScroll(page);
  });

  it("fits a phone: the list in a drawer, the files over the chat, nothing wider than the screen", async () => {
    const { page } = await openChatPage(browsing, place.server, { width: 360, height: 720 });
    await say(page, "run `echo on-a-phone > a-file-with-quite-a-long-name.txt`");
    await untilIdle(page);
    await expectNoSideScroll(page);
    await page.getByRole("button", { name: "Files", exact: true }).click();
    const files = page.getByRole("complementary", { name: "Files of the sandbox" });
    await files.waitFor();
    await expectNoSideScroll(page);
    await files.getByRole("button", { name: "Close files" }).click();
    await page.getByRole("button", { name: "Open navigation" }).click();
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("link", { name: /^run `echo on-a-phone/ }).waitFor();
    await drawer.getByRole("link", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "What shall we work on?" }).waitFor();
    await drawer.waitFor({ state: "detached" });
    await expectNoSideScroll(page);
  });

  it.each(["light", "dark"] as const)("has no serious finding of axe, %s", async (colorScheme) => {
    place.model.script("everything", function* ({ step }) {
      if (step === 0) {
        yield { reasoning: "Hm." };
        yield { tool: "todo", input: { todos: [{ id: "1", content: "a", status: "completed" }] } };
        yield { tool: "bash", input: { command: "echo hi; exit 1" } };
        yield { tool: "write", input: { filePath: "a.txt", content: "text" } };
        yield { tool: "glob", input: { pattern: "*" } };
        yield { tool: "read", input: { filePath: "none" } };
        return;
      }
      yield { text: "# Head\n\n- [x] done\n- [ ] open\n\n> quoted\n\n```js\nlet a;\n```\n\n" };
      yield { text: "| a | b |\n|---|---|\n| 1 | [link](https://example.com) |" };
      yield {
        tool: "ask_user_question",
        input: {
          questions: [
            {
              question: "Which?",
              header: "Choice",
              options: [
                { label: "One", description: "the first" },
                { label: "Two", description: "the second" },
              ],
              multiSelect: true,
            },
          ],
        },
      };
    });
    const { page } = await openChatPage(browsing, place.server, { colorScheme });
    await say(page, "[script:everything]");
    await page.getByRole("button", { name: /^One/ }).click();
    await untilIdle(page);
    for (const name of [/^Ran/, /^Wrote/, /^Looked/, /^Read/, "Thoughts"]) {
      await page.getByRole("button", { name }).click();
    }
    await page.getByRole("button", { name: "Files", exact: true }).click();
    await page
      .getByRole("complementary", { name: "Files of the sandbox" })
      .getByRole("button", { name: /a.txt/ })
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.goto("/chat");
    await page.getByRole("heading", { name: "What shall we work on?" }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

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
    await eventually(() => focused(page)).toBe("Message");
    await page.keyboard.type("[script:keys]");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("second line");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Two" }).waitFor();
    await untilIdle(page);
    await tabTo(page, "Two", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByText('Told: {"answers":{"Which?":"Two"}}').waitFor();
    expect(await page.getByRole("article", { name: "You" }).textContent()).toContain("second line");
    await untilIdle(page);

    // Past everything to the content, and to the files and back.
    await page.reload();
    await messageBox(page).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await tabTo(page, "Skip to the content");
    await page.keyboard.press("Enter");
    await tabTo(page, "Files");
    await page.keyboard.press("Enter");
    const files = page.getByRole("complementary", { name: "Files of the sandbox" });
    await files.waitFor();
    await eventually(() => focused(page)).toBe("Files of the sandbox");
    await page.keyboard.press("Escape");
    await files.waitFor({ state: "detached" });

    // The menu of a chat, and out of it again.
    await tabTo(page, "Menu of [script:keys] second line", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByLabel("New name of [script:keys] second line").waitFor();
    await page.keyboard.type("By keys");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "By keys" }).waitFor();
  });

  it("keeps the button of a chat's menu where it is while the menu's code is on its way", async () => {
    const { page } = await openChatPage(browsing, place.server);
    await say(page, "[deltas:1] Slow menu");
    await untilIdle(page);
    await page.reload();
    const row = page.getByRole("link", { name: "[deltas:1] Slow menu" });
    await row.waitFor();
    await page.waitForLoadState("networkidle");
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
    await eventually(() => held).toBeGreaterThan(0);
    await page.keyboard.press("Tab");
    const name = "Menu of [deltas:1] Slow menu";
    expect(await focused(page)).toBe(name);
    const button = page.getByRole("button", { name });
    const before = await button.elementHandle();
    await page.keyboard.press("Enter");
    release();
    // The key came before the menu could hear it, and still leads to its first item.
    await eventually(() => focused(page)).toBe("Rename");
    await page.keyboard.press("Escape");
    await eventually(() => focused(page)).toBe(name);
    expect(await button.evaluate((now, old) => now === old, before)).toBe(true);

    // A second click closes what the first has opened.
    await button.click();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    await button.click();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor({ state: "detached" });
  });

  it("loads less than 250 kB of compressed script to show a chat", async () => {
    const { tab, page, talk } = await openChatPage(browsing, place.server);
    await say(page, "[tools:1] [deltas:3]");
    await untilIdle(page);
    const fresh = await browsing.anotherTab(tab, { url: place.server.url });
    const sizes = countScripts(fresh);
    await goTo(fresh.page, talk);
    await answers(fresh.page).last().getByText("0 1 2").waitFor();
    await fresh.page.waitForLoadState("networkidle");
    const files = await sizes();
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    console.info(`script of the chat page: ${total} bytes gzip in ${files.length} files`);
    expect(files.length).toBeGreaterThan(0);
    expect(total).toBeLessThan(MOST_SCRIPT);
  });

  it("draws nothing of a chat of 1,000 messages for a key, and shows all of them on request", async () => {
    const { page, talk } = await openChatPage(browsing, place.server);
    await fill(talk.chatId, 1_000);
    await page.reload();
    await page.getByText("Answer 999", { exact: false }).first().waitFor();
    const articles = page.getByRole("article");
    const drawn = await articles.count();
    expect(drawn).toBeLessThan(100);
    await report(page, `${drawn} of 1,000 messages drawn`);
    const earlier = page.getByRole("button", { name: /^Show earlier messages/ });
    while ((await articles.count()) < 1_000) await earlier.press("Enter").catch(() => {});
    await page.getByText("Question 0", { exact: true }).waitFor({ state: "attached" });
    await report(page, "all 1,000 messages drawn");
  }, 150_000);
});

/** Types, and tells what it cost: nothing but the box may change. */
async function report(page: Page, what: string): Promise<void> {
  await page.evaluate(() => {
    const seen = { changes: 0, longTasks: [] as number[], delays: [] as number[] };
    Object.assign(window, { seen });
    const box = document.querySelector('section[aria-label="Conversation"]');
    if (!box) throw new Error("There is no conversation");
    new MutationObserver((records) => {
      seen.changes += records.length;
    }).observe(box, { subtree: true, childList: true, attributes: true, characterData: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) seen.longTasks.push(entry.duration);
    }).observe({ type: "longtask" });
    document.addEventListener(
      "keydown",
      ({ timeStamp }) => {
        requestAnimationFrame(() =>
          setTimeout(() => seen.delays.push(performance.now() - timeStamp)),
        );
      },
      { capture: true },
    );
  });
  await messageBox(page).focus();
  const text = "a message that is typed while a long chat stands above it";
  await page.keyboard.type(text);
  const seen = await page.evaluate(
    () =>
      (window as unknown as { seen: { changes: number; longTasks: number[]; delays: number[] } })
        .seen,
  );
  const delays = seen.delays.toSorted((a, b) => a - b);
  const at = (share: number) => delays[Math.floor(delays.length * share)]?.toFixed(1);
  console.info(
    `${what}: key to frame p50 ${at(0.5)} ms, p95 ${at(0.95)} ms; long tasks: ${seen.longTasks.length}`,
  );
  expect(seen.changes).toBe(0);
  await messageBox(page).fill("");
}

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

function countScripts({ page }: Tab): () => Promise<{ url: string; bytes: number }[]> {
  const loading: Promise<{ url: string; bytes: number }>[] = [];
  page.on("response", (response) => {
    if (response.request().resourceType() !== "script") return;
    loading.push(
      response.body().then((body) => ({ url: response.url(), bytes: gzipSync(body).length })),
    );
  });
  return () => Promise.all(loading);
}

async function expectNoSideScroll(page: Page): Promise<void> {
  const { wide, width } = await page.evaluate(() => ({
    wide: [document.documentElement, document.querySelector("main")].map(
      (one) => one?.scrollWidth ?? 0,
    ),
    width: window.innerWidth,
  }));
  expect(Math.max(...wide)).toBeLessThanOrEqual(width);
}

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
