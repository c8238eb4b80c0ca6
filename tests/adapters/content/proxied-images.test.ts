/** The number of web images that a process holds at a time. */
import { shrinkImage } from "@platform/media/shrink-image";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createProxyCache, proxyImage } from "../../../lib/content/proxy-image.ts";
import { config } from "../../../lib/platform/config.ts";
import { createQueues } from "../../../lib/platform/queues.ts";
import { type ImageHost, startImageHost } from "../../support/fakes/image-host.ts";
import { makeImage } from "../../support/fixtures/encoded-media.ts";

let host: ImageHost;
beforeAll(async () => {
  host = await startImageHost();
  // No other service is asked.
  const settings = {
    SUPABASE_URL: "http://127.0.0.1:1",
    SUPABASE_SECRET_KEY: "x".repeat(40),
    API_KEY_SECRET: "x".repeat(40),
    DATABASE_URL: "postgres://127.0.0.1:1/none",
    LOOPBACK_URLS: "media,webhooks",
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await host?.close();
});

const idle = new AbortController().signal;

test("an image that waits to be made small still counts as one that is fetched", async () => {
  const image = await makeImage();
  expect(await shrinkImage(image, 160)).not.toBeNull();
  const app = { queues: createQueues(config()), proxiedImages: createProxyCache() };
  const busy = await Promise.all(
    ["one", "two"].map((account) => app.queues.thumbnails.acquire(account)),
  );
  const asked = Array.from({ length: 20 }, () =>
    proxyImage(app, "reader", host.serve(image), 160, idle),
  );
  await expect.poll(() => host.requests.length).toBe(8);
  await proxyImage(app, "other", host.serve(image), undefined, idle);
  expect(host.requests.length).toBe(9);
  for (const release of busy) release();
  for (const answer of await Promise.all(asked)) expect(answer).toBeInstanceOf(Response);
});
