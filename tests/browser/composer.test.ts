/** The message box: files by button, drop and paste; messages that wait while the agent is busy. */
import type { Locator, Page, Route } from "playwright-core";
import { expect, it } from "vitest";
import { z } from "zod";
import { sessionFor } from "../support/harness/auth-session.ts";
import { describeInBrowser, expectGood, showNavigation } from "../support/harness/browser.ts";
import {
  messageBox,
  openChatPage,
  sendMessage,
  waitUntilIdle,
} from "../support/harness/chat-browser.ts";
import { client, createAccount } from "../support/harness/clients.ts";
import { stack } from "../support/harness/stack.ts";

const CSV = "track,territory,net_usd\nNight Ferry,DE,12.50\n";
const filePart = z.object({ type: z.literal("file"), url: z.string(), filename: z.string() });

const attachments = (page: Page): Locator => page.getByRole("list", { name: "Attachments" });
const queue = (page: Page): Locator => page.getByRole("region", { name: "Queued messages" });

async function choose(page: Page, name: string, content: string | Buffer): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files" }).click();
  const buffer = Buffer.from(content);
  await (await chooser).setFiles([{ name, mimeType: typeOf(name), buffer }]);
}

const typeOf = (name: string) => (name.endsWith(".png") ? "image/png" : "text/csv");

const names = (page: Page): Promise<string[]> =>
  attachments(page).locator("[title]:not(button)").allTextContents();

/** Loads the page with another session, and returns the one before. */
async function changeSession(page: Page, session: string): Promise<string> {
  const before = await page.evaluate((next) => {
    const key = "agent-platform-session";
    const stored = localStorage.getItem(key) ?? "";
    localStorage.setItem(key, next);
    return stored;
  }, session);
  await page.reload();
  return before;
}

/** Sends the events of a drag or of a paste with files, as a browser does. */
function transfer(
  page: Page,
  how: "drag" | "drop" | "paste",
  files: readonly { readonly name: string; readonly bytes: number }[],
): Promise<void> {
  return page.evaluate(
    ([event, given]) => {
      const data = new DataTransfer();
      for (const { name, bytes } of given) data.items.add(new File([new Uint8Array(bytes)], name));
      const box = document.querySelector("textarea");
      const common = { bubbles: true, cancelable: true };
      if (event === "paste") {
        box?.dispatchEvent(new ClipboardEvent("paste", { ...common, clipboardData: data }));
      } else if (event === "drag") {
        box?.dispatchEvent(new DragEvent("dragenter", { ...common, dataTransfer: data }));
      } else box?.dispatchEvent(new DragEvent("drop", { ...common, dataTransfer: data }));
    },
    [how, files] as const,
  );
}

const IMAGE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

describeInBrowser("the message box", (browsing) => {
  it("attaches files by button, drop and paste, and says what cannot be attached", async () => {
    const { page, bearer } = await browsing.signedIn({ expected: /ERR_FAILED|status of 413/ });
    await page.goto("/chat");
    await choose(page, "royalty-statement.csv", CSV);
    await attachments(page).getByText("45 B", { exact: true }).waitFor();
    await choose(page, "cover.png", IMAGE);
    await expect.poll(() => attachments(page).locator("img").count()).toBe(1);

    await transfer(page, "drag", [{ name: "tour.csv", bytes: 10 }]);
    await page.getByText("Drop files to attach them").waitFor();
    await transfer(page, "drop", [{ name: "tour.csv", bytes: 10 }]);
    await page.getByText("Drop files to attach them").waitFor({ state: "detached" });
    await transfer(page, "paste", [{ name: "pasted.csv", bytes: 11 }]);
    await attachments(page).getByText("11 B", { exact: true }).waitFor();

    // A failed upload shows the reason; an interrupted one can be retried.
    await transfer(page, "drop", [{ name: "masters.zip", bytes: 100 * 1024 * 1024 + 1 }]);
    await attachments(page).getByText("Files can have at most 100 MB.").waitFor();
    await page.route("**/api/sandbox/files/content?**", (route) => route.abort());
    await transfer(page, "drop", [{ name: "setlist.csv", bytes: 12 }]);
    await attachments(page).getByText("The upload was interrupted.").waitFor();
    expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await expectGood(page);
    await page.unroute("**/api/sandbox/files/content?**");
    await page.getByRole("button", { name: "Retry setlist.csv" }).click();
    await attachments(page).getByText("12 B", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove masters.zip" }).click();
    const many = Array.from({ length: 20 }, (_, index) => ({ name: `${index}.csv`, bytes: 1 }));
    await transfer(page, "drop", many);
    await page.getByRole("alert").getByText("A message can have at most 20 files.").waitFor();
    for (let index = 0; index < 15; index++) {
      await page.getByRole("button", { name: `Remove ${index}.csv`, exact: true }).click();
    }

    // Uploaded files stay with the text, after a reload and while another page is shown.
    const kept = ["royalty-statement.csv", "cover.png", "tour.csv", "pasted.csv", "setlist.csv"];
    await messageBox(page).fill("Sum the statement");
    await page.reload();
    await expect.poll(() => attachments(page).getByRole("listitem").count()).toBe(5);
    await expect.poll(() => attachments(page).locator("img").count()).toBe(1);
    expect(await messageBox(page).inputValue()).toBe("Sum the statement");
    await showNavigation(page);
    await page.getByRole("link", { name: "Artists", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Artists" }).waitFor();
    await page.goBack();
    await expect.poll(() => names(page)).toEqual(kept);

    // One that is gone from the sandbox drops out.
    const put = page.waitForRequest((request) => request.url().includes("gone.csv"));
    await transfer(page, "drop", [{ name: "gone.csv", bytes: 13 }]);
    await attachments(page).getByText("13 B", { exact: true }).waitFor();
    const { searchParams } = new URL((await put).url());
    const caller = client({ bearer });
    expect((await caller.delete(`/api/sandbox/files?${searchParams}`)).status).toBe(200);
    await page.reload();
    const notice = "gone.csv is no longer among the files of this chat. Attach it again.";
    await page.getByRole("alert").getByText(notice).waitFor();
    expect(await names(page)).toEqual(kept);

    // Another account in this browser sees none of it.
    const otherEmail = `${crypto.randomUUID()}@example.com`;
    await createAccount({ email: otherEmail });
    const own = await changeSession(page, JSON.stringify(await sessionFor(otherEmail)));
    await choose(page, "other.csv", CSV);
    await attachments(page).getByText("45 B", { exact: true }).waitFor();
    expect(await names(page)).toEqual(["other.csv"]);
    expect(await messageBox(page).inputValue()).toBe("");
    await changeSession(page, own);
    await expect.poll(() => names(page)).toEqual(kept);

    await sendMessage(page, "Sum the statement");
    await page.waitForURL(/\/chat\/[\w-]{36}\/[\w-]{36}$/);
    const sent = page.getByRole("list", { name: "Attached files" });
    await expect.poll(() => sent.getByRole("listitem").count()).toBe(5);
    await sent.getByRole("img", { name: "cover.png" }).waitFor();
    await waitUntilIdle(page);
    await expectGood(page);

    const [, , sessionId = "", chatId = ""] = new URL(page.url()).pathname.split("/");
    const stored = await caller.get(`/api/sessions/${sessionId}/chats/${chatId}`);
    const { messages } = z
      .object({ messages: z.array(z.object({ parts: z.array(z.unknown()) })) })
      .parse(stored.body);
    const files = (messages[0]?.parts ?? []).flatMap((part) => filePart.safeParse(part).data ?? []);
    expect(files.map(({ filename }) => filename)).toEqual(kept);
    const url = files[0]?.url ?? "";
    expect(url).toMatch(/^sandbox:\/home\/agent\/uploads\/[\w-]+\/royalty-statement\.csv$/);
    const query = new URLSearchParams({ sessionId, path: url.slice("sandbox:".length) });
    expect((await caller.get(`/api/sandbox/files/content?${query}`)).text).toBe(CSV);

    // An edit that is refused gives its text and its files back.
    await page.route("**/api/chat", (route) =>
      route.fulfill({ status: 413, json: { status: "error", message: "No" } }),
    );
    await page.getByRole("article", { name: "You" }).hover();
    await page.getByRole("button", { name: "Edit message" }).click();
    await page.getByRole("textbox", { name: "Edit message" }).fill("Sum it by territory");
    await page.keyboard.press("Enter");
    await expect.poll(() => messageBox(page).inputValue()).toBe("Sum it by territory");
    await expect.poll(() => attachments(page).getByRole("listitem").count()).toBe(5);
  });

  it("keeps messages while the agent is busy: removed, reloaded, sent now, given back", async () => {
    const { page, conversation } = await openChatPage(browsing);
    await sendMessage(page, "run: sleep 100");
    // A turn that is stopped before it has said anything leaves no answer.
    await page.getByRole("button", { name: /Running sleep 100/ }).waitFor();
    for (const text of ["Add the tour dates", "Then the press text", "And the budget"]) {
      await messageBox(page).fill(text);
      await messageBox(page).press("Enter");
      await queue(page).getByText(text).waitFor();
    }
    await expectGood(page);
    await page.getByRole("button", { name: "Remove queued message: And the budget" }).click();
    await queue(page).getByText("And the budget").waitFor({ state: "detached" });
    await page.reload();
    await queue(page).getByText("Then the press text").waitFor();
    expect(await queue(page).getByRole("listitem").count()).toBe(2);

    await queue(page)
      .getByRole("listitem")
      .filter({ hasText: "Then the press text" })
      .getByRole("button", { name: "Send now" })
      .click();
    // Between two turns the page is idle for a moment.
    const asked = page.getByRole("article", { name: "You" }).locator("p");
    await expect
      .poll(() => asked.allTextContents())
      .toEqual(["run: sleep 100", "Then the press text", "Add the tour dates"]);
    await expect.poll(() => page.getByRole("article", { name: "Agent" }).count()).toBe(3);
    await expect.poll(async () => (await conversation.read()).messages.length).toBe(6);
    await waitUntilIdle(page);
    // Nothing outside of a message's box is painted.
    const beyond = await page.locator("[data-message] footer").evaluateAll((footers) =>
      footers.map((footer) => {
        const box = footer.closest("[data-message]")?.getBoundingClientRect();
        return Math.max(0, footer.getBoundingClientRect().bottom - (box?.bottom ?? 0));
      }),
    );
    expect(beyond).toEqual([0, 0, 0, 0, 0, 0]);

    // A stop drops what waits; nothing that was written is lost.
    const isWritten = Promise.withResolvers<void>();
    const hold = async (route: Route) => {
      await isWritten.promise;
      await route.continue();
    };
    await page.route("**/api/chat", hold, { times: 1 });
    await sendMessage(page, "run: sleep 100");
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    await messageBox(page).fill("Later");
    await messageBox(page).press("Enter");
    await queue(page).getByRole("button", { name: "Send now" }).waitFor();
    // A slow request is not overtaken.
    isWritten.resolve();
    await expect
      .poll(() => queue(page).getByRole("button", { name: "Send now" }).isEnabled())
      .toBe(true);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await expect.poll(() => messageBox(page).inputValue()).toBe("Later");
    await waitUntilIdle(page);
    expect((await conversation.read()).messages.at(-1)?.role).toBe("assistant");
  });

  it("begins with a suggestion, which can be completed before it is sent", async () => {
    const { page } = await browsing.signedIn();
    await page.goto("/chat");
    await page.getByRole("button", { name: "Budget a tour" }).click();
    await expect.poll(() => messageBox(page).inputValue()).toContain("six club shows");
    await page.getByRole("button", { name: "Check royalties" }).click();
    await page.getByRole("dialog", { name: "Check royalties" }).waitFor();
    await expectGood(page);
    await page.getByRole("button", { name: "Use the sample" }).click();
    await expect.poll(() => messageBox(page).inputValue()).toContain("two royalty statements");
    await page.getByRole("heading", { name: /^What would you like to do for / }).waitFor();
  });

  it("loses nothing when a deployment has replaced the page's code", async () => {
    const { page } = await openChatPage(browsing, stack, {
      expected: /status of 404|ERR_FAILED|ERR_INTERNET/,
    });
    const newVersion = page.getByText("A new version is available.");
    const shortcuts = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    // The page may not listen yet, or take the focus a moment later. A locator would wait for ever for a
    // box behind a dialog that has just opened.
    const askFor = (shown: Locator) =>
      expect.poll(async () => {
        if ((await shown.count()) > 0) return true;
        await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
        await page.keyboard.press("?");
        return false;
      });

    // A lost connection does not mean a new version: the module loads once it is back.
    let answer: "lost" | "gone" | "there" = "lost";
    await page.route("**/_next/static/**/*.js", (route) => {
      if (answer === "lost") return route.abort();
      return answer === "gone" ? route.fulfill({ status: 404 }) : route.continue();
    });
    await askFor(page.getByText("Connection lost. Reconnecting…")).toBe(true);
    expect(await newVersion.count()).toBe(0);
    answer = "there";
    await askFor(shortcuts).toBe(true);
    await page.keyboard.press("Escape");

    // The code is gone: the page says so, and keeps the draft, although it was sent.
    answer = "gone";
    await sendMessage(page, "[deltas:2] Plan the release");
    await newVersion.waitFor();
    await expect.poll(() => messageBox(page).inputValue()).toBe("[deltas:2] Plan the release");
    await page.keyboard.press("ControlOrMeta+K");
    await expectGood(page);
    answer = "there";
    await page.getByRole("button", { name: "Reload" }).click();
    await newVersion.waitFor({ state: "detached" });
    await expect.poll(() => messageBox(page).inputValue()).toBe("[deltas:2] Plan the release");
    // The draft is there before the chat was read.
    const send = page.getByRole("button", { name: "Send", exact: true });
    await expect.poll(() => send.isEnabled()).toBe(true);
    await messageBox(page).press("Enter");
    await page.getByRole("article", { name: "Agent" }).waitFor();
    await waitUntilIdle(page);
  });
});
