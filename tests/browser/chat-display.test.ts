/**
 * Rendering of the chat: untrusted text as text, on a phone, and with the contrast and names that
 * axe checks.
 */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { describeInBrowser, expectGood, showNavigation } from "../support/harness/browser.ts";
import {
  answers,
  openChatPage,
  provideChatServer,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { sql } from "../support/harness/stack.ts";

const place = provideChatServer();

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
    const { page, conversation, caller } = await openChatPage(browsing, place.server);
    const title = "<img src=x onerror=\"document.title='owned'\"> [script:hostile]";
    await sendMessage(page, title);
    await page.getByText("<script>document.title = 'owned'</script>").waitFor();
    await waitUntilIdle(page);
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
      ["https://example.com/page", rel, "_blank"],
      ["https://auto.example/link", rel, "_blank"],
    ]);
    await answer.getByText("click me").waitFor();
    // Nothing was asked for; the faults of the tab would say so.
    await answer.getByRole("button", { name: "Load image from evil.example" }).waitFor();
    await answer.getByText("<b> <i> bold code <u>").waitFor();

    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("<img src=x");
    const list = page.getByRole("navigation", { name: "Chats" });
    await showNavigation(page);
    await list.getByRole("link", { name: /^<img src=x/ }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).toContain("<img src=x");
    await expectNoSideScroll(page);

    await caller.patch(`/api/sessions/${conversation.sessionId}/chats/${conversation.chatId}`, {
      title: "w".repeat(200),
    });
    await page.reload();
    await showNavigation(page);
    await list.getByRole("link", { name: /^www/ }).waitFor();
    await expectNoSideScroll(page);
  });

  it("fits a phone: the list in a drawer, the files over the chat, nothing wider than the screen", async () => {
    const { page } = await openChatPage(browsing, place.server, { width: 360, height: 720 });
    await sendMessage(page, "run `echo on-a-phone > a-file-with-quite-a-long-name.txt`");
    await waitUntilIdle(page);
    await expectNoSideScroll(page);
    await page.getByRole("button", { name: "Files", exact: true }).click();
    const files = page.getByRole("complementary", { name: "Files of this chat" });
    await files.waitFor();
    await expectNoSideScroll(page);
    await files.getByRole("button", { name: "Close files" }).click();
    await page.getByRole("button", { name: "Open navigation" }).click();
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("link", { name: /^run `echo on-a-phone/ }).waitFor();
    await drawer.getByRole("link", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "What would you like to work on?" }).waitFor();
    await drawer.waitFor({ state: "detached" });
    await expectNoSideScroll(page);
  });

  it("shows where the conversation was compacted, and how full the context is after each turn", async () => {
    const { page, conversation } = await openChatPage(browsing, place.server);
    const gauge = page.getByRole("button", { name: /^Context: \d+ % used$/ });
    await gauge.waitFor();
    const compaction = (kind: string, id: number) => ({
      ...{ type: "data-compaction", id: String(id) },
      data: { kind, tokens_before: 37_100, tokens_after: 23_800 },
    });
    const parts = [
      ...[compaction("summarized", 1), { type: "step-start" }, { type: "text", text: "First." }],
      ...[compaction("cleared", 2), { type: "step-start" }, { type: "text", text: "Second." }],
    ];
    await sql`insert into messages (chat_id, id, role, parts, created_at)
      values (${conversation.chatId}, 'u', 'user',
          ${sql.json([{ type: "text", text: "a long story ".repeat(10_000) }])}, now() - interval '1 s'),
        (${conversation.chatId}, 'a', 'assistant', ${sql.json(parts)}, now())`;
    await sendMessage(page, "hello");
    await waitUntilIdle(page);
    const answer = answers(page).first();
    await answer.getByText("Older tool results were removed").waitFor();
    expect((await answer.getByRole("paragraph").allTextContents()).map(plain)).toEqual([
      "The conversation above was condensed for the model · 37.1K →to 23.8K tokens",
      "First.",
      "Older tool results were removed from the model's context · 37.1K →to 23.8K tokens",
      "Second.",
    ]);

    await expect.poll(() => gauge.getAttribute("aria-label")).toMatch(/^Context: 3\d % used$/);
    const tooltip = page.getByRole("tooltip");
    expect(await tooltip.count()).toBe(0);
    await gauge.focus();
    await tooltip.waitFor();
    expect(await gauge.getAttribute("aria-describedby")).toBe(await tooltip.getAttribute("id"));
    expect((await tooltip.getByRole("paragraph").allTextContents()).map(plain)).toEqual([
      expect.stringMatching(/^3[\d.]+K of 96K tokens used$/),
      "The model's context window has 128K.",
      expect.stringMatching(/^Instructions and tools [\d.]+K$/),
      expect.stringMatching(/^Skills [\d.]+K?$/),
      expect.stringMatching(/^Messages 3[\d.]+K$/),
    ]);
    await expectGood(page);
  });

  it("shows the steps of a subagent while it works, and afterwards in the run's timeline", async () => {
    const { model, server } = place;
    const atWork = gate();
    model.script("delegates", function* ({ step }) {
      if (step > 0) yield { text: "All reported." };
      else {
        yield { tool: "task", input: { task: "Count", instructions: "[script:counts] Count." } };
      }
    });
    model.script("counts", async function* ({ step }) {
      if (step < 2) yield { tool: "bash", input: { command: `echo ${step} >> count` } };
      else {
        await atWork.pass();
        yield { text: "Counted." };
      }
    });
    const { page, conversation } = await openChatPage(browsing, server);
    await sendMessage(page, "[script:delegates]");
    await page.getByRole("button", { name: /^Running: Subagent Count/ }).click();
    const steps = page.getByRole("list", { name: "Steps of the subagent" });
    await expect.poll(() => steps.getByRole("listitem").count()).toBe(2);
    await steps.getByText("echo 1 >> count").waitFor();
    await expectGood(page);
    atWork.open();
    await answers(page).last().getByText("All reported.").waitFor();
    await page.getByRole("button", { name: /^Subagent Count 3 steps/ }).waitFor();

    const [row] = await sql`select run_id from turns where chat_id = ${conversation.chatId}`;
    await page.goto(`${server.url}/runs/${row?.run_id}`);
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.getByRole("button", { name: /^Model call 3/ }).waitFor();
    const rows = await timeline.getByRole("listitem").getByRole("button").allTextContents();
    const expected = ["Model call 1", "task", "Model call 1", "bash", "Model call 2", "bash"];
    // Before the first model call a busy machine takes long enough for a row.
    expect(rows.filter((text) => !text.startsWith("Start"))).toEqual(
      [...expected, "Model call 3", "Model call 2"].map((name) =>
        expect.stringMatching(`^${name}`),
      ),
    );
    await timeline.getByRole("button", { name: /^Model call 3/ }).click();
    const details = page.getByRole("region", { name: "Step details" });
    await details.getByText("fake-model").waitFor();
    await expectGood(page);
  });

  it("lets a person choose the effort, and the model that answers if the first one is down", async () => {
    const { page, conversation } = await openChatPage(browsing, place.server);
    await page.getByRole("button", { name: /^Model: / }).click();
    const list = page.getByRole("dialog", { name: "Choose a model" });
    const options = async () => {
      const { effort, fallback_models } = (await conversation.read()).chat;
      return { effort, fallback_models };
    };
    await list.getByLabel("Effort").selectOption("High");
    await expect.poll(options).toMatchObject({ effort: "high" });
    await list.getByLabel("If it is down").selectOption("fake-64k");
    await expect.poll(options).toEqual({ effort: "high", fallback_models: ["fake-64k"] });
    await expectGood(page);
    await list.getByLabel("If it is down").selectOption("No other model");
    await expect.poll(options).toEqual({ effort: "high", fallback_models: [] });
    await list.getByLabel("Effort").selectOption("As the model does");
    await expect.poll(options).toEqual({ effort: undefined, fallback_models: [] });
  });
});

const plain = (text: string): string => text.replace(/\s+/g, " ").trim();

async function expectNoSideScroll(page: Page): Promise<void> {
  const { wide, width } = await page.evaluate(() => ({
    wide: [document.documentElement, document.querySelector("main")].map(
      (one) => one?.scrollWidth ?? 0,
    ),
    width: window.innerWidth,
  }));
  expect(Math.max(...wide)).toBeLessThanOrEqual(width);
}
