/** How a secret may lie somewhere: as it is, or in a form from which anyone can make it again. */

/** The secret part of a credential, which no other contains: the signature of a JWT, the body of a key. */
export function essenceOf(secret: string): string {
  const jwt = /^[\w-]+\.[\w-]+\.([\w-]{16,})$/.exec(secret);
  return jwt?.[1] ?? secret.replace(/^(ap|rt)_/, "");
}

/** Every form of it by its name; each is at least as long as the secret's essence. */
export function formsOf(secret: string): Map<string, string> {
  const essence = essenceOf(secret);
  const bytes = Buffer.from(essence);
  const forms = new Map([
    ["clear", essence],
    ["reversed", [...essence].reverse().join("")],
    ["hex", bytes.toString("hex")],
    ["upper-case hex", bytes.toString("hex").toUpperCase()],
    ["URL-encoded", encodeURIComponent(essence)],
    ["percent-encoded", percentEncode(bytes)],
    ["lower-case percent-encoded", percentEncode(bytes).toLowerCase()],
  ]);
  for (const offset of [0, 1, 2]) {
    const base64 = base64At(bytes, offset);
    forms.set(`base64 at ${offset}`, base64);
    forms.set(`base64url at ${offset}`, base64.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}

const percentEncode = (bytes: Buffer): string =>
  bytes.toString("hex").toUpperCase().replace(/../g, "%$&");

/** The characters that encode these bytes alone, whatever bytes surround them. */
function base64At(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  const whole = Math.floor(((offset + bytes.length) * 8) / 6);
  return encoded.slice(Math.ceil((offset * 8) / 6), whole);
}
