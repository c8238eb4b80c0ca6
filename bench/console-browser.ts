/** The console in a browser, signed in as a new person. */
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { findChromium } from "../scripts/find-chromium.ts";
import type { BenchContext } from "./context.ts";

/** A session of the auth server, which a browser that was signed in before keeps. */
export interface AuthSession {
  readonly access_token: string;
  readonly user: { readonly email: string };
}

export interface ContextOptions {
  /** The person's session; without it the page is signed out. */
  readonly session?: AuthSession;
  /** The server that the session belongs to. */
  readonly url?: string;
  /** Default: a phone, 390 by 844 pixels. */
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** Gives `work` a browser. Without a Chromium on this machine it says so and does nothing. */
export async function withBrowser(
  what: string,
  work: (browser: Browser) => Promise<void>,
): Promise<void> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    console.log(`${what}: no Chromium was found (CHROMIUM_PATH)`);
    return;
  }
  const browser = await chromium.launch({ executablePath, args: ["--disable-gpu"] });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
}

/** Signs a new person in by the code that the auth server would mail. */
export async function signIn({ env }: BenchContext, email: string): Promise<AuthSession> {
  const ask = async (path: string, key: string | undefined, body: unknown) => {
    const headers = { apikey: key ?? "", "content-type": "application/json" };
    const asked = { method: "POST", headers, body: JSON.stringify(body) };
    return (await fetch(`${env.SUPABASE_URL}/auth/v1/${path}`, asked)).json();
  };
  const link = { type: "magiclink", email };
  const { email_otp: token } = await ask("admin/generate_link", env.SUPABASE_SECRET_KEY, link);
  return ask("verify", env.SUPABASE_PUBLISHABLE_KEY, { type: "email", email, token });
}

/** A browser without a cache of earlier pages; with a session, as after an earlier visit. */
export async function newContext(
  browser: Browser,
  { session, url, viewport = { width: 390, height: 844 } }: ContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport });
  if (session === undefined || url === undefined) return context;
  await context.addCookies([{ name: "signed-in", value: "1", url }]);
  await context.addInitScript(
    (value) => localStorage.setItem("agent-platform-session", value),
    JSON.stringify(session),
  );
  return context;
}
