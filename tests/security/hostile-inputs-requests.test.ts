/** Bodies that would keep the server's one thread busy: what each endpoint's contract does with them. */
import { setImmediate } from "node:timers/promises";
import { isAppError } from "@platform/endpoint/contract/app-error";
import { parseJson, validator } from "@platform/endpoint/read-input";
import { measureJson } from "@platform/kit/measure-json";
import { unifiedDiffOfFiles } from "@platform/kit/unified-diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contracts } from "@/lib/openapi/registry.ts";
import { readMessages, titleOf } from "@/lib/turns/read-messages.ts";
import { expectNoStall } from "../support/harness/stall.ts";

const MIB = 1024 * 1024;
const fill = (text: string, length: number): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);
const listOf = (item: string, count: number): string =>
  `[${Array(Math.floor(count)).fill(item).join(",")}]`;

/** Bytes of a body that allow for one value. */
const BYTES_PER_VALUE = 40;
/** Of each kind a few, or all with `SOAK=1`. */
const isSoak = process.env.SOAK === "1";
const items = isSoak
  ? ["1", "{}", '""', '"a@b.cd"', "[]", "null", '{"id":"a"}']
  : ['"a@b.cd"', '{"id":"a"}'];
const texts = isSoak ? ["a", "a@", "https://a.", "%", "\u00e9."] : ["a@", "\u00e9."];

const withBody = contracts.flatMap((contract) =>
  contract.body ? [[`${contract.method} ${contract.path}`, contract] as const] : [],
);

describe.each(withBody)("%s answers at once", (_, contract) => {
  const validate = validator(contract);
  const limit = contract.bodyLimit ?? MIB;
  /** As many as a body may have, less some for what surrounds them. */
  const most = limit / BYTES_PER_VALUE - 100;
  const names = Object.keys(Object(contract.body).shape ?? {});
  const answer = (text: string) => {
    const body = parseJson(text, limit);
    if (isAppError(body)) return body;
    return validate({ params: undefined, query: undefined, body: body.value });
  };

  /** One after the other, so the longest stall belongs to one body. */
  const answerEach = (bodies: readonly string[]) =>
    expectNoStall(async () => {
      for (const body of bodies) {
        answer(body);
        await setImmediate();
      }
    });

  test("a list in place of any field", async () => {
    const bodies = names.flatMap((name) =>
      items.map((item) => {
        const isPair = item === "[]" || item === "{}" || item.includes(":");
        return `{"${name}":${listOf(item, isPair ? most / 2 : most)}}`;
      }),
    );
    await answerEach(bodies);
  });

  test("unknown keys, and a value of a body's length", async () => {
    const keys = Array.from({ length: Math.floor(most) }, (_, place) => `"k${place}":1`);
    await answerEach([
      `{${keys.join(",")}}`,
      ...names.flatMap((name) => texts.map((text) => `{"${name}":"${fill(text, limit / 2)}"}`)),
    ]);
  });

  test("more values than any body has are refused before they are looked at", () => {
    const refused = answer(`{"a":${fill("[],", 600_000)}1]}`);
    expect(refused).toMatchObject({
      message: expect.stringMatching(/must have at most \d+ values$/),
    });
  });
});

describe("messages", () => {
  const message = (parts: string, place = 0) => `{"id":"m${place}","parts":${parts}}`;
  const chat = contracts.find(({ path, method }) => method === "POST" && path === "/api/chat");
  const validate = chat && validator(chat);
  const check = (text: string) => {
    const body = parseJson(`{"messages":${text}}`, 4 * MIB);
    return isAppError(body)
      ? body
      : validate?.({ params: undefined, query: undefined, body: body.value });
  };

  test.each(["1", "null", "[]", "{}", '{"type":1}'])("of wrong parts: %s", async (part) => {
    const text = `[${Array.from({ length: part.length > 1 && part !== "null" ? 5 : 9 }, (_, place) => message(listOf(part, 9_999), place)).join(",")}]`;
    await expectNoStall(() => check(text));
    expect(check(text)).toMatchObject({
      fields: expect.arrayContaining([expect.stringMatching(/^messages\.0\.parts\.0/)]),
    });
  });

  test.each<[string, { type: string; [field: string]: unknown }]>([
    ["texts", { type: "text", text: "a" }],
    ["texts without a text", { type: "text" }],
    ["unknown kinds", { type: "x" }],
    [
      "results",
      { type: "tool-bash", toolCallId: "1", state: "output-available", input: {}, output: {} },
    ],
    ["results of no kind", { type: "tool-bash" }],
    ["files", { type: "file", mediaType: "image/png", url: `data:,${fill("a", 300)}` }],
  ])("of ten thousand %s", async (_, part) => {
    const parts = Array.from({ length: 10_000 }, () => part);
    await expectNoStall(() => readMessages([{ id: "m", role: "user", parts }]));
  });

  test("a thousand of them, the last one wrong", async () => {
    const entries = Array.from({ length: 1_000 }, (_, place) => ({
      id: `m${place}`,
      role: "user" as const,
      parts: [place === 999 ? { type: "x" } : { type: "text", text: "a" }],
    }));
    await expectNoStall(() => readMessages(entries));
    expect(await readMessages(entries)).toMatchObject({
      message: "messages.999.parts must be valid UI message parts",
    });
  });

  test("a title of a text of megabytes", async () => {
    for (const text of [fill("a b ", 4 * MIB), fill("\u{1f3b5}", 4 * MIB), fill(" ", 4 * MIB)]) {
      const parts = [{ type: "text" as const, text }];
      await expectNoStall(() => titleOf([{ id: "m", role: "user", parts }]));
    }
  });
});

test("what is measured of JSON is what is there", () => {
  const depthOf = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
      : 0;
  const countOf = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce((sum: number, inner) => sum + countOf(inner), 1)
      : 1;
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { depth, values } = measureJson(JSON.stringify(value));
      expect(depth).toBe(depthOf(value));
      expect(2 * values).toBeGreaterThanOrEqual(countOf(value));
      expect(values).toBeLessThanOrEqual(2 * countOf(value));
    }),
  );
});

test("a new version of a skill, all of whose files have other lines", async () => {
  const line = { path: "z.md", text: "as before\nnew" };
  const files = (word: string, lines: number) =>
    Array.from({ length: 99 }, (_, place) => ({
      path: `${place}.md`,
      text: Array.from({ length: lines }, (_, number) => `${word}${number}`).join("\n"),
    }));
  for (const lines of [400, 1_500]) {
    const before = [...files("a", lines), { path: "z.md", text: "as before" }];
    const after = [...files("b", lines), line];
    await expectNoStall(() => unifiedDiffOfFiles(before, after));
    const diff = unifiedDiffOfFiles(before, after);
    expect(diff).toContain("+++ b/98.md\nThe file is replaced.");
    expect(diff.endsWith("\n+new\n\\ No newline at end of file\n")).toBe(true);
  }
});
