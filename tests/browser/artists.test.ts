import { expect, it } from "vitest";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import { storeMedia } from "../support/fixtures/media.ts";
import { makeArtist } from "../support/fixtures/people.ts";
import { insertRun, plainRun } from "../support/fixtures/task-runs.ts";
import {
  describeInBrowser,
  expectGood,
  hideNavigation,
  showNavigation,
} from "../support/harness/browser.ts";
import { client } from "../support/harness/clients.ts";
import { sql } from "../support/harness/stack.ts";

describeInBrowser("artists and the catalog", ({ signedIn }) => {
  it("an artist is added, linked to the catalog, worked for, changed and deleted", async () => {
    const { tab, page, ...account } = await signedIn({ expected: /status of 40[04]/ });
    await page.goto("/artists");
    await page.getByRole("button", { name: "New artist" }).click();
    const form = page.getByRole("dialog", { name: "New artist" });
    await form.getByLabel("Picture (optional)", { exact: true }).fill("http://example.com/a.png");
    await form.getByRole("button", { name: "Add artist" }).click();
    await form.getByText("Enter a name of 1 to 100 characters.").waitFor();
    await form.getByLabel("Picture (optional)", { exact: true }).fill("");
    await form.getByLabel("Name", { exact: true }).fill("Velvet Harbor");
    await form.getByLabel("Label").fill("Lamp House Records");
    await form.getByRole("button", { name: "Find by name" }).click();
    await form.getByRole("button", { name: "Link to Velvet Harbor" }).click();
    await form.getByText("Linked to the catalog").waitFor();
    await form.getByRole("button", { name: "Add artist" }).click();

    await page.getByRole("heading", { name: "Velvet Harbor", level: 1 }).waitFor();
    await page.getByRole("link", { name: /^Salt in the Signal 2022/ }).waitFor();
    await page.getByRole("list", { name: "Popular tracks" }).waitFor();

    // New work is for the artist from now on, even after a reload.
    await page.getByRole("button", { name: "New chat about Velvet Harbor" }).click();
    await page.waitForURL("**/chat");
    await page.reload();
    await showNavigation(page);
    await page.getByRole("button", { name: /Working for: Velvet Harbor/ }).waitFor();
    await hideNavigation(page);
    await page.getByRole("textbox", { name: "Message" }).fill("count to 3");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\/.+\/.+/);
    await page.getByText("1 2 3").first().waitFor();
    await showNavigation(page);
    await page.getByRole("link", { name: "Artists", exact: true }).click();
    await page.getByRole("link", { name: /Velvet Harbor/ }).click();
    await page.getByRole("tab", { name: "Chats" }).click();
    await page.getByRole("list", { name: "Chats" }).getByText("count to 3").waitFor();
    await page.getByRole("tab", { name: "Runs" }).click();
    await page.getByRole("list", { name: "Runs" }).getByText("Completed").waitFor();
    const image = await storeMedia(account.id, await makeImage(), "image/png");
    const generation = plainRun(account.id, {
      ...{ taskIdentifier: "generate-image", status: "COMPLETED" },
      ...{ payload: { prompt: "Cover art" }, output: { imageUrl: image, images: [image] } },
    });
    await insertRun(account.id, generation);
    const artist = new URL(page.url()).pathname.slice("/artists/".length);
    await sql`update task_runs set artist_id = ${artist} where id = ${generation.id}`;
    await page.getByRole("tab", { name: "Media" }).click();
    const media = page.getByRole("list", { name: "Media" });
    await expect.poll(() => media.locator("img").count()).toBe(1);
    await media.getByRole("link").click();
    await page.getByRole("region", { name: "Result" }).getByRole("img").waitFor();
    // The pages are limited to the artist until the chip is removed.
    await page.getByRole("main").getByText("For Velvet Harbor").waitFor();
    await page.goto("/chat");
    await page.getByRole("heading", { name: "What would you like to do for Velvet" }).waitFor();
    await showNavigation(page);
    await page.getByRole("link", { name: "count to 3" }).waitFor();
    await page.getByRole("button", { name: "Work for all artists" }).click();
    await page.getByRole("button", { name: /Working for: All artists/ }).waitFor();
    await hideNavigation(page);
    await page.getByRole("heading", { name: "What would you like to work on?" }).waitFor();
    await page.goto(`/artists/${artist}`);
    await page.getByRole("button", { name: "New chat about Velvet Harbor" }).click();
    await showNavigation(page);
    await page.getByRole("link", { name: "Artists", exact: true }).click();
    await page.getByRole("link", { name: /Velvet Harbor/ }).click();

    await page.getByRole("button", { name: "Edit" }).click();
    const change = page.getByRole("dialog", { name: "Edit Velvet Harbor" });
    await change.getByLabel("Name", { exact: true }).fill("Velvet Harbour");
    // A picture on another host comes through the service.
    const proxied: string[] = [];
    await page.route("**/api/media/proxy?*", async (route) => {
      proxied.push(new URL(route.request().url()).search);
      await route.fulfill({ contentType: "image/webp", body: await makeImage("webp") });
    });
    await change
      .getByLabel("Picture (optional)", { exact: true })
      .fill("https://covers.example/velvet.png");
    await change.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Velvet Harbour", level: 1 }).waitFor();
    await showNavigation(page);
    await page.getByRole("button", { name: /Working for: Velvet Harbour/ }).waitFor();
    await hideNavigation(page);
    await page.locator('header img[src^="blob:"]').waitFor();
    expect(proxied).toEqual(["?url=https%3A%2F%2Fcovers.example%2Fvelvet.png&width=320"]);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete permanently" }).click();
    await page.getByRole("heading", { name: "No artists yet" }).waitFor();
    await showNavigation(page);
    await page.getByRole("button", { name: /Working for: All artists/ }).waitFor();
  });

  it("the catalog is searched, and leads from a track to its album, artist and a new artist", async () => {
    const { page } = await signedIn();
    await page.goto("/catalog");
    await page.getByRole("heading", { name: "Recent releases" }).waitFor();
    await page.getByLabel("Search the catalog").fill("glass orchard");
    await page.getByRole("list", { name: "Tracks" }).waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("glass orchard");
    await page.getByRole("radio", { name: "Albums" }).check();
    await page.getByText(/^\d+ results$/).waitFor();
    await page.getByRole("link", { name: /^Cider Weather/ }).click();
    await page.getByRole("heading", { name: "Cider Weather", level: 1 }).waitFor();
    expect(await page.getByRole("list", { name: "Tracks of Cider Weather" }).count()).toBe(1);
    await page.getByRole("main").getByRole("link", { name: "Glass Orchard" }).click();
    await page.getByRole("heading", { name: "Glass Orchard", level: 1 }).waitFor();
    await page.getByText(/followers$/).waitFor();
    await page.getByRole("button", { name: "Add to my artists" }).click();
    const form = page.getByRole("dialog", { name: "New artist" });
    expect(await form.getByLabel("Name", { exact: true }).inputValue()).toBe("Glass Orchard");
    await form.getByRole("button", { name: "Add artist" }).click();
    await page.waitForURL("**/artists/*");
    await page.goto("/catalog?q=nothing+of+that+name");
    await page.getByRole("heading", { name: "Nothing found" }).waitFor();
  });

  it("are without findings", async () => {
    const { page, bearer } = await signedIn();
    const id = await makeArtist(client({ bearer }));
    await page.goto("/artists");
    await page
      .getByRole("main")
      .getByRole("link", { name: /Hana Mizuki Trio/ })
      .waitFor();
    await expectGood(page);
    await page.goto(`/artists/${id}`);
    await page.getByRole("button", { name: "Link artist" }).waitFor();
    await page
      .getByRole("link", { name: /^Rain Garden/ })
      .first()
      .waitFor();
    await expectGood(page);
    await page.goto("/catalog?q=hana");
    await page.getByRole("list", { name: "Tracks" }).waitFor();
    await expectGood(page);
    for (const width of [1280, 360] as const) {
      await page.setViewportSize({ width, height: 800 });
      if (width === 360) await page.getByRole("button", { name: "Open navigation" }).click();
      await page.getByRole("button", { name: /Working for/ }).click();
      await page.getByRole("menuitem", { name: "Hana Mizuki Trio" }).waitFor();
      await expectGood(page, [width]);
      await page.keyboard.press("Escape");
    }
  });
});
