/** The `useChat` of another site, with tools that run in its page and with approvals: the code of the guides, as it is. */
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createViteServer } from "vitest/node";
import { projectRoot } from "../../scripts/project-root.ts";
import { describeInBrowser } from "../support/harness/browser.ts";
import { provideChatServer } from "../support/harness/chat-browser.ts";
import { createPerson } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { readGuideCode } from "../support/harness/guide-code.ts";
import { startRun, waitForRun } from "../support/harness/runs.ts";

const place = provideChatServer();

const HTML = `<!doctype html>
<link rel="icon" href="data:," />
<main></main>
<script type="module" src="/main.tsx"></script>`;

const MAIN = `
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";

const address = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
createRoot(document.querySelector("main")).render(<Chat {...address} />);
`;

/** Serves a guide's page on a separate origin. */
async function serveGuide(guide: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "use-chat-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await symlink(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "index.html"), HTML);
  await writeFile(join(folder, "main.tsx"), MAIN);
  await writeFile(join(folder, "chat.tsx"), await readGuideCode(guide, "tsx"));
  const site = await createViteServer({
    configFile: false,
    root: folder,
    cacheDir: join(folder, "cache"),
    logLevel: "error",
    oxc: { jsx: { runtime: "automatic" } },
    optimizeDeps: {
      include: ["@ai-sdk/react", "ai", "react", "react-dom/client", "react/jsx-dev-runtime"],
    },
    server: { host: "127.0.0.1", port: 0, watch: null, fs: { strict: false } },
  });
  onTestFinished(() => site.close());
  await site.listen();
  const [url] = site.resolvedUrls?.local ?? [];
  return new URL(url ?? "").origin;
}

describeInBrowser("useChat on another origin", ({ newTab }) => {
  it("runs a client tool in its page, once for each call", async () => {
    place.model.script("zone", function* ({ step, toolResults }) {
      if (step === 0) yield { tool: "time_zone", input: {} };
      else yield { text: `Your zone is ${toolResults.join()}.` };
    });
    const [origin, { key }] = await Promise.all([
      serveGuide("client-tools.md"),
      createPerson(place.server.url),
    ]);
    const { page } = await newTab({
      url: origin,
      allow: (url) => url.startsWith(place.server.url),
    });
    await page.addInitScript(() => {
      Intl.DateTimeFormat.prototype.resolvedOptions = () => {
        document.documentElement.append(document.createElement("tool-ran"));
        return { timeZone: "Atlantic/Faroe" } as Intl.ResolvedDateTimeFormatOptions;
      };
    });
    const address = new URLSearchParams({ api: place.server.url, token: key });

    await page.goto(`/#${address}`);
    const answer = "Your zone is Atlantic/Faroe.";
    for (const answers of [[answer], [answer, answer]]) {
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("Where am I? [script:zone]");
      await box.press("Enter");
      const shown = () => page.locator("[data-role=assistant]").allTextContents();
      await expect.poll(shown).toEqual(answers);
      expect(await page.locator("tool-ran").count()).toBe(answers.length);
    }
    const [, , ...second] = place.model.callsOf("zone");
    expect(second.map(({ step }) => step)).toEqual([0, 1]);
    expect(JSON.stringify(second[1]?.messages).split(answer)).toHaveLength(2);
  });

  it("answers what an agent asks: at once, after a reload, and for a run that has no page", async () => {
    place.model.script("sdk-asks", function* ({ step, toolResults }) {
      if (step === 0) yield { tool: "bash", id: "ask", input: { command: "echo has run" } };
      else yield { text: `Told ${toolResults.join()}` };
    });
    const [origin, { key, withKey }] = await Promise.all([
      serveGuide("approvals.md"),
      createPerson(place.server.url),
    ]);
    const approvals = { bash: "ask" };
    const { sessionId, chatId } = await openConversation(withKey);
    await withKey.patch(`/api/sessions/${sessionId}/chats/${chatId}`, { approvals });
    const { page } = await newTab({
      url: origin,
      allow: (url) => url.startsWith(place.server.url),
    });
    const open = (id: string) =>
      page.goto(`/#${new URLSearchParams({ api: place.server.url, token: key, id })}`);
    const button = (name: string) => page.getByRole("button", { name });
    const lastAnswer = () => page.locator("[data-role=assistant]").last().textContent();
    const send = async () => {
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("[script:sdk-asks]");
      await box.press("Enter");
      await button("Approve").waitFor();
      expect(await lastAnswer()).toContain('bash: {"command":"echo has run"}');
    };

    await open(chatId);
    await send();
    await button("Deny").click();
    await expect.poll(lastAnswer).toContain("The user has denied this");
    await send();
    await page.reload();
    await button("Approve").click();
    await expect.poll(lastAnswer).toMatch(/^Told .*has run/s);

    const run = await startRun(withKey, { prompt: "[script:sdk-asks]", approvals });
    await expect
      .poll(() => withKey.get(`/api/chat/runs/${run.runId}`))
      .toMatchObject({
        body: { status: "requires_action" },
      });
    await open(run.chatId);
    await page.reload();
    await button("Approve").click();
    await expect.poll(lastAnswer).toMatch(/^Told .*has run/s);
    expect(await waitForRun(withKey, run)).toMatchObject({ status: "completed" });
    expect(place.model.callsOf("sdk-asks").map(({ step }) => step)).toEqual([0, 1, 0, 1, 0, 1]);
  });
});
