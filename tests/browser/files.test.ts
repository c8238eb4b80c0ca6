/** The account's files in the console, and the file viewer, which chats use, too. */
import { readFile } from "node:fs/promises";
import { utils, write } from "@e965/xlsx";
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import { makeImage, makeSound, makeVideo } from "../support/fixtures/encoded-media.ts";
import { hostilePdf } from "../support/fixtures/hostile-pdf.ts";
import { fullMemory, proposalFor } from "../support/fixtures/memory.ts";
import { makeArtist } from "../support/fixtures/people.ts";
import { putFile } from "../support/fixtures/workspace-files.ts";
import { describeInBrowser, expectGood, sidewaysScroll } from "../support/harness/browser.ts";
import { client } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { sql, stack } from "../support/harness/stack.ts";

const ROWS = 200_000;
const fixture = (name: string) => `tests/support/fixtures/documents/${name}`;

/** A workbook with a sheet of notes and one of 300 sales. */
function makeWorkbook(): Buffer<ArrayBuffer> {
  const sales = Array.from({ length: 300 }, (_, row) => [`Store ${row}`, (row * 7) % 300]);
  const sheets = {
    Notes: utils.aoa_to_sheet([["About"], ["Net of returns"]]),
    Sales: utils.aoa_to_sheet([["Store", "Units"], ...sales]),
  };
  const book = { SheetNames: Object.keys(sheets), Sheets: sheets };
  return Buffer.from(write(book, { type: "array", bookType: "xlsx" }));
}

/** The color in a corner of a drawn page, and whether it has another one. */
const colorsOf = (section: Locator) =>
  section.locator("canvas").evaluate((drawn: HTMLCanvasElement) => {
    const copy = new OffscreenCanvas(drawn.width, drawn.height).getContext("2d");
    copy?.drawImage(drawn, 0, 0);
    const pixels = copy?.getImageData(0, 0, drawn.width, drawn.height).data ?? [];
    const corner = [...pixels.slice(0, 4)];
    return { corner, isWritten: pixels.some((value, at) => value !== corner[at % 4]) };
  });

/** Gives the page a file as a drop or a paste does. */
const give = (page: Page, how: "drop" | "paste", name: string, text: string) =>
  page.evaluate(
    ([kind, fileName, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], fileName));
      const init = { bubbles: true, cancelable: true };
      document
        .querySelector("main h1")
        ?.dispatchEvent(
          kind === "drop"
            ? new DragEvent("drop", { ...init, dataTransfer: data })
            : new ClipboardEvent("paste", { ...init, clipboardData: data }),
        );
    },
    [how, name, text] as const,
  );

describeInBrowser("files", ({ signedIn }) => {
  it("are uploaded, browsed, found, previewed, versioned and deleted", async () => {
    const { page, bearer } = await signedIn({ width: 1440, height: 900 });
    const caller = client({ bearer });
    const artist = await makeArtist(caller);
    await page.goto("/files");
    await page.getByRole("heading", { name: "No files yet" }).waitFor();
    const table = Array.from({ length: ROWS }, (_, row) => `Title ${row};${(row * 7_919) % ROWS}`);
    await page.locator("input[type=file]").setInputFiles([
      {
        name: "sales.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(`Title;Units\n${table.join("\n")}\n`),
      },
      { name: "q1.xlsx", mimeType: "", buffer: makeWorkbook() },
      { name: "contract.docx", mimeType: "", buffer: await readFile(fixture("contract.docx")) },
      { name: "contract.pdf", mimeType: "", buffer: await readFile(fixture("contract.pdf")) },
      { name: "cover.png", mimeType: "", buffer: Buffer.from(await makeImage()) },
      { name: "hook.mp3", mimeType: "", buffer: await makeSound("mp3") },
      { name: "teaser.mp4", mimeType: "", buffer: await makeVideo(1) },
      { name: "page.html", mimeType: "text/html", buffer: Buffer.from("<h1>Owned</h1>") },
    ]);
    const list = page.getByRole("list", { name: "Files" });
    await list.getByRole("link", { name: /^page.html/ }).waitFor();
    await putFile(caller, "notes/tour.txt", "Oslo");
    await give(page, "paste", "pasted.md", "# Terms\n\nAn advance of 20,000 EUR.\n");
    await list.getByRole("link", { name: /^pasted.md/ }).waitFor();
    await putFile(caller, "pasted.md", "# Terms\n\nAn advance of 25,000 EUR.\n");
    await list.getByRole("link", { name: /^notes/ }).click();
    await list.getByRole("link", { name: /^tour.txt/ }).waitFor();
    await give(page, "drop", "dropped.txt", "Bergen");
    await list.getByRole("link", { name: /^dropped.txt/ }).waitFor();
    await page.getByRole("link", { name: "notes/" }).click();
    await page.getByRole("main").getByRole("searchbox").fill("advance 25");
    await list.getByRole("link", { name: /^pasted.md .*advance of 25,000/ }).click();

    // Markdown, and its versions.
    const preview = page.getByRole("region", { name: "Preview" });
    await preview.getByRole("heading", { name: "Terms" }).waitFor();
    const versions = page.getByRole("list", { name: "Versions" }).getByRole("listitem");
    const newest = versions.first();
    await newest.getByText("by you").waitFor();
    await newest.getByRole("button", { name: "Changes" }).click();
    await newest.getByText(/-An advance of 20,000 EUR\.\n?\+An advance of 25,000/).waitFor();
    await newest.getByRole("button", { name: "Undo" }).click();
    await newest.getByText("Version 3").waitFor();
    await preview.getByText("20,000 EUR").waitFor();
    await versions.nth(1).getByRole("button", { name: "Restore" }).click();
    await preview.getByText("25,000 EUR").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete file" }).click();
    await preview.getByText("This file was deleted.").waitFor();
    await versions.nth(1).getByRole("button", { name: "Restore" }).click();
    await preview.getByText("25,000 EUR").waitFor();

    const open = (path: string) =>
      page.evaluate(
        (to) => history.pushState(null, "", to),
        `/files?${new URLSearchParams({ path })}`,
      );
    await open("sales.csv");
    await preview.getByText("Title 0", { exact: true }).waitFor();
    expect(await preview.getByRole("row").count()).toBeLessThan(100);
    await preview.getByRole("button", { name: "Units" }).click();
    await preview
      .getByRole("columnheader", { name: "Units" })
      .and(preview.locator("[aria-sort=ascending]"))
      .waitFor();
    await preview.getByRole("button", { name: "Units" }).click();
    await preview.getByRole("cell", { name: String(ROWS - 1), exact: true }).waitFor();
    await preview
      .getByRole("region", { name: "sales.csv" })
      .evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await preview.locator(`tr[aria-rowindex="2"]`).waitFor();
    // A citation opens the sheet at its row.
    await open("q1.xlsx#sheet=Sales&row=250");
    await preview.locator("tr[aria-current]", { hasText: "Store 248" }).waitFor();
    await expectGood(page);
    await preview.getByRole("radio", { name: "Notes" }).check();
    await preview.getByText("Net of returns").waitFor();
    await open("contract.docx");
    await preview.getByText("Audit: once a year").waitFor();
    await open("contract.pdf#page=1");
    const cited = preview
      .getByRole("region", { name: "Page 1" })
      .and(preview.locator("[aria-current]"));
    await cited.getByText("18 % of net receipts").waitFor();
    await expectGood(page);
    await preview.getByRole("radio", { name: "Text" }).check();
    await preview.locator("[aria-current]", { hasText: "18 % of net receipts" }).waitFor();
    const opened = page.context().waitForEvent("page");
    await preview.getByRole("button", { name: "Open" }).click();
    const hasViewer = await page.evaluate(() => navigator.pdfViewerEnabled);
    if (hasViewer) expect((await opened).url()).toMatch(/^blob:/);
    await (await opened).close();
    await open("cover.png");
    const cover = preview.getByRole("img", { name: "cover.png" });
    await expect
      .poll(() => cover.evaluate((image) => Reflect.get(image, "naturalWidth")))
      .not.toBe(0);
    for (const name of ["hook.mp3", "teaser.mp4"]) {
      await open(name);
      const length = () => preview.getByLabel(name).evaluate((one) => Reflect.get(one, "duration"));
      await expect.poll(length).toBeCloseTo(1, 0);
    }
    await open("page.html");
    await preview.getByText("<h1>Owned</h1>").waitFor();
    expect(await page.getByRole("heading", { name: "Owned" }).count()).toBe(0);

    await page.getByRole("link", { name: "All files" }).click();
    await page.getByRole("combobox", { name: "Whose files" }).selectOption(artist);
    await page.getByRole("heading", { name: "No files yet" }).waitFor();
    expect(new URL(page.url()).searchParams.get("artist")).toBe(artist);
  });

  it("of a hostile PDF are pictures of its pages, which lead nowhere and ask nothing", async () => {
    const { page, tab, bearer } = await signedIn({ width: 1280, height: 800 });
    const caller = client({ bearer });
    const protectedPdf = await readFile(fixture("protected.pdf"));
    await putFile(caller, "hostile.pdf", hostilePdf(60));
    await putFile(caller, "protected.pdf", protectedPdf);
    await putFile(caller, "damaged.pdf", Buffer.from("%PDF-1.7\nno PDF"));
    const prompts: string[] = [];
    page.on("dialog", (dialog) => {
      prompts.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto("/files?path=hostile.pdf");
    const preview = page.getByRole("region", { name: "Preview" });
    const pageOf = (number: number) =>
      preview.getByRole("region", { name: `Page ${number}`, exact: true });
    const first = pageOf(1);
    await first.getByText("Advance of 25,000 EUR").waitFor();
    // The letters are of a font that the file does not have.
    expect(await colorsOf(first)).toEqual({ corner: [255, 0, 0, 255], isWritten: true });
    expect(await preview.locator("iframe, object, embed, a").count()).toBe(0);
    await first.click();
    expect([page.url(), tab.context.pages().length, prompts]).toEqual([
      new URL("/files?path=hostile.pdf", stack.url).href,
      1,
      [],
    ]);
    // Pages are drawn when they come near, and their memory is given back.
    await expect.poll(() => preview.getByRole("region", { name: /^Page/ }).count()).toBe(60);
    const isDrawn = (number: number) =>
      pageOf(number)
        .locator("canvas")
        .evaluate((one: HTMLCanvasElement) => one.width > 300);
    expect(await isDrawn(60)).toBe(false);
    await pageOf(60).scrollIntoViewIfNeeded();
    await expect.poll(() => isDrawn(60)).toBe(true);
    await expect.poll(() => isDrawn(1)).toBe(false);
    await preview.getByRole("radio", { name: "Text" }).check();
    await preview.getByText("Advance of 25,000 EUR").first().waitFor();

    await page.goto("/files?path=protected.pdf");
    await preview.getByRole("alert").getByText("This PDF is protected with a password").waitFor();
    await page.goto("/files?path=damaged.pdf");
    await preview.getByRole("alert").getByText("This PDF is damaged").waitFor();
  });

  it("show the memory with what is proposed for it, and citations of a chat, on a phone", async () => {
    const { page, bearer } = await signedIn({ width: 390, height: 844 });
    const caller = client({ bearer });
    await putFile(caller, "MEMORY.md", fullMemory);
    await proposalFor(caller, 1);
    await page.goto("/files");
    await page.getByRole("heading", { name: /^The memory is nearly full/ }).waitFor();
    await expectGood(page);
    await page.getByRole("link", { name: /^MEMORY.md What agents remember/ }).click();
    const newest = page.getByRole("list", { name: "Versions" }).getByRole("listitem").first();
    // The page before has this button, too.
    await newest.getByText("Version 1").waitFor();
    await page.getByRole("button", { name: "Accept" }).click();
    await newest.getByText("Version 2").waitFor();
    expect(await page.getByRole("button", { name: "Accept" }).count()).toBe(0);
    await newest.getByRole("button", { name: "Undo" }).click();
    await newest.getByText("Version 3").waitFor();

    const { sessionId, chatId } = await openConversation(caller);
    await caller.post("/api/sandbox", { sessionId });
    const query = new URLSearchParams({ sessionId, path: "q1.xlsx" });
    await fetch(`${caller.url}/api/sandbox/files/content?${query}`, {
      ...{ method: "PUT", headers: caller.headers, body: makeWorkbook() },
    });
    const parts = [{ type: "text", text: "See [the sales](q1.xlsx#sheet=Sales&row=250)." }];
    await sql`insert into messages (chat_id, id, role, parts) values (${chatId}, 'u', 'user',
        ${sql.json([{ type: "text", text: "Where?" }])}),
      (${chatId}, 'a', 'assistant', ${sql.json(parts)})`;
    await page.goto(`/chat/${sessionId}/${chatId}`);
    await page.getByRole("button", { name: "the sales" }).click();
    const panel = page.getByRole("complementary", { name: "Files of this chat" });
    await panel.locator("tr[aria-current]", { hasText: "Store 248" }).waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    await page.goto("/settings");
    await page.getByRole("switch", { name: "Shorten a full memory automatically" }).click();
    await expect
      .poll(async () => (await caller.get("/api/accounts/me")).body)
      .toMatchObject({ account: { auto_accept_memory: true } });
  });
});
