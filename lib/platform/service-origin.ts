import { config } from "./config.ts";

/** Returns the origin at which callers reach this service, without a trailing slash. */
export function serviceOrigin(): string {
  const { PUBLIC_URL, PORT } = config();
  return new URL(PUBLIC_URL ?? `http://localhost:${PORT}`).origin;
}
