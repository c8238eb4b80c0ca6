import { expect, it } from "vitest";
import { inviteTo, makeArtist, makeOrganization } from "../support/fixtures/people.ts";
import { describeInBrowser, expectGood, showNavigation } from "../support/harness/browser.ts";
import { createPerson } from "../support/harness/clients.ts";

describeInBrowser("the invitations", ({ signedIn }) => {
  it("are declined and accepted at the page that the mail links to", async () => {
    const { page, email } = await signedIn();
    const { withKey } = await createPerson();
    const joined = await makeOrganization(withKey, "Velvet Harbor");
    const other = await makeOrganization(withKey, "Night Drive");
    await makeArtist(withKey, joined);
    await inviteTo(withKey, joined, email);
    await inviteTo(withKey, other, email);
    await page.goto("/artists");
    await showNavigation(page);
    await page.getByRole("link", { name: "2 invitations" }).click();
    await page.getByRole("button", { name: "Decline Night Drive" }).waitFor();
    await expectGood(page);
    await page.getByRole("button", { name: "Decline Night Drive" }).click();
    await page.getByText("Invitation declined").waitFor();
    await page.getByRole("button", { name: "Accept Velvet Harbor" }).click();
    await page.getByRole("heading", { name: "You joined Velvet Harbor" }).waitFor();
    await page.getByText("Hana Mizuki Trio").waitFor();
    expect(await page.getByRole("heading", { name: "No invitations" }).count()).toBe(0);
    await page.getByRole("link", { name: /invitation/ }).waitFor({ state: "detached" });
    await expectGood(page);
    const { text } = await withKey.get(`/api/organizations/${joined}/members`);
    expect(text).toContain(email);
    await page.getByRole("button", { name: "Switch organization" }).click();
    await page.getByRole("heading", { name: "Artists", level: 1 }).waitFor();
    await showNavigation(page);
    await page.getByRole("button", { name: "Working for: All artists Velvet Harbor" }).waitFor();
  });
});
