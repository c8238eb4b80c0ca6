import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sharedMessageOf } from "../../lib/sessions/shares/share-chat.ts";
import { formatToken, readToken } from "../../lib/sessions/shares/share-token.ts";

const secret = randomUUID();
const tokenOf = (id: string) => formatToken(id, secret);
const read = (token: string) => readToken(token, [secret]);

test("a token leads to its share, and no other text does", () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.nat({ max: 31 }),
      fc.integer({ min: 1, max: 255 }),
      (id, at, bits) => {
        expect(read(tokenOf(id))).toBe(id);
        const bytes = Buffer.from(tokenOf(id), "base64url");
        bytes.writeUInt8(bytes.readUInt8(at) ^ bits, at);
        expect(read(bytes.toString("base64url"))).toBeNull();
      },
    ),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(read(text)).toBeNull();
    }),
  );
  expect(read(formatToken(randomUUID(), "another secret"))).toBeNull();
  expect(read(Buffer.alloc(32).toString("base64url"))).toBeNull();
});

test("of any message nothing is shared but texts and names of tools", () => {
  const value = fc.jsonValue();
  const part = fc.record({
    type: fc.oneof(
      fc.constantFrom("text", "reasoning", "file", "tool-bash", "step-start", "data-x"),
      fc.string(),
    ),
    text: fc.oneof(fc.string(), value),
    input: value,
    output: value,
    url: fc.string(),
  });
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const message = { id: randomUUID(), role: "assistant", parts, createdAt: "" } as const;
      for (const shown of sharedMessageOf(message)?.parts ?? []) {
        const allowed = parts.some(({ type, text }) =>
          shown.type === "text"
            ? type === "text" && text === shown.text
            : type === `tool-${shown.name}`,
        );
        expect(allowed).toBe(true);
        expect(Object.keys(shown)).toHaveLength(2);
      }
    }),
  );
});
