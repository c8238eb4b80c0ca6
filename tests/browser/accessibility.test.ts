/** Accessibility of the pages of the shell and of the documentation, in all appearances. */
import { it } from "vitest";
import { describeInBrowser, expectGood } from "../support/harness/browser.ts";
import { createKey } from "../support/harness/clients.ts";

describeInBrowser("axe has no finding", ({ newTab, signedIn }) => {
  it("on pages without sign-in, and in the documentation", async () => {
    const { page } = await newTab({ expected: /status of 404/ });
    await page.goto("/");
    await page.getByRole("button", { name: "Send code" }).waitFor();
    await expectGood(page);
    for (const [path, title] of [
      ["/not/there", "Page not found"],
      ["/docs", "Documentation"],
      ["/docs/streaming", "Streaming and resuming"],
      ["/docs/reference", "API reference"],
      ["/docs/reference/keys", "Keys"],
    ] as const) {
      await page.goto(path);
      await page.getByRole("heading", { name: title, level: 1 }).waitFor();
      await expectGood(page);
    }
  });

  it("on pages of a signed-in account", async () => {
    const { page, id } = await signedIn();
    await page.goto("/keys");
    await page.getByRole("heading", { name: "No keys yet" }).waitFor();
    await expectGood(page);
    await createKey(id);
    await page.reload();
    await page.getByRole("button", { name: "Rotate test" }).click();
    await page.getByRole("dialog").waitFor();
    await expectGood(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByRole("button", { name: "Open navigation" }).click();
    await page.getByRole("dialog").waitFor();
    await expectGood(page, [360]);
  });
});
