/**
 * Who is signed in, in this browser: Supabase Auth through the same origin (`/auth/v1`). The session
 * is in localStorage, where its library keeps it, and all tabs follow each other. The library itself
 * is loaded when someone signs in or out and when a bearer must be renewed, not with every page.
 */
import type { GoTrueClient } from "@supabase/auth-js";
import { useSyncExternalStore } from "react";

export type SessionState =
  | { readonly status: "loading" | "signed-out" }
  | { readonly status: "signed-in"; readonly email: string };

interface Stored {
  readonly access_token: string;
  /** Seconds since 1970. */
  readonly expires_at: number;
  readonly email: string;
}

const STORAGE_KEY = "agent-platform-session";
/** Milliseconds before its end from which on a bearer is renewed, by the library's own measure. */
const MARGIN = 90_000;
/** Tells the server which frame to draw before any script runs; it opens nothing. */
const HINT = "signed-in";
const YEAR = 31_536_000;

const loading: SessionState = { status: "loading" };
let state: SessionState = loading;
let starting: Promise<GoTrueClient> | undefined;
let refreshing: Promise<string | null> | undefined;
const listeners = new Set<() => void>();

/** The library, for what changes a session. */
export function authClient(): Promise<GoTrueClient> {
  starting ??= start().catch((error: unknown) => {
    starting = undefined;
    throw error;
  });
  return starting;
}

async function start(): Promise<GoTrueClient> {
  const { AuthClient } = await import("@supabase/auth-js");
  const client = new AuthClient({
    url: `${location.origin}/auth/v1`,
    storageKey: STORAGE_KEY,
    detectSessionInUrl: false,
  });
  client.onAuthStateChange(() => settle());
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

/** Takes over what is stored now, by whichever tab. */
function settle(): void {
  const stored = readStored();
  const next: SessionState =
    stored === null ? { status: "signed-out" } : { status: "signed-in", email: stored.email };
  const age = stored === null ? 0 : YEAR;
  // biome-ignore lint/suspicious/noDocumentCookie: the other way is missing in Firefox
  document.cookie = `${HINT}=1; path=/; max-age=${age}; samesite=lax`;
  if (JSON.stringify(next) === JSON.stringify(state)) return;
  state = next;
  for (const listener of listeners) listener();
}

/** A bearer that is good for a minute at least, or null when nobody is signed in. */
export async function accessToken(): Promise<string | null> {
  const stored = readStored();
  if (stored === null) return null;
  if (stored.expires_at * 1000 - Date.now() > MARGIN) return stored.access_token;
  const { data } = await (await authClient()).getSession();
  return data.session?.access_token ?? null;
}

/**
 * A new bearer after the API refused the old one; null, and signed out, when there is none to get.
 * Requests that were refused together share one refresh.
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
  // A network that fails is no reason to sign anyone out.
  if (error?.name !== "AuthRetryableFetchError") await signOut();
  return null;
}

/** In this browser, in all its tabs, whether or not the server hears of it. Other devices stay signed in. */
export async function signOut(): Promise<void> {
  try {
    await (await authClient()).signOut({ scope: "local" });
  } catch {
    // Without the library the session is left to end by itself at the server.
  }
  localStorage.removeItem(STORAGE_KEY);
  settle();
}

function followOtherTabs(event: StorageEvent): void {
  if (event.key === STORAGE_KEY || event.key === null) settle();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener("storage", followOtherTabs);
  listeners.add(listener);
  settle();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("storage", followOtherTabs);
  };
}

export function useSession(): SessionState {
  return useSyncExternalStore(
    subscribe,
    () => state,
    () => loading,
  );
}
