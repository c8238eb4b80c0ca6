import { expect, it } from "vitest";
import {
  inviteTo,
  joinOrganization,
  makeArtist,
  makeOrganization,
} from "../support/fixtures/people.ts";
import {
  describeInBrowser,
  expectGood,
  hideNavigation,
  showNavigation,
} from "../support/harness/browser.ts";
import { client, createPerson } from "../support/harness/clients.ts";

describeInBrowser("organizations", ({ signedIn }) => {
  it("one is created, people are invited, get roles, and it becomes what new work is for", async () => {
    const { page, email } = await signedIn({ expected: /status of 40[09]/ });
    const friend = await createPerson();
    await page.goto("/settings/organizations");
    await page.getByRole("button", { name: "New organization" }).click();
    await page.getByLabel("Name").fill("Lamp House");
    await page.getByRole("button", { name: "Create organization" }).click();
    await page.getByRole("heading", { name: "Lamp House" }).waitFor();

    await page.getByRole("button", { name: "Send invitation" }).click();
    await page.getByText("Enter an email address.").waitFor();
    for (const address of ["nobody@example.com", friend.email]) {
      await page.getByLabel("Email").fill(address);
      await page.getByRole("button", { name: "Send invitation" }).click();
      await page.getByRole("button", { name: `Revoke ${address}` }).waitFor();
    }
    await page.getByRole("button", { name: "Revoke nobody@example.com" }).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page
      .getByRole("button", { name: "Revoke nobody@example.com" })
      .waitFor({ state: "detached" });

    const { body } = await friend.withKey.get("/api/invitations");
    const [invitation] = (body as { invitations: { id: string }[] }).invitations;
    await friend.withKey.post(`/api/invitations/${invitation?.id}/accept`);
    await page.reload();
    const members = page.getByRole("list", { name: "Members" });
    await members.getByText(friend.email).waitFor();
    await page.getByLabel(`Role of ${email}`).selectOption("member");
    await page.getByText("The last owner stays.").waitFor();
    await page.getByLabel(`Role of ${friend.email}`).selectOption("owner");
    await page.getByRole("button", { name: `Remove ${friend.email}` }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await members.getByText(friend.email).waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Show artists" }).click();
    await page.getByText("Artists of Lamp House.").waitFor();
    await page.getByRole("button", { name: "New artist" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Name", { exact: true }).fill("Sable & Finch");
    await form.getByRole("button", { name: "Add artist" }).click();
    await page.getByRole("main").getByText("Lamp House", { exact: true }).waitFor();
  });

  it("are without findings", async () => {
    const { page, email, bearer } = await signedIn();
    const other = await createPerson();
    const owner = client({ bearer });
    const id = await makeOrganization(owner);
    const hidden = await makeArtist(owner, id, "Sable & Finch");
    const artist = await makeArtist(owner, id);
    await joinOrganization(owner, id, other);
    await inviteTo(owner, id, "manager@example.com");
    await inviteTo(other.withKey, await makeOrganization(other.withKey, "Night Drive"), email);
    await page.goto("/settings/organizations");
    await showNavigation(page);
    await page.getByRole("link", { name: "1 invitation" }).waitFor();
    await hideNavigation(page);
    await page.getByRole("list", { name: "Organizations" }).waitFor();
    await expectGood(page);
    await page.getByRole("link", { name: /Velvet Harbor/ }).click();
    const tabs = page.getByRole("navigation", { name: "Settings" });
    const current = tabs.locator("[aria-current]");
    await expect.poll(() => current.allTextContents()).toEqual(["Organizations"]);
    await page.getByRole("button", { name: "Revoke manager@example.com" }).waitFor();
    await page.getByText(other.email).waitFor();
    await expectGood(page);
    await page.getByRole("button", { name: `Artists of ${other.email}: All artists` }).click();
    await page.getByRole("switch", { name: "All artists" }).uncheck();
    await page.getByRole("switch", { name: "Hana Mizuki Trio" }).check();
    await expectGood(page);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: `Artists of ${other.email}: 1 artist` }).waitFor();
    expect((await other.withKey.get(`/api/artists/${artist}`)).status).toBe(200);
    expect((await other.withKey.get(`/api/artists/${hidden}`)).status).toBe(404);
    await page.goto("/connectors");
    await page.getByRole("article", { name: "YouTube" }).waitFor();
    await expectGood(page);
  });
});
