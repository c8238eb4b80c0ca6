/**
 * Holds every answer that any test gets from the service against what is published of its endpoint,
 * whoever asks: a client of ours, the AI SDK, a generated client. It changes nothing of an answer, and
 * registers the secrets that come and go.
 */
import { inject } from "vitest";
import { registerAnswered, registerSent } from "../secrets/register.ts";
import { faultOf } from "./published.ts";
import { servers } from "./servers.ts";

const published = inject("published");
const faults: string[] = [];

/** The environment that this process started with. */
export const inherited = { ...process.env };

const ask = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const response = await ask(input, init);
  const { origin, pathname: path } = new URL(response.url);
  if (servers.has(origin) && path.startsWith("/api/")) {
    const given = input instanceof Request ? input : init;
    const { status, headers } = response;
    const isJson = headers.get("content-type")?.startsWith("application/json");
    // A connection that is lost in the middle of a body says nothing about what was to be sent.
    const read = () => response.clone().text();
    const text = isJson ? await read().catch(() => null) : undefined;
    const method = response.redirected ? "GET" : (given?.method ?? "GET").toUpperCase();
    if (text) registerAnswered(text);
    if (response.ok) registerSent(new Headers(given?.headers));
    const fault = text !== null && faultOf({ method, path, status, headers, text }, published);
    if (fault) faults.push(fault);
  }
  return response;
};

/** Returns the faults since the last call. */
export const takeFaults = (): string[] => faults.splice(0);
