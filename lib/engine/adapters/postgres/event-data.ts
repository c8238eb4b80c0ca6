/**
 * The Workflow SDK passes values as bytes inside plain objects. JSON has no bytes, so they are
 * stored as `{"$bytes": base64}`.
 */

/** Returns a JSON text, or null for undefined. */
export function encodeEventData(value: unknown): string | null {
  if (value === undefined) return null;
  return JSON.stringify(value, (_key, item: unknown) =>
    item instanceof Uint8Array ? { $bytes: Buffer.from(item).toString("base64") } : item,
  );
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
