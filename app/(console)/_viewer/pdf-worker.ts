/**
 * Draws the pages of a PDF apart from the console: a document is hostile, and here it has no page whose links or prompts
 * it could show, and can be stopped.
 */
import { getDocument, type PDFDocumentProxy } from "unpdf/pdfjs";

export interface PdfRequest {
  readonly id: number;
  /** Opens a document. */
  readonly bytes?: ArrayBuffer;
  /** Draws a page by its number from 1, for a box of this width in pixels of the screen. */
  readonly page?: number;
  readonly width?: number;
}

export interface PdfAnswer {
  readonly id: number;
  readonly pages?: number;
  readonly drawn?: { readonly image: ImageBitmap; readonly text: string };
  readonly failure?: "protected" | "damaged" | "slow";
}

const MAX_PIXELS = 8_000_000;
const MAX_SIDE_PIXELS = 8_192;

/** Filters are elements of SVG, which a worker does not have. */
class FilterFactory {
  addFilter = () => "none";
  addHCMFilter = this.addFilter;
  addAlphaFilter = this.addFilter;
  addLuminosityFilter = this.addFilter;
  addKnockoutFilter = this.addFilter;
  addHighlightHCMFilter = this.addFilter;
  destroy(): void {}
}

/** The parts of a document that the library needs to draw. */
const inWorker = {
  fonts: Reflect.get(globalThis, "fonts"),
  createElement: () => new OffscreenCanvas(1, 1),
};

// The library draws in the frames of a window.
Object.assign(globalThis, {
  window: {
    requestAnimationFrame: (draw: () => void) => setTimeout(draw),
    cancelAnimationFrame: clearTimeout,
  },
});

let opened: PDFDocumentProxy | undefined;

addEventListener("message", ({ data }: MessageEvent<PdfRequest>) => {
  // The library sends messages, too, which have no `id`.
  if (typeof data.id === "number") void answer(data);
});

async function answer({ id, bytes, page = 1, width = 1 }: PdfRequest): Promise<void> {
  try {
    if (bytes) {
      opened = await open(bytes);
      return send({ id, pages: opened.numPages });
    }
    const drawn = await draw(page, width);
    send({ id, drawn }, [drawn.image]);
  } catch (error) {
    const isProtected = Object(error).name === "PasswordException";
    send({ id, failure: isProtected ? "protected" : "damaged" });
  }
}

const send = (message: PdfAnswer, transfer: Transferable[] = []) =>
  postMessage(message, { transfer });

const open = (bytes: ArrayBuffer): Promise<PDFDocumentProxy> =>
  getDocument({
    data: new Uint8Array(bytes),
    ...{ isEvalSupported: false, useWorkerFetch: false, useSystemFonts: true, verbosity: 0 },
    ...{ maxImageSize: 4 * MAX_PIXELS, canvasMaxAreaInBytes: 16 * MAX_PIXELS },
    FilterFactory,
    ownerDocument: inWorker as unknown as HTMLDocument,
  }).promise;

/** Annotations are drawn as they look, such as the values of a form; none of them does anything. */
async function draw(number: number, width: number) {
  const page = await opened?.getPage(number);
  if (page === undefined) throw new Error("no document is open");
  const size = page.getViewport({ scale: 1 });
  const scale = Math.min(
    width / size.width,
    Math.sqrt(MAX_PIXELS / (size.width * size.height)),
    MAX_SIDE_PIXELS / Math.max(size.width, size.height),
  );
  const viewport = page.getViewport({ scale });
  const canvas = new OffscreenCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height));
  const canvasContext = canvas.getContext("2d") as unknown as CanvasRenderingContext2D;
  await page.render({ canvas: null, canvasContext, viewport }).promise;
  const { items } = await page.getTextContent();
  const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""));
  page.cleanup();
  return { image: canvas.transferToImageBitmap(), text: text.join("") };
}
