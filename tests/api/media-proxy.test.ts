/** Images of the web, fetched for a reader. */
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { type ImageHost, startImageHost } from "../support/fakes/image-host.ts";
import { makeImage } from "../support/fixtures/encoded-media.ts";
import { expectError, expectErrorShape } from "../support/fixtures/shapes.ts";
import { client, createAccount, createKey, createPerson } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";

let host: ImageHost;
/** May fetch from this machine, as in development. */
let server: RunningNext;
let key: string;
beforeAll(async () => {
  host = await startImageHost();
  server = await startServer({ env: { LOOPBACK_URLS: "media,webhooks" } });
  key = await createKey((await createAccount()).id);
});
afterAll(async () => {
  await server?.stop();
  await host?.close();
});

const ask = (url: string, headers: Record<string, string> = {}, width?: string) =>
  fetch(`${server.url}/api/media/proxy?${new URLSearchParams({ url, ...(width && { width }) })}`, {
    headers: { "x-api-key": key, ...headers },
  });

/** A progressive JPEG of 64 blocks, with a scan for each coefficient of brightness: all of them are zero. */
async function makeJpegOfManyScans(): Promise<Buffer> {
  const create = { width: 64, height: 64, channels: 3, background: "#336699" } as const;
  const image = sharp({ create }).jpeg({ progressive: true, chromaSubsampling: "4:4:4" });
  const whole = await image.toBuffer();
  // The first scan has the mean of each block and ends with the next table.
  const means = whole.subarray(0, whole.indexOf("ffc4", whole.indexOf("ffda", 0, "hex"), "hex"));
  // One code: the next 64 blocks have nothing more.
  const table = [0xff, 0xc4, 0, 20, 0x10, 1, ...Array(15).fill(0), 0x60];
  const scans = Array.from({ length: 63 }, (_, index) => {
    const coefficient = index + 1;
    return [0xff, 0xda, 0, 8, 1, 1, 0, coefficient, coefficient, 0, 0x01];
  });
  const made = Buffer.concat([means, Buffer.from([...table, ...scans.flat(), 0xff, 0xd9])]);
  expect((await sharp(made).stats()).isOpaque).toBe(true);
  return made;
}

describe("GET /api/media/proxy 200", () => {
  it.each(["png", "jpeg", "webp", "gif"] as const)("%s, by its content", async (format) => {
    const image = await makeImage(format);
    const url = host.serve(image, { "content-type": "text/html" });
    const answer = await ask(url, {
      cookie: "secret=1",
      referer: "https://console.example/chat",
      "user-agent": "Reader",
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, `image/${format}`]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(image)).toBe(true);
    expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const sent = host.requests.at(-1) ?? {};
    expect(sent).toMatchObject({ "user-agent": "agent-platform" });
    expect(Object.keys(sent)).not.toEqual(
      expect.arrayContaining([
        expect.stringMatching(/cookie|referer|authorization|x-api-key|forwarded/),
      ]),
    );
  });

  it("as a small WebP, which is fetched once", async () => {
    const url = host.serve(await makeImage());
    const before = host.requests.length;
    for (const _ of [1, 2]) {
      const answer = await ask(url, {}, "160");
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/webp"]);
      const { format, width } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
      expect({ format, width }).toEqual({ format: "webp", width: 160 });
    }
    expect(host.requests.length - before).toBe(1);
    expect((await ask(url, {}, "161")).status).toBe(400);
  });

  it("as it is where decoding would take long: a JPEG of more scans than encoders write", async () => {
    const answer = await ask(host.serve(await makeJpegOfManyScans()), {}, "160");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
  });

  it("after redirects", async () => {
    const url = host.redirect(host.serve(await makeImage()));
    expect((await ask(url)).status).toBe(200);
  });
});

describe("GET /api/media/proxy 400", () => {
  it.each([
    ["http://example.com/a.png", "url must be an https URL"],
    ["ftp://example.com/a.png", "url must be an https URL"],
    ["data:image/png;base64,AA", "url must be an https URL"],
    ["https://user:pass@example.com/a.png", "url must not contain credentials"],
    ["https://10.0.0.1/a.png", "url must have a public address"],
    ["https://169.254.169.254/latest", "url must have a public address"],
    ["https://[::1]/a.png", "url must have a public address"],
  ])("%s", async (url, sentence) => {
    const { withKey } = await createPerson();
    const answer = await withKey.get(`/api/media/proxy?${new URLSearchParams({ url })}`);
    expectError(answer, 400, "plain", sentence);
  });
});

describe("GET /api/media/proxy 502", () => {
  const svg = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  );
  it.each<[string, () => Promise<string> | string]>([
    ["an SVG", () => host.serve(svg, { "content-type": "image/svg+xml" })],
    ["a page", () => host.serve(Buffer.from("<html>"), { "content-type": "image/png" })],
    ["nothing", () => host.serve(Buffer.alloc(0))],
    ["more than 10 MiB", () => host.serve(Buffer.alloc(11 * 1024 * 1024, 0xff))],
    [
      "more than 10 MiB when decompressed",
      () => host.serve(gzipSync(Buffer.alloc(64 * 1024 * 1024)), { "content-encoding": "gzip" }),
    ],
    ["a redirect to a private address", () => host.redirect("https://10.0.0.1/a.png")],
    ["a redirect to another protocol", () => host.redirect("file:///etc/passwd")],
    ["redirects without end", () => host.redirect("")],
  ])("%s", async (_, arrange) => {
    const caller = client({ key }, server.url);
    const query = new URLSearchParams({ url: await arrange() });
    const answer = await caller.get(`/api/media/proxy?${query}`);
    expect(answer.status).toBe(502);
    expectErrorShape(answer, "plain");
  });
});

describe("GET /api/media/proxy 429", () => {
  it("bounds the images that one account has fetched at a time, and those that wait", async () => {
    const caller = client({ key: await createKey((await createAccount()).id) }, server.url);
    const query = new URLSearchParams({ url: host.serve(await makeImage()) });
    const before = host.requests.length;
    const release = host.hold();
    const statuses: number[] = [];
    const asked = Array.from({ length: 40 }, async () => {
      statuses.push((await caller.get(`/api/media/proxy?${query}`)).status);
    });
    try {
      await expect.poll(() => statuses.length).toBe(8);
      await expect.poll(() => host.requests.length - before).toBe(8);
      expect(new Set(statuses)).toEqual(new Set([429]));
    } finally {
      release();
    }
    await Promise.all(asked);
    expect(statuses.filter((status) => status === 200)).toHaveLength(32);
  });
});
