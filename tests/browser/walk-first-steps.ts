/**
 * The first half hour of a new account, as its checklist leads through it, with the clicks and the
 * keys that each step takes. Whoever makes a step longer changes a number here.
 */
import { execFileSync } from "node:child_process";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { expectGood } from "../support/harness/browser.ts";
import { client } from "../support/harness/clients.ts";

/** An image and a video are rendered on this machine. */
const RENDERED = 120_000;

/** Clicks and types like a person, and counts both. */
class Hand {
  #clicks = 0;
  #keys = 0;

  async click(target: Locator): Promise<void> {
    await target.click();
    this.#clicks++;
  }

  async type(target: Locator, text: string): Promise<void> {
    await target.fill(text);
    this.#keys += text.length;
  }

  /** Returns what the step took, and begins the next one. */
  count(): { readonly clicks: number; readonly keys: number } {
    const taken = { clicks: this.#clicks, keys: this.#keys };
    this.#clicks = 0;
    this.#keys = 0;
    return taken;
  }
}

const step = (page: Page, name: string) => page.getByRole("link", { name, exact: true });

/** The arguments of a command line, as a shell splits it. */
function argumentsOf(line: string): readonly string[] {
  const script = `curl() { for part; do printf '%s\\n' "$part"; done; }; ${line}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).trimEnd().split("\n");
}

/** @param isPhone the navigation is in a drawer, which one click opens */
export async function walkFirstSteps(page: Page, isPhone: boolean): Promise<void> {
  const hand = new Hand();
  /** The clicks to the checklist. */
  const way = isPhone ? 2 : 1;
  const goOn = async () => {
    if (isPhone) await hand.click(page.getByRole("button", { name: "Open navigation" }));
    await hand.click(page.getByRole("link", { name: "Get started" }));
  };
  await page.goto("/");
  const start = page.getByRole("region", { name: "Get started" });
  await start.getByText("0 of 5 done").waitFor();
  await page.getByText("No AI model is connected yet").waitFor();

  await hand.click(start.getByRole("link", { name: "Have a file analyzed" }));
  await page.getByRole("list", { name: "Attachments" }).getByText("sample-statement.csv").waitFor();
  await hand.click(page.getByRole("button", { name: "Send" }));
  await page.getByRole("cell", { name: "Paper Lanterns" }).first().waitFor();
  await page.getByText(/^Line 10 repeats line 9/).waitFor();
  await page.getByText(/^Line 7: Rate EUR 0.0014/).waitFor();
  expect(hand.count()).toEqual({ clicks: 2, keys: 0 });

  await goOn();
  await page.getByText("1 of 5 done").waitFor();
  await hand.click(step(page, "Add an artist"));
  const artist = page.getByRole("dialog", { name: "New artist" });
  await hand.type(artist.getByLabel("Name", { exact: true }), "Lumen");
  await hand.click(artist.getByRole("button", { name: "Add artist" }));
  await page.getByRole("heading", { name: "Lumen", level: 1 }).waitFor();
  if (!isPhone) await page.getByRole("button", { name: "Working for: Lumen" }).waitFor();
  expect(hand.count()).toEqual({ clicks: 2 + way, keys: 5 });

  await goOn();
  await page.getByText("2 of 5 done").waitFor();
  await hand.click(step(page, "Set a schedule"));
  const schedule = page.getByRole("dialog", { name: "New schedule" });
  await hand.click(schedule.getByRole("button", { name: "Monday streaming report" }));
  const chosen = schedule.getByLabel("Artist").locator("option:checked");
  await expect.poll(() => chosen.textContent()).toBe("Lumen");
  await hand.click(schedule.getByRole("button", { name: "Create schedule" }));
  await page.getByRole("heading", { name: "Monday streaming report", level: 1 }).waitFor();
  expect(hand.count()).toEqual({ clicks: 3 + way, keys: 0 });

  await goOn();
  await page.getByText("3 of 5 done").waitFor();
  await hand.click(step(page, "Make a video"));
  await hand.type(page.getByRole("textbox", { name: "Prompt" }), "A roof at dusk");
  await hand.click(page.getByRole("button", { name: "Generate video" }));
  const result = page.getByRole("region", { name: "Result" });
  await result.locator("video[controls]").waitFor({ timeout: RENDERED });
  expect(hand.count()).toEqual({ clicks: 2 + way, keys: 14 });

  await goOn();
  await page.getByText("4 of 5 done").waitFor();
  await hand.click(step(page, "Create a key"));
  const dialog = page.getByRole("dialog");
  await hand.click(dialog.getByRole("button", { name: "Create key" }));
  await dialog.getByText("Waiting for the first request").waitFor();
  await expectGood(page);
  await hand.click(dialog.getByRole("button", { name: "Copy command" }));
  await dialog.getByText("Copied").waitFor();
  const [url = "", , header = "", , body = ""] = argumentsOf(
    await page.evaluate(() => navigator.clipboard.readText()),
  );
  const { origin, pathname } = new URL(url);
  const caller = client({ key: header.replace("x-api-key: ", "") }, origin);
  const started = await caller.post(pathname, JSON.parse(body));
  expect(started.status, started.text).toBe(202);
  await dialog.getByText("The key works").waitFor();
  expect(hand.count()).toEqual({ clicks: 3 + way, keys: 0 });

  await page.goto("/welcome");
  await page.getByRole("heading", { name: "You are all set" }).waitFor();
  await expectGood(page);
  await page.goto("/chat");
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  expect(await start.count()).toBe(0);
}
