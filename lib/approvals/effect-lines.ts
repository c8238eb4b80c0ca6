/** The lines with which an effect is described to people. */
import type { EffectLine } from "@platform/endpoint/contract/approvals";
import { visibleExcerpt, warnOfLookalikes } from "@platform/endpoint/contract/visible-text";

const MAX_LINES = 20;
const MAX_NAME_CHARS = 64;

/** Fields that are shown first: whom a call reaches. */
const ADDRESSEE =
  /^(?:to|cc|bcc|.*(?:recipient|email|channel|user|host|url|address|account|phone|attendee|participant|guest|invitee|member|contact).*)$/i;

/** Returns a line, and a warning after it if its value can be taken for another one. */
export function lineOf(
  label: string,
  value: unknown,
  isAddress = false,
  maxChars?: number,
): EffectLine[] {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const warning = warnOfLookalikes(text, isAddress);
  return [
    { label, ...visibleExcerpt(text, maxChars) },
    ...(warning === null ? [] : [{ label: "Caution", value: warning }]),
  ];
}

/**
 * Returns fields as lines: the addressees first, and the number of omitted fields last. Their
 * labels differ from those of this service, because a server or a model can name a field `Service`.
 */
export function linesOf(input: Readonly<Record<string, unknown>>, kind = "Input"): EffectLine[] {
  const names = Object.keys(input);
  const ordered = [
    ...names.filter((name) => ADDRESSEE.test(name)),
    ...names.filter((name) => !ADDRESSEE.test(name)),
  ];
  const lines = ordered.slice(0, MAX_LINES).flatMap((name) => {
    const { value, is_cut } = visibleExcerpt(name, MAX_NAME_CHARS);
    const shown = lineOf(`${kind} “${value}”`, input[name], ADDRESSEE.test(name));
    return is_cut ? shown.map((line) => ({ ...line, is_cut })) : shown;
  });
  const more = names.length - MAX_LINES;
  if (more <= 0) return lines;
  return [...lines, { label: "Further fields", value: String(more), is_cut: true }];
}

/** The size of a text, and the text. */
export const contentLines = (content: unknown): EffectLine[] => [
  { label: "Characters", value: String(typeof content === "string" ? content.length : 0) },
  ...(content === undefined ? [] : lineOf("Content", content)),
];

export const without = (input: Readonly<Record<string, unknown>>, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
