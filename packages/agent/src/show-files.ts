import { formatOf, type InspectedPdf } from "@platform/documents/document";
import { isSandboxError, type Sandbox } from "@platform/sandbox/port";
import type { FileUIPart, UIMessage } from "ai";
import { imageTypeOf, MAX_IMAGE_BYTES } from "./image-type.ts";
import { digestOfPdf } from "./inspect-pdf.ts";
import { MAX_PDF_PAGES, PDF_PAGE_TOKENS, pdfMetadata } from "./pdf-tokens.ts";

const SANDBOX_URL = /^sandbox:\/home\/agent\//i;
const DATA_URL = /^data:[^,]*,/i;
const IMAGE = /^image\//i;
/** Of a conversation, the newest first. */
const MAX_IMAGES = 10;
const PDF = /^application\/pdf$/i;
/** Of a larger one, or one with more pages, the model gets only the path. */
const MAX_PDF_BYTES = 10 * 1024 * 1024;

/** How PDFs are shown to a model. */
export interface PdfInput {
  /** Whether it reads PDFs. Otherwise it gets the pages of scanned ones as images. */
  readonly isRead: boolean;
  /** Resolves with null for a PDF that cannot be read. */
  readonly inspect: (bytes: Uint8Array) => Promise<InspectedPdf | null>;
  /** Resolves with the first pages of a scanned PDF as PNG files. */
  readonly pagesOfScan: (bytes: Uint8Array) => Promise<readonly Uint8Array[]>;
  /** The tokens that all PDFs of the conversation may take. */
  readonly maxTokens: number;
}

/**
 * Marks a file part whose URL could not be fetched, in its provider metadata.
 * @param refusal which network policy has refused it, as a sentence
 */
export const markUnfetchable = (part: FileUIPart, refusal: string | null): FileUIPart => ({
  ...part,
  providerMetadata: {
    ...part.providerMetadata,
    agentPlatform: { unfetchable: refusal ?? true },
  },
});

const isUnfetchable = ({ providerMetadata }: FileUIPart): boolean =>
  providerMetadata?.agentPlatform?.unfetchable !== undefined;

/** Marks a file part that the sandbox has refused, in its provider metadata. */
export const markUnstorable = (part: FileUIPart): FileUIPart => ({
  ...part,
  providerMetadata: { ...part.providerMetadata, agentPlatform: { unstorable: true } },
});

/** Returns whether a file is marked as one that will never be in the sandbox. */
export const isLost = (part: FileUIPart): boolean =>
  isUnfetchable(part) || part.providerMetadata?.agentPlatform?.unstorable === true;

export const isPdf = ({ mediaType }: { readonly mediaType: string }): boolean =>
  PDF.test(mediaType);

/** Returns whether a message has a PDF. */
export const hasPdf = (messages: readonly Pick<UIMessage, "parts">[]): boolean =>
  messages.some(({ parts }) =>
    parts.some((part) =>
      part.type === "steering-message" ? hasPdf([part]) : part.type === "file" && isPdf(part),
    ),
  );

/**
 * Returns the messages as the model gets them: each file is named, one in the sandbox by its path, and
 * an image is shown, too. No part refers to a URL that the call of a model would have to fetch.
 * @param pdf present if PDFs are shown, too
 */
export async function showFiles(
  history: readonly UIMessage[],
  sandbox: Sandbox,
  pdf?: PdfInput,
): Promise<readonly UIMessage[]> {
  const shown: UIMessage[] = [];
  const room = { images: MAX_IMAGES, tokens: pdf?.maxTokens ?? 0 };
  const show = async <P extends Pick<UIMessage, "parts">>(
    given: P,
    isUsers: boolean,
  ): Promise<P> => {
    const parts: UIMessage["parts"] = [];
    for (const part of given.parts) {
      if (part.type !== "file" || (!isUsers && DATA_URL.test(part.url))) {
        parts.push(part.type === "steering-message" ? await show(part, true) : part);
        continue;
      }
      parts.push({ type: "text", text: describe(part) });
      if (pdf && isUsers && PDF.test(part.mediaType)) {
        parts.push(...(await openPdf(part, sandbox, pdf, room)));
      }
      const isShown = IMAGE.test(part.mediaType) && room.images > 0;
      const image = isShown ? await open(part, sandbox) : null;
      if (!image) continue;
      room.images -= 1;
      parts.push(image);
    }
    const isSame = parts.every((part, index) => part === given.parts[index]);
    return isSame ? given : { ...given, parts };
  };
  for (const message of history.toReversed()) {
    shown.unshift(await show(message, message.role === "user"));
  }
  return shown.every((message, index) => message === history[index]) ? history : shown;
}

/** The path is relative to the home, where commands start. */
function describe(part: FileUIPart): string {
  const { url, filename, mediaType } = part;
  if (SANDBOX_URL.test(url)) {
    return `Attached file: ${JSON.stringify(url.replace(SANDBOX_URL, ""))} (${mediaType}), in the sandbox's home`;
  }
  const refusal = part.providerMetadata?.agentPlatform?.unfetchable;
  const problem = isUnfetchable(part)
    ? `could not be fetched from its URL${typeof refusal === "string" ? `. ${refusal}` : ""}`
    : "could not be stored in the sandbox";
  return `Attached file: ${JSON.stringify(filename ?? "")} (${mediaType}), which ${problem}`;
}

/** Null for a file that is missing, elsewhere, too large, or no whole image of a type that models accept. */
async function open(part: FileUIPart, sandbox: Sandbox): Promise<FileUIPart | null> {
  const bytes = DATA_URL.test(part.url)
    ? Buffer.from(part.url.slice(part.url.indexOf(",") + 1), "base64")
    : await readBytes(part, sandbox, MAX_IMAGE_BYTES);
  const mediaType = bytes && imageTypeOf(bytes);
  return mediaType ? withBytes(part, mediaType, bytes) : null;
}

/**
 * Returns the parts for a PDF besides its path: none if it is missing, elsewhere, damaged or too large.
 * @param room the rest for PDFs and images, from which it takes its share
 */
async function openPdf(
  part: FileUIPart,
  sandbox: Sandbox,
  pdf: PdfInput,
  room: { images: number; tokens: number },
): Promise<UIMessage["parts"]> {
  const bytes = await readBytes(part, sandbox, MAX_PDF_BYTES);
  if (!bytes || formatOf(bytes, "") !== "PDF") return [];
  const inspected = await pdf.inspect(bytes);
  if (!inspected) return [];
  const { pages, isScanned } = inspected;
  if (pdf.isRead) {
    const tokens = pages * PDF_PAGE_TOKENS;
    if (pages > MAX_PDF_PAGES || tokens > room.tokens) return [];
    room.tokens -= tokens;
    const shown = withBytes(part, "application/pdf", bytes);
    return [{ ...shown, providerMetadata: pdfMetadata(pages) }];
  }
  const scanned = isScanned ? await scannedPages(part, bytes, sandbox, pdf) : [];
  const shown = scanned.slice(0, room.images);
  if (shown.length === 0) return [];
  room.images -= shown.length;
  const text = `It has ${pages} pages without text. The first that are images follow: ${shown.length}.`;
  return [{ type: "text", text }, ...shown.map((image) => withBytes(part, "image/png", image))];
}

/** The images are kept in the sandbox, because a chat shows them in every turn. */
async function scannedPages(
  { url }: FileUIPart,
  bytes: Uint8Array,
  sandbox: Sandbox,
  { pagesOfScan }: PdfInput,
): Promise<readonly Uint8Array[]> {
  const digest = digestOfPdf(bytes).slice(0, 8);
  const pathOf = (number: number) =>
    `.converted/${url.replace(SANDBOX_URL, "")}/page-${number}-${digest}.png`;
  const kept: Uint8Array[] = [];
  for (let image = await readOrNull(sandbox, pathOf(1)); image; ) {
    kept.push(image);
    image = kept.length < MAX_IMAGES ? await readOrNull(sandbox, pathOf(kept.length + 1)) : null;
  }
  if (kept.length > 0) return kept;
  const images = (await pagesOfScan(bytes)).filter((image) => image.length <= MAX_IMAGE_BYTES);
  try {
    // The first one is written last: where it is, the others are.
    for (const [place, image] of [...images.entries()].reverse()) {
      await sandbox.writeFile(pathOf(place + 1), image);
    }
  } catch (error) {
    ignoreSandboxError(error);
  }
  return images;
}

async function readOrNull(sandbox: Sandbox, path: string): Promise<Uint8Array | null> {
  const bytes = await sandbox.readFile(path).catch(ignoreSandboxError);
  return bytes && bytes.byteLength <= MAX_IMAGE_BYTES ? bytes : null;
}

function ignoreSandboxError(error: unknown): null {
  if (isSandboxError(error)) return null;
  throw error;
}

const withBytes = (part: FileUIPart, mediaType: string, bytes: Uint8Array): FileUIPart => ({
  ...part,
  mediaType,
  url: `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`,
});

/** Null for a file that is missing, elsewhere or too large. */
async function readBytes(
  { url }: FileUIPart,
  sandbox: Sandbox,
  maxBytes: number,
): Promise<Uint8Array | null> {
  if (!SANDBOX_URL.test(url)) return null;
  const bytes = await sandbox.readFile(url.replace(SANDBOX_URL, "")).catch(ignoreSandboxError);
  return bytes && bytes.byteLength <= maxBytes ? bytes : null;
}
