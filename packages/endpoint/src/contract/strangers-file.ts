import type { UntrustedSource } from "./approvals.ts";
import type { ReadAnswer } from "./contract.ts";

/** Documents and images: whoever has uploaded one has seldom written it. Text files are no content of strangers. */
const DOCUMENT = /\.(?:pdf|docx?|docm|xlsx?|xlsm|ods|pptx?|eml|msg|rtf|png|jpe?g|gif|webp)$/i;

/** Returns the file that a request reads, if it is content of a stranger, as when the tool `read` reads it. */
export function strangersFile({ query }: ReadAnswer): readonly UntrustedSource[] {
  const name = String(query.path);
  return query.as === "document" || DOCUMENT.test(name) ? [{ kind: "file", name }] : [];
}
