import { expect, it } from "vitest";
import { makeArtist } from "../support/fixtures/people.ts";
import {
  describeInBrowser,
  expectGood,
  hideNavigation,
  showNavigation,
} from "../support/harness/browser.ts";
import { client } from "../support/harness/clients.ts";
import { statesOf } from "../support/harness/connections.ts";
import { sql } from "../support/harness/stack.ts";

describeInBrowser("the connectors", ({ signedIn }) => {
  it("a service is chosen, agreed to at its page, linked back here, and disconnected", async () => {
    const { page, email, bearer } = await signedIn();
    await page.goto("/connectors");
    // Each card has a logo or a drawing, which no other host serves.
    await page.getByRole("article", { name: "YouTube" }).locator('svg[fill="#FF0000"]').waitFor();
    const pictures = page.getByRole("article").locator("span > svg");
    expect(await pictures.count()).toBe(await page.getByRole("article").count());
    await page.getByRole("button", { name: "Connect Gmail", exact: true }).click();
    await page.getByRole("heading", { name: "Connect Gmail?" }).waitFor();
    await page.getByText(email).waitFor();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.getByText("Connected to Gmail").waitFor();
    const card = page.getByRole("article", { name: "Gmail" });
    await card.getByText("Connected", { exact: true }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe("");

    await card.getByRole("button", { name: "Actions of Gmail" }).click();
    await page.getByText("DESCRIBE_CONNECTION").waitFor();
    await page.keyboard.press("Escape");

    // The agent of a chat may use it once it is chosen there.
    await page.goto("/chat");
    await page.getByRole("button", { name: "Connectors: none" }).press("Enter");
    const choice = page.getByRole("menuitemcheckbox", { name: "Gmail" });
    await choice.click();
    await expect.poll(() => choice.getAttribute("aria-checked")).toBe("true");
    await expectGood(page);
    await page.keyboard.press("Escape");
    const chosen = page.getByRole("button", { name: "Connectors: 1" });
    await expect.poll(() => chosen.evaluate(isFocused)).toBe(true);
    await page.getByRole("textbox", { name: "Message" }).fill("count to 3");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\/.+\/.+/);
    await page.getByText("1 2 3").first().waitFor();
    await page.reload();
    await chosen.click();
    await choice.click();
    await page.getByRole("button", { name: "Connectors: none" }).waitFor();
    const stored = async () => {
      const rows = await sql`select connectors from chat_connectors c
        join accounts a on a.id = c.account_id where a.email = ${email}`;
      return rows.map(({ connectors }) => connectors);
    };
    await expect.poll(stored).toEqual([[]]);
    await page.goto("/connectors");
    await card.getByRole("button", { name: "Disconnect Gmail" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Disconnect Gmail?" });
    await expect
      .poll(() => dialog.getByRole("button", { name: "Cancel" }).evaluate(isFocused))
      .toBe(true);
    await dialog.getByRole("button", { name: "Disconnect", exact: true }).click();
    await card.getByRole("button", { name: "Connect Gmail", exact: true }).waitFor();
    expect(await statesOf(client({ bearer }))).toEqual([]);
  });

  it("one that is refused at the service, unknown or badly named is not linked, and says so", async () => {
    const { page } = await signedIn({ expected: /status of 40[04]/ });
    // An outcome in the address is shown as text.
    const hostile = "<img src=x onerror=alert(1)>";
    await page.goto(`/connectors?status=success&connector=${encodeURIComponent(hostile)}`);
    await page.getByText(`Connected to ${hostile}`).waitFor();

    // The form rejects an unknown service and an empty name.
    await page.getByLabel("Service").fill("nothing-of-that-name");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("This service is not available").waitFor();
    await page.getByLabel("Service").fill(`"><img src=x onerror=alert(1)>`);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Enter the short name of a service").waitFor();

    await page.getByLabel("Service").fill("slack");
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByText("Could not connect to Slack").waitFor();
    await page.getByRole("article", { name: "Slack" }).getByText("Not connected").waitFor();
  });

  it("the chosen artist has connections of its own", async () => {
    const { page, bearer } = await signedIn();
    const artist = await makeArtist(client({ bearer }));
    await page.goto("/connectors");
    await showNavigation(page);
    await page.getByRole("button", { name: /Working for/ }).click();
    await page.getByRole("menuitem", { name: "Hana Mizuki Trio" }).click();
    await hideNavigation(page);
    await page.getByRole("button", { name: "Connect YouTube", exact: true }).click();
    await page.getByRole("button", { name: "Allow" }).click();
    const card = page.getByRole("article", { name: "YouTube" });
    await card.getByText("Connected", { exact: true }).waitFor();
    expect(await statesOf(client({ bearer }), artist)).toEqual(["youtube active"]);
    await page.getByLabel("Connections of").selectOption({ label: "My account" });
    await card.getByRole("button", { name: "Connect YouTube", exact: true }).waitFor();
  });
});

const isFocused = (element: Element): boolean => element === document.activeElement;
