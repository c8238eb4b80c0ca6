/** `npm run screenshot`: draws `docs/console.webp` for the README from a production server with the example data. */
import { join } from "node:path";
import { createClient } from "@supabase/supabase-js";
import { chromium } from "playwright-core";
import sharp from "sharp";
import { DEVELOPER_EMAIL } from "../lib/identity/credentials/developer-account.ts";
import { findChromium } from "./find-chromium.ts";
import { projectRoot } from "./project-root.ts";
import { withDatabase } from "./run-bench.ts";
import { runNext } from "./run-next.ts";

const PROMPT =
  'Search for "Salt & Ember" in workspace/statements, then write `Ask DistroKid about the iTunes refund` to notes.md';

export function takeScreenshot(distDir: string): Promise<number> {
  return withDatabase(distDir, async (env, key) => {
    const port = Number(new URL(env.PUBLIC_URL ?? "").port);
    const server = await runNext({ mode: "start", port, distDir, env, output: "collect" });
    try {
      const headers = { "x-api-key": key };
      await fetch(`${server.url}/api/artists/example`, { method: "POST", headers });
      const picture = await drawChat(server.url, await sessionOf(DEVELOPER_EMAIL, env));
      await sharp(picture).webp({ quality: 82 }).toFile(join(projectRoot, "docs/console.webp"));
      return 0;
    } finally {
      await server.stop();
    }
  });
}

/** Returns a session of the embedded auth server, without a mail. */
async function sessionOf(email: string, env: Readonly<Record<string, string>>): Promise<object> {
  const admin = createClient(env.SUPABASE_URL ?? "", env.SUPABASE_SECRET_KEY ?? "").auth;
  const { data, error } = await admin.admin.generateLink({ type: "magiclink", email });
  if (error) throw error;
  const token = data.properties.email_otp;
  const { auth } = createClient(env.SUPABASE_URL ?? "", env.SUPABASE_PUBLISHABLE_KEY ?? "");
  const { data: signedIn } = await auth.verifyOtp({ type: "email", email, token });
  if (!signedIn.session) throw new Error(`${email} cannot sign in`);
  return signedIn.session;
}

/** Asks for a check of the example's statement, and returns a PNG of the answer. */
async function drawChat(url: string, session: object): Promise<Buffer> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("No Chromium was found: set CHROMIUM_PATH");
  const browser = await chromium.launch({ executablePath });
  try {
    const context = await browser.newContext({
      baseURL: url,
      colorScheme: "light",
      reducedMotion: "reduce",
      viewport: { width: 1280, height: 940 },
    });
    await context.addInitScript(
      (value) => localStorage.setItem("agent-platform-session", value),
      JSON.stringify(session),
    );
    const page = await context.newPage();
    await page.goto("/artists");
    await page.getByRole("link", { name: "Marlow Example" }).first().click();
    await page.getByRole("button", { name: "New chat about Marlow Example" }).click();
    await page.waitForURL("**/chat");
    await page.getByRole("textbox", { name: "Message" }).fill(PROMPT);
    await page.keyboard.press("Enter");
    await page.getByText(/^embedded\/rules · /).waitFor({ timeout: 60_000 });
    for (const name of [/^Searched /, /^Wrote /]) await page.getByRole("button", { name }).click();
    await page.waitForLoadState("networkidle");
    return await page.screenshot();
  } finally {
    await browser.close();
  }
}
