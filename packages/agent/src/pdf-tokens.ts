/** The most that providers charge for a page of a PDF: its text, and the page as an image. */
export const PDF_PAGE_TOKENS = 3_000;

/** The maximum that providers accept. */
export const MAX_PDF_PAGES = 100;

/** The provider metadata of a PDF that a model is shown. */
export const pdfMetadata = (pages: number) => ({ agentPlatform: { pages } });

/** Returns the tokens of a PDF that a message or a prompt has; 0 for any other part. */
export function pdfTokens(part: unknown): number {
  if (typeof part !== "object" || part === null || !("providerOptions" in part)) return 0;
  const pages: unknown = Object(Object(part.providerOptions).agentPlatform).pages;
  const isCount = typeof pages === "number" && pages > 0 && pages <= MAX_PDF_PAGES;
  return isCount ? pages * PDF_PAGE_TOKENS : 0;
}
