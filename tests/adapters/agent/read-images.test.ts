/** Images and scanned PDFs that the tool `read` shows, and how a model gets them. */
import { tokensOf } from "@platform/agent/context";
import { imagesMessage, pathsOf, storeImage, withImages } from "@platform/agent/tool-images";
import type { ModelMessage, ToolModelMessage } from "ai";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createToolFixture } from "../../support/fixtures/agent-tools.ts";
import { PIXEL_PNG } from "../../support/fixtures/pixel.ts";
import { scannedPdf } from "../../support/fixtures/scanned-pdf.ts";

let tools: Awaited<ReturnType<typeof createToolFixture>>;
beforeAll(async () => {
  tools = await createToolFixture();
});
afterAll(async () => {
  expect(tools.faults).toEqual([]);
  await tools.remove();
});

const shown = z.object({
  content: z.string(),
  images: z.array(z.string()),
  pages: z.array(z.number()).optional(),
  truncated: z.boolean().optional(),
});

async function read(name: string, bytes: Uint8Array, more: object = {}, isRead = true) {
  await tools.sandbox.writeFile(name, bytes);
  const { images } = tools.context();
  const met: string[] = [];
  const output = await tools.run(
    "read",
    { filePath: name, ...more },
    {
      images: { ...images, areRead: async () => isRead },
      addSources: (...sources) => void met.push(...sources.map((source) => source.name ?? "")),
    },
  );
  return { output, met };
}

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } });

/** A PNG that says it has such sides. */
function pngOf(width: number, height: number): Uint8Array {
  const head = Buffer.from("89504e470d0a1a0a0000000d4948445200000000000000000802000000", "hex");
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
}

describe("an image", () => {
  it.each(["png", "jpeg", "gif", "webp"] as const)(
    "as %s is described and made small",
    async (type) => {
      const lossless = type === "webp" ? { lossless: true } : {};
      const file = await picture(2_000, 1_000).toFormat(type, lossless).toBuffer();
      const { output, met } = await read(`cover.${type}`, file);
      const { content, images } = shown.parse(output);
      const format = { png: "PNG", jpeg: "JPEG", gif: "GIF", webp: "WebP" }[type];
      expect(content).toContain(`${format} image, 2000 x 1000 px, ${file.byteLength} bytes.`);
      expect(met).toEqual([`cover.${type}`]);
      const stored = sharp(await tools.sandbox.readFile(images[0] ?? ""));
      expect(await stored.metadata()).toMatchObject({ format: "jpeg", width: 1_568, height: 784 });
      // Transparent pixels are not black.
      if (type === "png") expect((await stored.stats()).channels[0]?.min).toBeGreaterThan(150);
      // Read again, it is the same file.
      expect((await read(`cover.${type}`, file)).output).toEqual(output);

      const named = Object((await read(`cover.${type}`, file, {}, false)).output);
      expect(named.content).toContain("2000 x 1000 px");
      expect(named.content).toContain("the model of this chat does not read images");
      expect(named.images).toBeUndefined();
    },
  );

  it("in each form of WebP has its size", async () => {
    for (const options of [{ quality: 50 }, { lossless: true }]) {
      const file = await picture(30, 20).removeAlpha().webp(options).toBuffer();
      const { output } = await read("x.webp", file, {}, false);
      expect(Object(output).content).toContain("WebP image, 30 x 20 px");
    }
  });

  it.each<[string, () => Uint8Array | Promise<Uint8Array>, string]>([
    [
      "of 100,000 x 100,000 px",
      () => pngOf(100_000, 100_000),
      "has 100000 x 100000 px, more than 35 megapixels",
    ],
    ["with a head alone", () => pngOf(10, 10), "cannot be decoded"],
    ["of a few bytes", () => pngOf(10, 10).subarray(0, 12), "is damaged or no PNG"],
    ["without sides", () => pngOf(0, 10), "is damaged or no PNG"],
    [
      "of markers without an end",
      () => Buffer.alloc(100_000, 0xff).fill(0xd8, 1, 2),
      "is damaged or no JPEG",
    ],
    [
      "that is cut",
      async () => (await picture(500, 500).jpeg().toBuffer()).subarray(0, 700),
      "cannot be decoded",
    ],
  ])("%s is one clear error", async (_, bytes, error) => {
    const { output } = await read("hostile.png", await bytes());
    expect(output).toEqual({ error: expect.stringContaining(`hostile.png ${error}`) });
  });
});

describe("a scanned PDF", () => {
  const page = { width: 400, height: 500, pixels: new Uint8Array(200_000) };
  const scan = (count: number) =>
    scannedPdf(
      Array.from({ length: count }, (_, n) =>
        n === 1
          ? { width: 50, height: 50, pixels: new Uint8Array(2_500) }
          : { ...page, pixels: page.pixels.map(() => n * 17) },
      ),
    );

  it("is shown by ten pages from any page on, and says what is left", async () => {
    const first = shown.parse((await read("scan.pdf", scan(12))).output);
    expect(first).toMatchObject({ pages: [1, 3, 4, 5, 6, 7, 8, 9, 10], truncated: true });
    expect(first.content).toContain("PDF, 12 pages. It has no text: its pages are images.");
    expect(first.content).toContain("not one image each: pages 2.");
    expect(first.content).toContain("pass offset 11");
    expect(new Set(first.images).size).toBe(9);
    const more = { offset: 11, limit: 1 };
    const rest = shown.parse((await read("scan.pdf", scan(12), more)).output);
    expect(rest).toMatchObject({ pages: [11], truncated: true });
    expect(rest.content).toContain("pass offset 12");
  });
});

describe("the images of results", () => {
  const result = (value: object): ToolModelMessage => ({
    role: "tool",
    content: [
      {
        ...{ type: "tool-result", toolCallId: "1", toolName: "read" },
        output: { type: "json", value: { ...value } },
      },
    ],
  });
  const path = (n: number) => `/home/agent/.results/image-${String(n).padStart(16, "0")}.png`;
  const step = (message: ModelMessage) => ({ messages: [message] }) as never;

  it("are the ones that a read names, thirty in a turn, and again if they are read again", () => {
    expect(imagesMessage(result({ content: path(1) }), [])).toBeNull();
    const many = Array.from({ length: 29 }, (_, n) => path(n));
    const first = imagesMessage(result({ images: many }), []);
    if (!first) throw new Error("no images");
    expect(pathsOf(first)).toEqual(many);
    // Each counts as an image, not as its path.
    expect(tokensOf([first])).toBeGreaterThan(29 * 1_600);
    const next = imagesMessage(result({ images: [path(0), path(40)] }), [step(first)]);
    if (!next) throw new Error("no images");
    expect(pathsOf(next)).toEqual([path(0)]);
    expect(JSON.stringify(next)).toContain(`shows at most 30 images: ${path(40)}`);
  });

  it("are left out of a request from the oldest on if they have too many bytes", async () => {
    const messages: ModelMessage[] = [];
    for (let n = 0; n < 4; n++) {
      const bytes = Buffer.concat([
        Buffer.from(PIXEL_PNG, "base64"),
        Buffer.alloc(4.5 * 1024 * 1024, n),
      ]);
      const stored = await storeImage(tools.sandbox, bytes);
      const message = imagesMessage(result({ images: [stored?.path] }), []);
      if (message) messages.push(message);
    }
    const sizes = async () =>
      (await withImages(messages, tools.sandbox)).map((message) => JSON.stringify(message).length);
    const [first, ...others] = await sizes();
    expect(first).toBeLessThan(1_000);
    for (const size of others) expect(size).toBeGreaterThan(5_000_000);
    expect(await sizes()).toEqual([first, ...others]);
  });
});
