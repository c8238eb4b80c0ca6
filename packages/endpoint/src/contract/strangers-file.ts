import type { UntrustedSource } from "./approvals.ts";
import type { ReadAnswer } from "./contract.ts";

/** Documents and images, which their uploader has seldom written, unlike text files. */
const DOCUMENT = /\.(?:pdf|docx?|docm|xlsx?|xlsm|ods|pptx?|eml|msg|rtf|png|jpe?g|gif|webp)$/i;

/** Returns the file that a request reads, if it is content of a stranger, as when the tool `read` reads it. */
export function strangersFile({ query }: ReadAnswer): readonly UntrustedSource[] {
  const name = String(query.path);
  return query.as === "document" || DOCUMENT.test(name) ? [{ kind: "file", name }] : [];
}
