import { expect, it } from "vitest";
import { describeInBrowser, signIn } from "../support/harness/browser.ts";

describeInBrowser("the API reference", ({ newTab }) => {
  it("is read by those who are not signed in, and asks nobody else for anything", async () => {
    const { page } = await newTab();
    await page.goto("/docs");
    await page.getByRole("heading", { name: "Agent Platform API" }).waitFor();
    await page.getByRole("link", { name: "Sign in" }).waitFor();
  });

  it("sends a request that is tried with the bearer of who is signed in", async () => {
    const tab = await newTab();
    const { page } = tab;
    await signIn(tab);
    await page.goto("/docs#tag/keys/GET/api/keys");
    await page.getByRole("button", { name: /Test Request\s*\(get \/api\/keys\)/ }).click();
    const answered = page.waitForResponse((one) => new URL(one.url()).pathname === "/api/keys");
    await page.getByRole("button", { name: /^Send/ }).first().click();
    expect((await answered).status()).toBe(200);
    await page.getByText("200 OK").waitFor();
  });

  it("is entered and left like any page, since its policy is that of the others", async () => {
    const tab = await newTab();
    const { page } = tab;
    await signIn(tab);
    await page.goto("/keys");
    const loaded = page.waitForResponse((one) => new URL(one.url()).pathname === "/docs");
    await page.getByRole("link", { name: "API reference" }).click();
    expect((await loaded).request().resourceType()).toBe("fetch");
    await page.getByRole("heading", { name: "Agent Platform API" }).waitFor();
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  });
});
