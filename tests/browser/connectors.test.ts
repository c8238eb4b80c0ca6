import { expect, it } from "vitest";
import { describeInBrowser, signIn } from "../support/harness/browser.ts";

describeInBrowser("the connectors", ({ newTab }) => {
  it("a service is chosen, agreed to at its page, and linked back here", async () => {
    const tab = await newTab();
    const { page } = tab;
    const { email } = await signIn(tab);
    await page.goto("/connectors");
    await page.getByRole("button", { name: "gmail" }).click();
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("heading", { name: "Connect Gmail?" }).waitFor();
    await page.getByText(email).waitFor();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("Connected to gmail").waitFor();
    await page.getByRole("row", { name: /gmail Connected/ }).waitFor();
    expect(new URL(page.url()).search).toBe("");
  });

  it("one that is refused at the service is not linked, and says so", async () => {
    const tab = await newTab();
    const { page } = tab;
    await signIn(tab);
    await page.goto("/connectors");
    await page.getByLabel("Service").fill("slack");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByText("Could not connect to slack").waitFor();
    await page.getByRole("row", { name: /slack Not connected/ }).waitFor();
  });

  it("what the provider does not know, or no name at all, is told in the form", async () => {
    const tab = await newTab({ expected: /status of 40[04]/ });
    const { page } = tab;
    await signIn(tab);
    await page.goto("/connectors");
    await page.getByLabel("Service").fill("nothing-of-that-name");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("This service is not available").waitFor();
    await page.getByLabel("Service").fill(`"><img src=x onerror=alert(1)>`);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Enter the short name of a service").waitFor();
  });

  it("an outcome in the address is shown as text", async () => {
    const tab = await newTab();
    await signIn(tab);
    const hostile = "<img src=x onerror=alert(1)>";
    await tab.page.goto(`/connectors?status=success&connector=${encodeURIComponent(hostile)}`);
    await tab.page.getByText(`Connected to ${hostile}`).waitFor();
  });
});
