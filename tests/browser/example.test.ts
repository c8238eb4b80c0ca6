import { expect, it } from "vitest";
import { createTask, readTask } from "../support/fixtures/tasks.ts";
import { describeInBrowser, expectGood } from "../support/harness/browser.ts";
import { client } from "../support/harness/clients.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";

describeInBrowser("the example", ({ signedIn }) => {
  it("is loaded and its statement checked, and answers have sources and recipients", async () => {
    const { page, email, bearer } = await signedIn({ expected: /status of 400/ });
    const api = client({ bearer });
    await page.goto("/artists");
    await page.getByRole("button", { name: "Load an example" }).click();
    await page.getByRole("heading", { name: "Marlow Example", level: 1 }).waitFor();
    await page.getByRole("button", { name: "New chat about Marlow Example" }).click();
    await page.waitForURL("**/chat");
    await page.getByRole("textbox", { name: "Message" }).fill("Check this royalty statement");
    await page.keyboard.press("Enter");
    await page.getByText("965.50").last().waitFor();

    const run = await startRun(api, {
      prompt: "search the web for ISRC",
      web_search: true,
      deliver: [{ kind: "email", to: [email] }],
    });
    await waitForRun(api, run);
    await page.goto(`/chat/${run.sessionId}/${run.chatId}`);
    await page.getByRole("button", { name: /^Searched the web for ISRC \d+ results?$/ }).waitFor();
    await page.getByText(/^Sources \(\d+\)$/).click();
    const sources = page.getByRole("list", { name: "Sources" }).getByRole("link");
    expect(await sources.first().getAttribute("href")).toMatch(/^https:/);
    await expectGood(page);
    await page.goto(`/runs/${run.runId}`);
    const delivery = page.getByRole("region", { name: "Delivery" });
    await delivery.getByText(`${email}: sent`).waitFor();
    await expectGood(page);

    const { id } = await createTask(api, {
      deliver: [{ kind: "email", to: [email], attach: ["*"] }],
    });
    await page.goto(`/schedules/${id}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit schedule" });
    const recipients = dialog.getByLabel("Email results to");
    await recipients.fill("manager@example.com");
    await recipients.press("Enter");
    await dialog.getByText("manager@example.com needs to confirm first").waitFor();
    await dialog.getByRole("button", { name: "Ask to confirm" }).click();
    await dialog.getByText("manager@example.com has not confirmed yet.").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("outside your organizations must confirm first").waitFor();
    await expectGood(page);
    await dialog.getByRole("button", { name: "Remove manager@example.com" }).click();
    await dialog.getByRole("button", { name: `Remove ${email}` }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await readTask(api, id)).not.toHaveProperty("deliver");
  });
});
