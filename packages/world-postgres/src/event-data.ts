/**
 * The Workflow SDK passes values as bytes inside plain objects. JSON has no bytes, so they are
 * stored as `{"$bytes": base64}`. PostgreSQL stores neither null characters nor lone surrogates in
 * JSON texts; messages of errors can have both, and get replacement characters.
 */

/** Returns a JSON text, or null for undefined. */
export function encodeEventData(value: unknown): string | null {
  if (value === undefined) return null;
  return JSON.stringify(value, (key, item: unknown) => {
    if (item instanceof Uint8Array) return { $bytes: Buffer.from(item).toString("base64") };
    if (typeof item !== "string" || key === "$bytes") return item;
    return item.toWellFormed().replaceAll("\0", "\uFFFD");
  });
}

export function decodeEventData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeEventData);
  if (typeof value !== "object" || value === null) return value;
  if ("$bytes" in value && typeof value.$bytes === "string") {
    return new Uint8Array(Buffer.from(value.$bytes, "base64"));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, decodeEventData(item)]),
  );
}
