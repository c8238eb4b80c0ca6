/** Reads documents, in the worker of `read-document.ts`. */
import MsgReader from "@kenjiuno/msgreader";
import PostalMime from "postal-mime";
import { DocumentError, type DocumentFormat, type DocumentText, PROTECTED } from "./document.ts";
import { parseDocx } from "./parse-docx.ts";
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

/** Converts the HTML that a library has written: headings, lists, and tables as rows. */
function textOfHtml(html: string): string {
  const cells = html.replace(/<(t[dh])\b[^>]*>([\s\S]*?)<\/\1>/g, (_, __, inner: string) => {
    return `${inner
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ")
      .trim()} | `;
  });
  return cells
    .replace(/<h([1-6])\b[^>]*>/g, (_, level) => `\n${"#".repeat(Number(level))} `)
    .replace(/<li\b[^>]*>/g, "- ")
    .replace(/<(?:br|ul|ol)\b[^>]*>|<\/(?:p|h[1-6]|li|ul|ol|table)>/g, "\n")
    .replace(/(?: \| )?<\/tr>/g, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", apos: "'", nbsp: " " },
};

async function parseEml(bytes: Uint8Array): Promise<DocumentText> {
  const mail = await PostalMime.parse(bytes);
  const people = (list: readonly { name?: string; address?: string }[] = []) =>
    list.map(({ name, address }) => [name, address && `<${address}>`].filter(Boolean).join(" "));
  return mailText("EML", {
    From: people(mail.from ? [mail.from] : []).join(", "),
    To: people(mail.to).join(", "),
    Cc: people(mail.cc).join(", "),
    Date: mail.date ?? "",
    Subject: mail.subject ?? "",
    Attachments: mail.attachments.map(({ filename }) => filename ?? "unnamed").join(", "),
    text: mail.text ?? textOfHtml(mail.html ?? ""),
  });
}

function parseMsg(bytes: Uint8Array): DocumentText {
  const mail = new MsgReader(new Uint8Array(bytes).buffer).getFileData();
  if (mail.error) throw new DocumentError("is damaged or no message");
  const recipients = (mail.recipients ?? []).map(
    ({ name, email, smtpAddress }) => `${name ?? ""} <${smtpAddress ?? email ?? ""}>`,
  );
  return mailText("MSG", {
    From: `${mail.senderName ?? ""} <${mail.senderSmtpAddress ?? mail.senderEmail ?? ""}>`,
    To: recipients.join(", "),
    Date: mail.messageDeliveryTime ?? mail.clientSubmitTime ?? "",
    Subject: mail.subject ?? "",
    Attachments: (mail.attachments ?? []).map(({ fileName }) => fileName ?? "unnamed").join(", "),
    text: mail.body ?? "",
  });
}

function mailText(
  format: "EML" | "MSG",
  { text, ...fields }: Readonly<Record<string, string>>,
): DocumentText {
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === "" ? [] : [`${name}: ${value}`],
  );
  const about = `${format}${fields.Attachments ? ". Attachments are only named" : ""}.`;
  const sections = [{ title: "", text: [...lines, "", (text ?? "").trim()].join("\n") }];
  return { about, sections, sheets: [] };
}
