import { expect, it } from "vitest";
import { describeInBrowser, signIn } from "../support/browser.ts";

describeInBrowser("the shell", ({ newTab }) => {
  it("shows who is signed in and the way to every page", async () => {
    const tab = await newTab();
    const { email } = await signIn(tab);
    await tab.page.goto("/keys");
    await tab.page.getByText(email).waitFor();
    await tab.page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    const links = tab.page.getByRole("navigation", { name: "Main" }).getByRole("link");
    expect(await links.allTextContents()).toEqual([
      "Chat",
      "Templates",
      "Content",
      "Runs",
      "Connectors",
      "API keys",
      "API reference",
    ]);
  });

  it("shows the sign-in in the place of a page that needs an account", async () => {
    const { page } = await newTab();
    await page.goto("/keys");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/keys");
  });
});
