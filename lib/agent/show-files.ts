import type { FileUIPart, UIMessage } from "ai";
import { isSandboxError, type Sandbox } from "../sandbox/port.ts";
import { formatOf } from "./documents/document.ts";
import { MAX_PDF_PAGES, PDF_PAGE_TOKENS, pdfMetadata } from "./pdf-tokens.ts";

const SANDBOX_URL = /^sandbox:\/home\/agent\//i;
const DATA_URL = /^data:[^,]*,/i;
/** The image types that most models accept. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/i;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
/** Of a conversation, the newest first. */
const MAX_IMAGES = 10;
const PDF = /^application\/pdf$/i;
/** Of a larger one, or one with more pages, the model gets only the path. */
const MAX_PDF_BYTES = 10 * 1024 * 1024;

/** How PDFs are shown to a model that reads them. */
export interface PdfInput {
  /** Resolves with the pages of a PDF; null for one that cannot be read. */
  readonly countPages: (bytes: Uint8Array) => Promise<number | null>;
  /** What all PDFs of the conversation may take of the context. */
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

export const isUnfetchable = ({ providerMetadata }: FileUIPart): boolean =>
  providerMetadata?.agentPlatform?.unfetchable !== undefined;

/** Returns whether a message has a PDF. */
export const hasPdf = (messages: readonly Pick<UIMessage, "parts">[]): boolean =>
  messages.some(({ parts }) =>
    parts.some((part) =>
      part.type === "steering-message"
        ? hasPdf([part])
        : part.type === "file" && PDF.test(part.mediaType),
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
  let images = MAX_IMAGES;
  let pdfTokens = pdf?.maxTokens ?? 0;
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
      if (pdf && PDF.test(part.mediaType)) {
        const opened = await openPdf(part, sandbox, pdf, pdfTokens);
        if (!opened) continue;
        pdfTokens -= opened.tokens;
        parts.push(opened.part);
      }
      const image = IMAGE.test(part.mediaType) && images > 0 ? await open(part, sandbox) : null;
      if (!image) continue;
      images -= 1;
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

/** Null for an image that is missing, elsewhere or too large. */
async function open(part: FileUIPart, sandbox: Sandbox): Promise<FileUIPart | null> {
  if (DATA_URL.test(part.url)) return part;
  const bytes = await readBytes(part, sandbox, MAX_IMAGE_BYTES);
  return bytes && withBytes(part, part.mediaType, bytes);
}

/** Null for a PDF that is missing, elsewhere, damaged or too large. */
async function openPdf(
  part: FileUIPart,
  sandbox: Sandbox,
  { countPages }: PdfInput,
  maxTokens: number,
): Promise<{ readonly part: FileUIPart; readonly tokens: number } | null> {
  const bytes = maxTokens > 0 ? await readBytes(part, sandbox, MAX_PDF_BYTES) : null;
  if (!bytes || formatOf(bytes, "") !== "PDF") return null;
  const pages = await countPages(bytes);
  if (pages === null || pages > MAX_PDF_PAGES || pages * PDF_PAGE_TOKENS > maxTokens) return null;
  const shown = withBytes(part, "application/pdf", bytes);
  return {
    part: { ...shown, providerMetadata: pdfMetadata(pages) },
    tokens: pages * PDF_PAGE_TOKENS,
  };
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
  try {
    const bytes = await sandbox.readFile(url.replace(SANDBOX_URL, ""));
    return bytes.byteLength > maxBytes ? null : bytes;
  } catch (error) {
    if (isSandboxError(error)) return null;
    throw error;
  }
}
