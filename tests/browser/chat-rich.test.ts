/** Rich answers: code, formulas, footnotes and tables, while they stream, in all appearances, and from a hostile model. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { gate } from "../support/fakes/openai.ts";
import { paced, RICH_ANSWER, richScript } from "../support/fixtures/rich-answer.ts";
import { describeInBrowser, expectGood } from "../support/harness/browser.ts";
import {
  answers,
  openChatPage,
  provideChatServer,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";

const place = provideChatServer();

describeInBrowser("a rich answer", (browsing) => {
  it("is highlighted, set and named for everybody, in all appearances", async () => {
    place.model.script("rich", richScript);
    const { page } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:rich]");
    await waitUntilIdle(page);
    const answer = answers(page).last();

    for (const [language, kind, text] of [
      ["Python", "keyword", "def"],
      ["TypeScript", "string", "toFixed"],
      ["SQL", "keyword", "select"],
      ["JSON", "property", "track"],
    ] as const) {
      const code = answer.getByRole("group", { name: `Code, ${language}` });
      if (text === "toFixed") await code.locator(".code-function", { hasText: text }).waitFor();
      else await code.locator(`.code-${kind}`, { hasText: text }).first().waitFor();
    }
    const python = answer.getByRole("group", { name: "Code, Python" });
    expect(await python.textContent()).toBe(/```python\n(.*?)\n```/s.exec(RICH_ANSWER)?.[1]);

    await expect.poll(() => answer.locator(".katex").count()).toBe(2);
    expect(await answer.locator("math").count()).toBe(2);
    // Its fonts come from this origin: the test observes the page's requests.
    expect(
      await page.evaluate(async () => {
        await document.fonts.ready;
        return [...document.fonts].some(
          ({ family, status }) => family.includes("KaTeX") && status === "loaded",
        );
      }),
    ).toBe(true);
    await answer.getByText("costs $5 to $10 per line").waitFor();

    expect(await answer.getByRole("heading").allTextContents()).toEqual([
      "Agent",
      "Royalty check for Night Bus",
      "Totals",
      "What to do",
      "Scripts",
    ]);
    expect(await answer.getByRole("img", { name: "Done:" }).count()).toBe(1);
    const notes = answer.getByRole("region", { name: "Footnotes" });
    expect(await notes.getByRole("listitem").count()).toBe(2);
    await answer.getByRole("link", { name: "Footnote 2" }).click();
    await notes.getByRole("button", { name: "Back to the reference of footnote 2" }).click();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
      .toBe("Footnote 2");

    await answer.getByRole("button", { name: /^Wrote total.py/ }).click();
    const written = answer.getByRole("group", { name: "Content of total.py" });
    await written.locator(".code-keyword", { hasText: "return" }).waitFor();
    await answer.getByRole("button", { name: "Reasoning" }).click();
    await answer.getByRole("button", { name: "Wrap lines" }).first().click();
    const loading = page.waitForEvent("download");
    await answer.getByRole("button", { name: "Download code" }).first().click();
    expect((await loading).suggestedFilename()).toBe("code.py");

    await expectGood(page);
    // Everything has the colors of the scheme.
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(() => brightness(page)).toBe("dark");
  });

  it("streams: the end of growing code stays in view until one scrolls up, and no table was a paragraph", async () => {
    const middle = gate();
    const end = gate();
    place.model.script("fence", async function* () {
      const lines = (from: number) =>
        Array.from({ length: 60 }, (_, index) => `print(${from + index})\n`).join("");
      yield { text: `\`\`\`py\n${lines(0)}` };
      await middle.pass();
      yield { text: lines(100) };
      await end.pass();
      yield { text: `${lines(200)}\`\`\`\n` };
    });
    const { page } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:fence]");
    const code = page.getByRole("group", { name: "Code, Python" });
    const fromEnd = () =>
      code.evaluate((box) => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop));
    await code.getByText("print(59)").waitFor();
    middle.open();
    await code.getByText("print(159)").waitFor();
    await expect.poll(fromEnd).toBe(0);
    await code.evaluate((box) => box.scrollTo({ top: 0 }));
    await expect.poll(fromEnd).toBeGreaterThan(100);
    end.open();
    await code.getByText("print(259)").waitFor();
    await waitUntilIdle(page);
    expect(await code.evaluate((box) => box.scrollTop)).toBe(0);

    // 200 deltas a second.
    place.model.script("paced", ({ step: _ }) => paced(RICH_ANSWER.repeat(2), 200));
    await page.evaluate(() => {
      const seen = { longTasks: [] as number[], bars: [] as string[] };
      Object.assign(window, { seen });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) seen.longTasks.push(Math.round(duration));
      }).observe({ type: "longtask" });
      new MutationObserver(() => {
        for (const { textContent } of document.querySelectorAll("article p")) {
          if (textContent?.startsWith("|")) seen.bars.push(textContent);
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await sendMessage(page, "[script:paced]");
    await waitUntilIdle(page);
    await answers(page).last().getByRole("region", { name: "Footnotes" }).waitFor();
    const { longTasks, bars } = await page.evaluate(
      () => (window as unknown as { seen: { longTasks: number[]; bars: string[] } }).seen,
    );
    console.info(`long tasks while a rich answer streams: ${longTasks.join(", ") || "none"} (ms)`);
    expect(bars).toEqual([]);
  });

  it("keeps its own controls out of the links of a stranger, and names the hosts that these conceal", async () => {
    place.model.script("links", () => [{ text: LINKS }]);
    const tab = await openChatPage(browsing, place.server, { expected: /media\/proxy/ });
    const { page } = tab;
    await sendMessage(page, "[script:links]");
    await waitUntilIdle(page);
    const answer = answers(page).last();
    const load = answer.getByRole("button", { name: "Load image from img.example" });
    await expect.poll(() => load.count()).toBe(5);
    const inner = "a :is(a, button, img, [tabindex]), button :is(a, button, img, [tabindex])";
    expect(await answer.locator(`:is(${inner})`).count()).toBe(0);
    const links = answer.getByRole("link");
    expect(await links.allTextContents()).toEqual([
      "Cover",
      "the b Art",
      "1",
      "Image",
      "in a cell Image",
      "https://bank.example (evil.example)",
      "https://bank.example (evil.example)",
      "evil.example",
    ]);
    // The controls work where they are, and open nothing.
    const opened: string[] = [];
    tab.tab.context.on("page", (one) => opened.push(one.url()));
    const address = page.url();
    await load.first().click();
    await answer.getByText("The image could not be loaded.").waitFor();
    await answer.getByRole("link", { name: "Footnote 1" }).click();
    expect(opened).toEqual([]);
    expect(page.url().split("#")[0]).toBe(address.split("#")[0]);
    expect(await widest(page)).toBeLessThanOrEqual(1280);
  });

  it("survives hostile Markdown", async () => {
    place.model.script("hostile-rich", function* () {
      yield { text: HOSTILE };
    });
    const { page } = await openChatPage(browsing, place.server);
    await sendMessage(page, "[script:hostile-rich]");
    await waitUntilIdle(page);
    const answer = answers(page).last();
    await answer.getByText("The end of it.").waitFor();
    await expect.poll(() => answer.locator(".katex").count()).toBeGreaterThan(0);
    const found = await answer.evaluate((node) => ({
      dangerous: node.querySelectorAll("script, img, iframe, object, embed, style, form, [onclick]")
        .length,
      links: [...node.querySelectorAll("a")].map(({ protocol }) => protocol),
    }));
    expect(found).toEqual({ dangerous: 0, links: [] });
    await answer.getByText("\\def\\a{\\a\\a}\\a").waitFor();
    expect(await widest(page)).toBeLessThanOrEqual(1280);
    // The page still answers.
    await sendMessage(page, "[deltas:3]");
    await answers(page).last().getByText("0 1 2").waitFor();
  });
});

const LINKS = [
  "[![Cover](https://img.example/1.png)](https://evil.example/?d=SECRET)",
  "[the **b ![Art](https://img.example/2.png)**[^1]](https://evil.example/2)",
  "[![](https://img.example/3.png)](https://evil.example/3)",
  "[![File](https://img.example/4.png)](report.md)",
  "| A |\n|---|\n| [in a cell ![](https://img.example/5.png)](https://evil.example/5) |",
  "[https://bank.example](https://evil.example/6) [https://**bank**.example](https://evil.example/7)",
  "[evil.example](https://evil.example/8)",
  "[^1]: A note",
].join("\n\n");

const HOSTILE = [
  "[a](javascript:alert(1)) ![b](data:text/html;base64,PHN2Zz4=) <b onclick=alert(1)>c</b>",
  "$\\href{javascript:alert(1)}{x}$ $\\htmlClass{evil}{y}$ $\\includegraphics{https://evil.example/x.png}$",
  "$$\\def\\a{\\a\\a}\\a$$",
  "$$\\rule{99999em}{99999em}$$",
  `$$${"\\frac{1}{".repeat(400)}x${"}".repeat(400)}$$`,
  `${">".repeat(20_000)} deep`,
  `${"- ".repeat(20_000)}deep`,
  Array.from({ length: 200 }, (_, depth) => `${"  ".repeat(depth)}- level ${depth}`).join("\n"),
  `\`\`\`js\n${"/*".repeat(40_000)}\n${"a".repeat(100_000)}\n\`\`\``,
  "w".repeat(300_000),
  `[^${"x".repeat(500)}] [^__proto__] [^constructor]`,
  "The end of it.",
].join("\n\n");

const brightness = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const text = getComputedStyle(document.querySelector("main") ?? document.body).color;
    return Number(/\d+/.exec(text)?.[0]) > 128 ? "dark" : "light";
  });

const widest = (page: Page): Promise<number> =>
  page.evaluate(() =>
    Math.max(
      document.documentElement.scrollWidth,
      document.querySelector("main")?.scrollWidth ?? 0,
    ),
  );
