/** Prompts and answers in spans, where the operator asks for them. */
import { providers } from "./providers.ts";

const MAX_CHARS = 128 * 1024;
/** API keys and the tokens of runs, which a conversation may contain. */
const CREDENTIAL = /\b(?:ap|rt)_[0-9A-Za-z]{49}\b/g;

/** Returns whether spans may contain content (`OTEL_RECORD_CONTENT`). */
export const recordsContent = (): boolean => providers().recordsContent;

/** Returns the value as a JSON text for a span, bounded and without this service's credentials. */
export function toContent(value: unknown): string {
  return JSON.stringify(value).replaceAll(CREDENTIAL, "[redacted]").slice(0, MAX_CHARS);
}
