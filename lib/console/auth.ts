/**
 * Who is signed in, in this browser. Supabase Auth through the same origin (`/auth/v1`); the session
 * is in localStorage, and all tabs follow each other.
 */
import type { GoTrueClient, Session } from "@supabase/auth-js";
import { useSyncExternalStore } from "react";

export type SessionState =
  | { readonly status: "loading" | "signed-out" }
  | { readonly status: "signed-in"; readonly email: string };

/** Tells the server which frame to draw before any script runs; it opens nothing. */
const HINT = "signed-in";
const YEAR = 31_536_000;
const STORAGE_KEY = "agent-platform-session";

let state: SessionState = { status: "loading" };
let starting: Promise<GoTrueClient> | undefined;
let refreshing: Promise<string | null> | undefined;
const listeners = new Set<() => void>();

/** The library is loaded beside the first paint, not before it. */
export function authClient(): Promise<GoTrueClient> {
  starting ??= start();
  return starting;
}

async function start(): Promise<GoTrueClient> {
  const { AuthClient } = await import("@supabase/auth-js");
  const client = new AuthClient({
    url: `${location.origin}/auth/v1`,
    storageKey: STORAGE_KEY,
    detectSessionInUrl: false,
  });
  client.onAuthStateChange((_event, session) => settle(session));
  return client;
}

function settle(session: Session | null): void {
  const email = session?.user.email;
  const next: SessionState =
    session === null ? { status: "signed-out" } : { status: "signed-in", email: email ?? "" };
  const age = session === null ? 0 : YEAR;
  // biome-ignore lint/suspicious/noDocumentCookie: the other way is missing in Firefox
  document.cookie = `${HINT}=1; path=/; max-age=${age}; samesite=lax`;
  if (JSON.stringify(next) === JSON.stringify(state)) return;
  state = next;
  for (const listener of listeners) listener();
}

/** A bearer that is good for a minute at least, or null when nobody is signed in. */
export async function accessToken(): Promise<string | null> {
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
  const { error } = await (await authClient()).signOut({ scope: "local" });
  if (error === null) return;
  localStorage.removeItem(STORAGE_KEY);
  settle(null);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  void authClient();
  return () => void listeners.delete(listener);
}

const loading: SessionState = { status: "loading" };

export function useSession(): SessionState {
  return useSyncExternalStore(
    subscribe,
    () => state,
    () => loading,
  );
}
