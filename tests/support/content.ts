/** Inputs for whoever makes images and videos, and orders with nothing in them that is not said. */
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import type { ImageOrder, MediaFile, Ordered, VideoOrder } from "../../lib/content/provider.ts";

export interface Workshop {
  /** Writes a file and gives it as an input. */
  put(name: string, contentType: string, bytes: Uint8Array): Promise<MediaFile>;
  /** A new folder for the results of one order. */
  folder(): Promise<string>;
  clear(): Promise<void>;
}

export async function openWorkshop(): Promise<Workshop> {
  const root = await mkdtemp(join(tmpdir(), "agent-platform-content-"));
  return {
    async put(name, contentType, bytes) {
      const path = join(root, name);
      await writeFile(path, bytes);
      // As it is in development: an address that only this machine knows.
      return { path, contentType, url: `http://127.0.0.1:9/${name}` };
    },
    folder: () => mkdtemp(join(root, "results-")),
    clear: () => rm(root, { recursive: true, force: true }),
  };
}

export const isEmpty = async (folder: string): Promise<boolean> =>
  (await readdir(folder)).length === 0;

export const videoOrder = (order: Partial<Ordered<VideoOrder>>): Ordered<VideoOrder> => ({
  accountId: "00000000-0000-4000-8000-00000000000a",
  mode: "animate",
  prompt: "",
  aspectRatio: "16:9",
  seconds: 4,
  resolution: "720p",
  generateAudio: false,
  seed: 7,
  ...order,
});

export const imageOrder = (order: Partial<Ordered<ImageOrder>>): Ordered<ImageOrder> => ({
  accountId: "00000000-0000-4000-8000-00000000000a",
  prompt: "Midnight rain",
  references: [],
  count: 1,
  aspectRatio: "16:9",
  resolution: "720p",
  seed: 7,
  ...order,
});

/** Shapes of plain colours, so that what moves can be seen; with a face of the colours of skin. */
export function drawScene(sky: string, sun: { x: number; y: number }): Promise<Buffer> {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="540">
    <rect width="960" height="540" fill="${sky}"/>
    <circle cx="${sun.x}" cy="${sun.y}" r="90" fill="#ffe9a8"/>
    <path d="M0 540 L260 330 L520 480 L760 360 L960 470 V540Z" fill="#1c1533"/></svg>`;
  return sharp(Buffer.from(drawing)).png().toBuffer();
}

/** In shares of the picture: where the mouth of `drawFace` is. */
export const MOUTH = { x: 0.475, y: 0.63, width: 0.05, height: 0.035 } as const;

export function drawFace(): Promise<Buffer> {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="540">
    <rect width="960" height="540" fill="#27425c"/>
    <ellipse cx="480" cy="270" rx="120" ry="165" fill="#d9a27c"/>
    <circle cx="435" cy="240" r="14" fill="#222"/><circle cx="525" cy="240" r="14" fill="#222"/></svg>`;
  return sharp(Buffer.from(drawing)).png().toBuffer();
}

/** A WAV that is loud in the first half of each second and still in the other. */
export function makeSpeech(seconds: number): Buffer {
  const rate = 16_000;
  const samples = Buffer.alloc(seconds * rate * 2);
  for (let at = 0; at < seconds * rate; at++) {
    const time = at / rate;
    const volume = time % 1 < 0.5 ? 12_000 : 0;
    samples.writeInt16LE(Math.round(volume * Math.sin(2 * Math.PI * 440 * time)), at * 2);
  }
  return makeWav(samples, rate, 16, samples.length);
}

/** @param claimed bytes that its head says it has */
export function makeWav(samples: Buffer, rate: number, bits: number, claimed: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(Math.min(0xffffffff, claimed + 36), 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE((rate * bits) / 8, 28);
  head.writeUInt16LE(bits / 8, 32);
  head.writeUInt16LE(bits, 34);
  head.write("data", 36);
  head.writeUInt32LE(claimed, 40);
  return Buffer.concat([head, samples]);
}
