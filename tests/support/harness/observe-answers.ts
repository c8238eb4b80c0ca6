/**
 * Compares every answer that any test gets from the service with the published contract of its
 * endpoint, for every client: the tests', the AI SDK, a generated one. It changes nothing of an
 * answer, and registers the secrets in both directions.
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
    // A connection lost in the middle of a body does not reveal the rest of it.
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
