/** The pages of a scanned PDF as images, in the worker. */
import { getResolvedPDFJS } from "unpdf";
import { type InspectedPdf, MAX_SCANNED_PAGES, type ScannedPage } from "./document.ts";
import { openPdf } from "./parse-pdf.ts";
import { encodeGrayPng, type GrayImage } from "./write-png.ts";

/** The longer side of an image: models read no finer one. */
const MAX_SIDE = 1_600;
/** Bounds the memory that decoding needs: A4 with 600 dots per inch. */
const MAX_PIXELS = 36_000_000;
/** A smaller image is a logo or a stamp. */
const MIN_SIDE = 400;
/** Two images of a page are strips of it, unless one has less than this share of the other. */
const MIN_STRIP_SHARE = 0.2;

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof openPdf>>["getPage"]>>;

/** An image as the library decodes it. */
interface Decoded {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

export async function inspectPages(bytes: Uint8Array): Promise<InspectedPdf> {
  const pdf = await openPdf(bytes);
  let isScanned = true;
  for (let number = 1; isScanned && number <= Math.min(pdf.numPages, MAX_SCANNED_PAGES); number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    isScanned = !items.some((item) => "str" in item && item.str.trim() !== "");
    page.cleanup();
  }
  return { pages: pdf.numPages, isScanned };
}

/** Resolves with pages as PNG files. A page that is not one image is left out. */
export async function imagesOfPages(bytes: Uint8Array, from: number, to: number) {
  const pdf = await openPdf(bytes, { maxImageSize: MAX_PIXELS });
  const images: ScannedPage[] = [];
  for (let number = from; number <= Math.min(pdf.numPages, to); number++) {
    const page = await pdf.getPage(number);
    const image = await imageOf(page);
    const shown = image && shrink(image, page.rotate);
    if (shown) images.push({ number, png: encodeGrayPng(shown) });
    page.cleanup();
  }
  return images;
}

async function imageOf(page: PdfPage): Promise<Decoded | undefined> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const names = new Set<string>();
  for (const [place, operator] of fnArray.entries()) {
    if (operator === OPS.paintImageXObject) names.add(String(argsArray[place][0]));
  }
  const found: Decoded[] = [];
  for (const name of names) {
    const objects = name.startsWith("g_") ? page.commonObjs : page.objs;
    const image = await new Promise<Partial<Decoded> | null>((resolve) =>
      objects.get(name, resolve),
    );
    const { width = 0, height = 0, data } = image ?? {};
    if (data && Math.min(width, height) >= MIN_SIDE) found.push({ width, height, data });
  }
  const [largest, next] = found.sort((one, other) => areaOf(other) - areaOf(one));
  const isWhole = largest && (!next || areaOf(next) < areaOf(largest) * MIN_STRIP_SHARE);
  return isWhole ? largest : undefined;
}

const areaOf = ({ width, height }: Decoded): number => width * height;

/** Returns the image upright, in gray, with the mean of the pixels that become one; undefined for an unknown kind. */
function shrink({ width, height, data }: Decoded, rotate: number): GrayImage | undefined {
  const channels = data.length / (width * height);
  const rowBytes = Math.ceil(width / 8);
  const isBitmap = data.length === rowBytes * height;
  if (!isBitmap && ![1, 3, 4].includes(channels)) return undefined;
  const grayAt = (x: number, y: number): number => {
    if (isBitmap) return ((data[y * rowBytes + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1 ? 255 : 0;
    const at = (y * width + x) * channels;
    const red = data[at] ?? 0;
    if (channels === 1) return red;
    return 0.299 * red + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
  };
  const scale = Math.max(1, Math.max(width, height) / MAX_SIDE);
  const [columns, rows] = [Math.floor(width / scale), Math.floor(height / scale)];
  const isTurned = rotate % 180 !== 0;
  const shown = { width: isTurned ? rows : columns, height: isTurned ? columns : rows };
  const pixels = new Uint8Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const right = Math.min(width, (column + 1) * scale);
      const bottom = Math.min(height, (row + 1) * scale);
      let sum = 0;
      let count = 0;
      for (let y = Math.floor(row * scale); y < bottom; y++) {
        for (let x = Math.floor(column * scale); x < right; x++) {
          sum += grayAt(x, y);
          count++;
        }
      }
      pixels[placeOf(column, row, columns, rows, rotate)] = sum / count;
    }
  }
  return { ...shown, pixels };
}

/** Returns where a pixel is after a clockwise rotation by 0, 90, 180 or 270 degrees. */
function placeOf(x: number, y: number, columns: number, rows: number, rotate: number): number {
  switch (((rotate % 360) + 360) % 360) {
    case 90:
      return x * rows + (rows - 1 - y);
    case 180:
      return (rows - 1 - y) * columns + (columns - 1 - x);
    case 270:
      return (columns - 1 - x) * rows + y;
    default:
      return y * columns + x;
  }
}
