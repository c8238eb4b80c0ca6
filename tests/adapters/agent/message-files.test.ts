import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tokensOf } from "@platform/agent/context";
import { fileDownloader } from "@platform/agent/download-file";
import { type PdfInput, showFiles } from "@platform/agent/show-files";
import { createLocalProvider } from "@platform/sandbox/local";
import type { Sandbox } from "@platform/sandbox/port";
import { convertToModelMessages, type UIMessage } from "ai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { storeFiles } from "../../../lib/running-turn/store-files.ts";
import { PIXEL_PNG } from "../../support/fixtures/pixel.ts";

const pixel = Buffer.from(PIXEL_PNG, "base64");
const settings = {
  SUPABASE_URL: "http://localhost",
  SUPABASE_SECRET_KEY: "x",
  DATABASE_URL: "postgresql://localhost",
  API_KEY_SECRET: "x".repeat(32),
  LOG_LEVEL: "silent",
};

let dir: string;
let sandbox: Sandbox;
beforeAll(async () => {
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  dir = await mkdtemp(join(tmpdir(), "message-files-"));
  const provider = createLocalProvider({ rootDir: dir, diskQuota: 2 ** 20, allowedHosts: [] });
  const account = randomUUID();
  sandbox = provider.open(await provider.provision(randomUUID(), account), account);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const history: readonly UIMessage[] = [
  {
    id: "m1",
    role: "user",
    parts: ["good.png", "gone.png"].map((filename) => ({
      type: "file" as const,
      mediaType: "image/png",
      filename,
      url: `https://files.test/${filename}?signature=1`,
    })),
  },
];

test("a file at an https URL is fetched once, and one that fails is not requested again", async () => {
  const requested: string[] = [];
  const fetchFile = async (url: URL) => {
    requested.push(url.pathname);
    if (url.pathname === "/gone.png") throw new Error("404");
    return pixel;
  };
  const signal = new AbortController().signal;
  const first = await storeFiles(history, sandbox, fetchFile, signal);
  expect(first.changed.map(({ id }) => id)).toEqual(["m1"]);
  const second = await storeFiles(first.history, sandbox, fetchFile, signal);
  expect(second.changed).toEqual([]);
  expect(requested).toEqual(["/good.png", "/gone.png"]);

  const [shown] = await showFiles(second.history, sandbox);
  expect(shown?.parts).toEqual([
    { type: "text", text: expect.stringContaining("uploads/good.png") },
    expect.objectContaining({ url: `data:image/png;base64,${PIXEL_PNG}` }),
    { type: "text", text: expect.stringMatching(/"gone.png".*could not be fetched/) },
  ]);
});

test("a file that cannot be stored is marked once, and named", async () => {
  let writes = 0;
  const failing = {
    readFile: (path: string) => sandbox.readFile(path),
    writeFile: async () => {
      writes++;
      throw new TypeError("The name is not valid");
    },
  } as unknown as Sandbox;
  const url = `data:image/png;base64,${PIXEL_PNG}`;
  const parts = [{ type: "file" as const, mediaType: "image/png", filename: "odd.png", url }];
  const stored: UIMessage[] = [{ id: "m2", role: "user", parts }];
  const signal = new AbortController().signal;
  const land = (messages: readonly UIMessage[]) =>
    storeFiles(messages, failing, async () => Buffer.alloc(0), signal);
  const first = await land(stored);
  expect(first.changed.map(({ id }) => id)).toEqual(["m2"]);
  expect((await land(first.history)).changed).toEqual([]);
  expect(writes).toBe(1);
  const [shown] = await showFiles(first.history, sandbox);
  expect(shown?.parts[0]).toEqual({
    type: "text",
    text: expect.stringMatching(/"odd.png".*could not be stored/),
  });
});

test("a file that a network policy keeps from being fetched says so", async () => {
  const fetchFile = fileDownloader(new AbortController().signal, [{ of: "chat", mode: "none" }]);
  const landed = await storeFiles(history, sandbox, fetchFile, new AbortController().signal);
  const [shown] = await showFiles(landed.history, sandbox);
  expect(shown?.parts).toEqual(
    Array.from({ length: 2 }, () => ({
      type: "text",
      text: expect.stringContaining("The host files.test is not allowed by the network policy"),
    })),
  );
});

test("a file that a stop kept from being fetched is requested again", async () => {
  const fetchFile = () => Promise.reject(new Error("aborted"));
  const landed = await storeFiles(history, sandbox, fetchFile, AbortSignal.abort());
  expect(landed.changed).toEqual([]);
});

const pdfInput = (more: Partial<PdfInput>): PdfInput => ({
  isRead: true,
  inspect: async () => ({ pages: 20, isScanned: true }),
  pagesOfScan: async () => [],
  maxTokens: 60_000,
  ...more,
});

test("a PDF is shown with an estimate of its pages, unless it is too long", async () => {
  await sandbox.writeFile("uploads/contract.pdf", Buffer.from("%PDF-1.7"));
  await sandbox.writeFile("uploads/text.pdf", Buffer.from("text"));
  const message = (id: string, path: string): UIMessage => ({
    id,
    role: "user",
    parts: [
      {
        type: "file",
        mediaType: "Application/PDF",
        filename: path,
        url: `sandbox:/home/agent/${path}`,
        providerMetadata: { agentPlatform: { pages: 1 } },
      },
    ],
  });
  const contract = message("m1", "uploads/contract.pdf");
  const shown = async (
    messages: readonly UIMessage[],
    pages: number | null,
    maxTokens = 60_000,
  ) => {
    const pdf = pdfInput({
      inspect: async () => (pages === null ? null : { pages, isScanned: false }),
      maxTokens,
    });
    return (await showFiles(messages, sandbox, pdf)).map(({ parts }) =>
      parts.flatMap((part) => (part.type === "file" ? [part.url] : [])),
    );
  };
  const data = `data:application/pdf;base64,${btoa("%PDF-1.7")}`;
  expect(await shown([contract], 20)).toEqual([[data]]);
  // The newest one first.
  expect(await shown([contract, { ...contract, id: "m2" }], 11)).toEqual([[], [data]]);
  for (const pages of [21, null]) expect(await shown([contract], pages)).toEqual([[]]);
  expect(await shown([contract], 101, 1_000_000)).toEqual([[]]);
  expect(await shown([message("m1", "uploads/text.pdf")], 1)).toEqual([[]]);
  expect(await shown([message("m1", "uploads/gone.pdf")], 1)).toEqual([[]]);

  const pdf = pdfInput({});
  const sent = await convertToModelMessages([...(await showFiles([contract], sandbox, pdf))]);
  expect(tokensOf(sent)).toBeGreaterThan(60_000);
  expect(tokensOf(sent)).toBeLessThan(63_000);
});

test("the pages of a scanned PDF are shown, and made once", async () => {
  await sandbox.writeFile("uploads/scan.pdf", Buffer.from("%PDF-1.7"));
  const [contract] = [
    {
      type: "file" as const,
      mediaType: "application/pdf",
      url: "sandbox:/home/agent/uploads/scan.pdf",
    },
  ];
  let made = 0;
  const pages = Array.from({ length: 10 }, (_, page) =>
    Buffer.concat([pixel, Buffer.from(`page ${page}`)]),
  );
  const shown = async (images: number, more: Partial<PdfInput> = {}) => {
    const image = {
      type: "file" as const,
      mediaType: "image/png",
      url: `data:image/png;base64,${PIXEL_PNG}`,
    };
    const parts = [...Array(images).fill(image), contract];
    const pdf = pdfInput({
      isRead: false,
      pagesOfScan: async () => {
        made++;
        return pages;
      },
      ...more,
    });
    const [message] = await showFiles([{ id: "m1", role: "user", parts }], sandbox, pdf);
    return message?.parts.flatMap((part) => (part.type === "file" ? [part.url] : [])) ?? [];
  };
  const urls = pages.map((page) => `data:image/png;base64,${page.toString("base64")}`);
  expect(await shown(0)).toEqual(urls);
  // Ten images in all.
  expect((await shown(7)).slice(7)).toEqual(urls.slice(0, 3));
  expect(made).toBe(1);
  expect(await shown(0, { inspect: async () => ({ pages: 3, isScanned: false }) })).toEqual([]);
});
