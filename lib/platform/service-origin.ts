import { config } from "./config.ts";

/** The origin under which this service is called, without a trailing slash. */
export function serviceOrigin(): string {
  const { PUBLIC_URL, PORT } = config();
  return new URL(PUBLIC_URL ?? `http://localhost:${PORT}`).origin;
}
