/**
 * The browser's session with Supabase Auth, which is served from the same origin (`/auth/v1`). The
 * library keeps the session in local storage, which all tabs share. It is loaded only to sign in,
 * to sign out and to renew a token.
 */
import type { GoTrueClient } from "@supabase/auth-js";
import { useSyncExternalStore } from "react";
import { loadModule } from "../_load/load-module.ts";

export type SessionState =
  | { readonly status: "loading" | "signed-out" }
  | { readonly status: "signed-in"; readonly email: string };

interface Stored {
  readonly access_token: string;
  /** Unix time in seconds. */
  readonly expires_at: number;
  readonly email: string;
}

const STORAGE_KEY = "agent-platform-session";
/** Set for a moment to the address of an account that has signed out. */
const SIGNED_OUT_KEY = "agent-platform-signed-out";
/** How long before its expiry a token is renewed; the value of the library itself. */
const RENEWAL_MARGIN_MS = 90_000;
/** This cookie selects the layout that the server renders. It grants nothing. */
const SIGNED_IN_COOKIE = "signed-in";
const YEAR_SECONDS = 31_536_000;

const loading: SessionState = { status: "loading" };
let state: SessionState = loading;
let starting: Promise<GoTrueClient> | undefined;
let refreshing: Promise<string | null> | undefined;
const listeners = new Set<() => void>();

/** Loads the library, which changes the session. */
export function authClient(): Promise<GoTrueClient> {
  starting ??= start().catch((error: unknown) => {
    starting = undefined;
    throw error;
  });
  return starting;
}

async function start(): Promise<GoTrueClient> {
  const { AuthClient } = await loadModule(() => import("@supabase/auth-js"));
  const client = new AuthClient({
    url: `${location.origin}/auth/v1`,
    storageKey: STORAGE_KEY,
    detectSessionInUrl: false,
  });
  client.onAuthStateChange(() => readSession());
  return client;
}

function readStored(): Stored | null {
  try {
    const value = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "null");
    const { access_token, expires_at, user } = value ?? {};
    if (typeof access_token !== "string" || typeof expires_at !== "number") return null;
    return { access_token, expires_at, email: String(user?.email ?? "") };
  } catch {
    return null;
  }
}

/** Reads the stored session, which any tab may have changed. */
function readSession(): void {
  const stored = readStored();
  const next: SessionState =
    stored === null ? { status: "signed-out" } : { status: "signed-in", email: stored.email };
  const age = stored === null ? 0 : YEAR_SECONDS;
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox has no Cookie Store API
  document.cookie = `${SIGNED_IN_COOKIE}=1; path=/; max-age=${age}; samesite=lax`;
  if (JSON.stringify(next) === JSON.stringify(state)) return;
  state = next;
  for (const listener of listeners) listener();
}

/** Returns the email address of the signed-in account, or null when signed out. */
export const sessionEmail = (): string | null => readStored()?.email ?? null;

/** Returns a token that is valid for at least a minute, or null when signed out. */
export async function accessToken(): Promise<string | null> {
  const stored = readStored();
  if (stored === null) return null;
  if (stored.expires_at * 1000 - Date.now() > RENEWAL_MARGIN_MS) return stored.access_token;
  const { data } = await (await authClient()).getSession();
  return data.session?.access_token ?? null;
}

/**
 * Returns a new token after the API refused the old one, or signs out and returns null. Concurrent
 * calls share one renewal.
 */
export function renewToken(): Promise<string | null> {
  refreshing ??= renew().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

async function renew(): Promise<string | null> {
  const client = await authClient();
  const { data, error } = await client.refreshSession();
  if (data.session) return data.session.access_token;
  // A network failure must not sign anyone out.
  if (error?.name !== "AuthRetryableFetchError") await endSession();
  return null;
}

/**
 * Signs out in all tabs of this browser, even if the server cannot be reached, and removes the data
 * they stored for the account. Other devices stay signed in.
 */
export async function signOut(): Promise<void> {
  const email = sessionEmail();
  await endSession();
  if (email === null) return;
  forgetAccount(email);
  // Session storage belongs to one tab; local storage reaches the others.
  localStorage.setItem(SIGNED_OUT_KEY, email);
  localStorage.removeItem(SIGNED_OUT_KEY);
}

/** All keys of an account have its address as a word. */
function forgetAccount(email: string): void {
  for (const storage of [localStorage, sessionStorage]) {
    for (const key of Object.keys(storage)) {
      if (key.split(" ").includes(email)) storage.removeItem(key);
    }
  }
}

/** Keeps the data stored for the account, because the user did not choose to sign out. */
async function endSession(): Promise<void> {
  try {
    await (await authClient()).signOut({ scope: "local" });
  } catch {
    // If the library cannot be loaded, the session expires on the server.
  }
  localStorage.removeItem(STORAGE_KEY);
  readSession();
}

function followOtherTabs(event: StorageEvent): void {
  if (event.key === STORAGE_KEY || event.key === null) readSession();
  if (event.key === SIGNED_OUT_KEY && event.newValue) forgetAccount(event.newValue);
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener("storage", followOtherTabs);
  listeners.add(listener);
  readSession();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("storage", followOtherTabs);
  };
}

export const useSession = (): SessionState =>
  useSyncExternalStore(
    subscribe,
    () => state,
    () => loading,
  );
