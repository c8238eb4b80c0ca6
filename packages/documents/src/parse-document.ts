/** Reads documents, in the worker of `read-document.ts`. */
import { DocumentError, type DocumentFormat, type DocumentText, PROTECTED } from "./document.ts";
import { parseDocx } from "./parse-docx.ts";
import { parseEml, parseMsg } from "./parse-mail.ts";
import { parsePdf } from "./parse-pdf.ts";
import { parsePptx } from "./parse-pptx.ts";
import { parseRtf } from "./parse-rtf.ts";
import { parseSpreadsheet } from "./parse-spreadsheet.ts";

/** @throws DocumentError, or an error of a library for a damaged document */
export async function parseDocument(
  format: DocumentFormat,
  bytes: Uint8Array,
): Promise<DocumentText> {
  if (format === "XLS" || format === "MSG") checkOle(bytes);
  switch (format) {
    case "PDF":
      return parsePdf(bytes);
    case "DOCX":
      return parseDocx(bytes);
    case "PPTX":
      return parsePptx(bytes);
    case "XLSX":
    case "XLS":
    case "ODS":
      return parseSpreadsheet(format, bytes);
    case "EML":
      return parseEml(bytes);
    case "MSG":
      return parseMsg(bytes);
    case "RTF":
      return parseRtf(bytes);
  }
}

/** Old and encrypted documents of all kinds are containers of one format, whose entries have UTF-16 names. */
function checkOle(bytes: Uint8Array): void {
  const has = (name: string) => Buffer.from(bytes).includes(Buffer.from(name, "utf16le"));
  if (has("EncryptedPackage")) throw new DocumentError(PROTECTED);
  if (has("WordDocument")) throw new DocumentError("is a DOC of an old Word: save it as DOCX");
  if (has("PowerPoint Document")) {
    throw new DocumentError("is a PPT of an old PowerPoint: save it as PPTX");
  }
}
