import { expect, it } from "vitest";
import { describeInBrowser, showNavigation, signIn } from "../support/harness/browser.ts";

describeInBrowser("the console shell", ({ newTab, signedIn }) => {
  it("shows who is signed in and the way to every page", async () => {
    const tab = await newTab();
    const { email } = await signIn(tab);
    await tab.page.goto("/keys");
    await tab.page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    await showNavigation(tab.page);
    await tab.page.getByText(email).filter({ visible: true }).waitFor();
    const icon = await tab.page.request.get("/favicon.ico");
    expect(icon.headers()["content-type"]).toBe("image/x-icon");
    const main = tab.page.getByRole("navigation", { name: "Main" });
    const pages = () => main.getByRole("link").allTextContents();
    const work = ["Artists", "Files", "Content", "Schedules"];
    expect(await pages()).toEqual([...work, "API keys"]);
    await main.getByRole("button", { name: "More" }).click();
    await main.getByRole("button", { name: "Developers" }).click();
    expect(await pages()).toEqual([
      ...work,
      ...["Catalog", "Templates", "Skills", "Connectors", "Runs"],
      ...["Usage", "API keys", "Playground", "Docs"],
    ]);
  });

  it("shows the sign-in in the place of a page that needs an account", async () => {
    const { page } = await newTab();
    await page.goto("/keys");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/keys");
  });

  it("keeps the colours that were chosen, without a change while a page loads", async () => {
    const { page } = await newTab();
    await page.goto("/");
    const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await colour();
    await page.getByRole("button", { name: /^Theme: system/ }).click();
    await page.getByRole("button", { name: /^Theme: light/ }).click();
    await page.getByRole("button", { name: /^Theme: dark/ }).waitFor();
    await expect.poll(colour).not.toBe(light);
    const dark = await colour();
    await page.reload({ waitUntil: "commit" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await colour()).toBe(dark);
  });

  it("is a drawer on a phone, which closes when a page is chosen", async () => {
    const { page } = await signedIn({ width: 360, height: 740 });
    await page.goto("/keys");
    await page.getByRole("button", { name: "Open navigation" }).click();
    const drawer = page.getByRole("dialog", { name: "Navigation" });
    await drawer.waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await expect.poll(focused).toBe("Open navigation");
    await page.keyboard.press("Enter");
    await drawer.getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("heading", { name: "Schedules", level: 1 }).waitFor();
    await drawer.waitFor({ state: "detached" });
  });

  it("leads from the start to the chat who is signed in, and from a key press to the content", async () => {
    const { page } = await signedIn();
    await page.goto("/");
    await page.waitForURL(/\/chat/);
    await page.goto("/keys");
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
  });
});
