import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeMcp, startFakeMcp, toolNamed } from "../support/fakes/mcp.ts";
import { describeInBrowser, expectGood } from "../support/harness/browser.ts";
import { sql } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

describeInBrowser("the MCP servers", ({ signedIn }) => {
  let fake: FakeMcp;
  beforeAll(async () => {
    fake = await startFakeMcp();
    fake.state.tools = [toolNamed("get_track", "New words")];
  });
  afterAll(() => fake.close());

  it("one is added, connected at its page, and a change of its tools confirmed", async () => {
    const { page } = await signedIn({ allow: (url) => url.startsWith(`${fake.origin}/as/`) });
    await page.goto("/settings/mcp-servers");
    await page.getByText("No servers yet.").waitFor();
    await page.getByRole("button", { name: "Add server" }).click();
    const form = page.getByRole("dialog", { name: "Add MCP server" });
    await form.getByLabel("Service").selectOption("Soundcharts");
    const url = form.getByLabel("URL");
    expect(await url.inputValue()).toBe("https://mcp.soundcharts.com/mcp");
    await form.getByLabel("Value").waitFor();
    await expectGood(page);
    for (const [service, address] of [
      ["Chartmetric", "https://mcp.chartmetric.com/v1/mcp"],
      ["Songstats", "https://api.songstats.com/mcp"],
    ] as const) {
      await form.getByLabel("Service").selectOption(service);
      expect(await url.inputValue()).toBe(address);
      expect(await form.getByLabel("Authentication").inputValue()).toBe("oauth");
    }
    await form.getByLabel("Service").selectOption("Another service");
    await form.getByLabel("Name").fill("charts");
    await url.fill(`${fake.origin}/oauth/mcp`);
    await form.getByRole("button", { name: "Add server" }).click();
    const item = page.getByRole("listitem", { name: "charts" });
    await item.getByText("Not connected").waitFor();
    await item.getByRole("button", { name: "Connect", exact: true }).click();
    await page.getByText("Connected", { exact: true }).waitFor();
    for (const token of [...fake.state.oauth.accessTokens, ...fake.state.oauth.refreshTokens]) {
      registerSecret(token, "token of an MCP server");
    }
    await item.getByRole("button", { name: "Tools (1)" }).waitFor();
    expect(new URL(page.url()).search).toBe("");

    const before = { title: null, description: "Old words", input_schema: {}, read_only: true };
    await sql`update mcp_tools t set confirmed = ${JSON.stringify(before)}, confirmed_sha256 = 'old'
      from mcp_servers s where s.id = t.server_id and s.url = ${`${fake.origin}/oauth/mcp`}`;
    await page.reload();
    await item.getByText("1 changed").waitFor();
    await item.getByRole("button", { name: "Tools (1)" }).click();
    const tools = page.getByRole("dialog", { name: "Tools of charts" });
    await tools.getByText("Old words").waitFor();
    await expectGood(page);
    await tools.getByRole("button", { name: "Confirm change" }).click();
    await tools.getByText("Old words").waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await item.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No servers yet.").waitFor();
  });
});
