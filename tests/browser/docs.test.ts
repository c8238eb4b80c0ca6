import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeInBrowser, isPhone, showNavigation } from "../support/harness/browser.ts";
import { countScripts, untilLoaded } from "../support/harness/page-costs.ts";
import { stack } from "../support/harness/stack.ts";

/** The compressed size of the script that a page of the documentation may load at first. */
const MAX_SCRIPT_BYTES = 250_000;

describeInBrowser("the documentation", ({ newTab, signedIn }) => {
  it("is read by those who are not signed in, page after page, with little script", async () => {
    const { page } = await newTab();
    const scripts = countScripts(page);
    await page.goto("/docs");
    await page.getByRole("heading", { name: "Documentation", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    await untilLoaded(page);
    const files = await scripts();
    const total = files.reduce((sum, bytes) => sum + bytes, 0);
    console.info(`script of /docs: ${total} bytes gzip in ${files.length} files`);
    expect(files.length).toBeGreaterThan(0);
    expect(total).toBeLessThan(MAX_SCRIPT_BYTES);

    await page.getByRole("link", { name: "Start with the quickstart" }).click();
    await page.getByRole("heading", { name: "Quickstart", level: 1 }).waitFor();
    // Highlighted on the server, in the colors of the policy.
    await page.locator(".code-function", { hasText: "curl" }).first().waitFor();
    if (isPhone(page)) await page.getByRole("button", { name: /^All pages/ }).click();
    const navigation = page.getByRole("navigation", { name: "Documentation" });
    expect(
      await navigation.getByRole("link", { name: "Quickstart" }).getAttribute("aria-current"),
    ).toBe("page");
    await page.getByRole("link", { name: /^Next / }).click();
    await page.getByRole("heading", { name: "agent-platform-client", level: 1 }).waitFor();
  });

  it("has no link that leads nowhere", async () => {
    const seen = new Map<string, Set<string>>();
    const wanted = new Set<string>();
    const open = ["/docs", "/docs/reference"];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue;
      const response = await fetch(`${stack.url}${path}`);
      expect(`${path} ${response.status}`).toBe(`${path} 200`);
      const html = await response.text();
      seen.set(path, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id)));
      for (const [, href = ""] of html.matchAll(/<a [^>]*href="([^"]+)"/g)) {
        const target = new URL(href.replaceAll("&amp;", "&"), `http://here${path}`);
        if (target.host !== "here" || !target.pathname.startsWith("/docs")) continue;
        open.push(target.pathname);
        if (target.hash !== "") wanted.add(target.pathname + decodeURIComponent(target.hash));
      }
    }
    const missing = [...wanted].filter((address) => {
      const [path = "", id = ""] = address.split("#");
      return seen.get(path)?.has(id) !== true;
    });
    expect(missing).toEqual([]);
    const guides = readdirSync(join(import.meta.dirname, "../../docs/guides"));
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(guides.map((file) => `/docs/${file.replace(".md", "")}`)),
    );
  });

  it("finds headings and endpoints", async () => {
    const { page } = await newTab({ width: 390 });
    await page.goto("/docs/errors");
    const search = page.getByRole("searchbox", { name: "Search the documentation" });
    // A page that is not hydrated yet would lose the text.
    await expect
      .poll(async () => {
        await search.fill("");
        await search.fill("rotate key");
        return page.getByRole("list", { name: "Results" }).count();
      })
      .toBe(1);
    await page
      .getByRole("list", { name: "Results" })
      .getByRole("link", { name: /\/api\/keys\/\{id\}\/rotate/ })
      .click();
    await page.waitForURL(/\/docs\/reference\/keys#/);
    await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  });

  it("sends a request that is tried with the bearer of who is signed in", async () => {
    const { page } = await signedIn();
    await page.goto("/docs/reference/keys");
    const article = page.getByRole("article", { name: "Revoke an API key" });
    await article.getByText("Errors", { exact: true }).click();
    await article.getByRole("row", { name: /^404 not_found It does not exist/ }).waitFor();
    await page.getByRole("button", { name: /Send request\s*\(get \/api\/keys\)/ }).click();
    const answered = page.waitForResponse((one) => new URL(one.url()).pathname === "/api/keys");
    await page.getByRole("button", { name: "Send", exact: true }).first().click();
    expect((await answered).status()).toBe(200);
    await page.getByText("200 OK").waitFor();
  });

  it("is entered and left like any page, since its policy is that of the others", async () => {
    const { page } = await signedIn();
    await page.goto("/keys");
    const loaded = page.waitForResponse((one) => new URL(one.url()).pathname === "/docs");
    await showNavigation(page);
    await page.getByRole("button", { name: "Developers" }).click();
    await page.getByRole("link", { name: "Docs", exact: true }).click();
    expect((await loaded).request().resourceType()).toBe("fetch");
    await page.getByRole("heading", { name: "Documentation", level: 1 }).waitFor();
    await showNavigation(page);
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
  });
});
