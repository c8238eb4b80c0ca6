/** Fields whose texts a remembered approval does not compare. */
const CONTENT =
  /^(?:subject|title|summary|body|text|message|content|caption|description|comment|notes?|html|markdown|prompt|negative_prompt|(?:html|text|plain)_?(?:body|text|content)|(?:body|message)_?(?:html|text|plain))$/i;
/** A text that a service may read as fields: JSON, markup, a form, or the headers of a mail. */
const STRUCTURED = /^\s*[[{<]|^[\w.[\]%-]+=|^(?:to|cc|bcc|from|reply-to)\s*:/im;

/** Returns an input with null for each text that is content. A remembered approval compares the rest. */
export function withoutContent(value: unknown, name = ""): unknown {
  if (typeof value === "string") {
    return CONTENT.test(name) && !STRUCTURED.test(value) ? null : value;
  }
  if (Array.isArray(value)) return value.map((one) => withoutContent(one));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withoutContent(inner, key)]),
  );
}
