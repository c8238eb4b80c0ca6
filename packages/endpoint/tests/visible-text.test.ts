import { describe, expect, it, test } from "vitest";
import {
  countInvisible,
  hasTags,
  visibleExcerpt,
  visibleText,
  warnOfLookalikes,
} from "../src/contract/visible-text.ts";
import { hiddenTexts, isVisible, readVisible, withCountedBlanks } from "./hidden-texts.ts";

const name = (text: string) => JSON.stringify(text.slice(0, 40));

describe("the visible text", () => {
  test.each(hiddenTexts.map((text) => [name(text), text]))("of %s can be read back", (_, text) => {
    expect(isVisible(visibleText(text))).toBe(true);
    if (!/x{100}|\u0301{9}|(?:\u202ex){9}/.test(text))
      expect(readVisible(visibleText(text))).toBe(withCountedBlanks(text));
  });

  it.each([
    ["plain\n\ttext   with — “signs”, 日本語, हिन्दी and café", null],
    ["a\u{e0041}\u200bb", "a⟨U+E0041 U+200B⟩b"],
    ["x".repeat(16), null],
    [`${" ".repeat(16)}x`, null],
    [`${" ".repeat(17)}x`, "⟨17 blanks⟩x"],
    ["a\n\n\nb", null],
    ["a\n \n\t\n\nb", "a⟨4 line breaks⟩b"],
    ["\u200b".repeat(1_000), `⟨${"U+200B ".repeat(8)}and 992 more⟩`],
    ["1\ufe0f", "1⟨U+FE0F⟩"],
    ["\ud800a", "⟨U+D800⟩a"],
  ])("of %j", (text, visible) => {
    expect(visibleText(text)).toBe(visible ?? text);
  });

  it("says how many characters a part that is left out has, and never halves one", () => {
    for (const unit of ["x", "😀", "\u202ex", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]) {
      for (const times of [1_000, 9_001]) {
        const text = `begin ${unit.repeat(times)} end`;
        const { value, is_cut } = visibleExcerpt(text);
        const whole = visibleText(text);
        expect(is_cut).toBe(whole.length > 2_000 ? true : undefined);
        if (!is_cut) continue;
        expect(value.isWellFormed()).toBe(true);
        const [, head = "", omitted = "", tail = ""] =
          /^(.*)⟨([\d,]+) characters left out⟩(.*)$/u.exec(value) ?? [];
        const read = readVisible(head) + readVisible(tail);
        expect(read.length + Number(omitted.replaceAll(",", ""))).toBe(text.length);
        expect(text.startsWith(readVisible(head))).toBe(true);
        expect(text.endsWith(readVisible(tail))).toBe(true);
      }
    }
  });

  it("counts invisible characters, but no blanks and no emoji", () => {
    expect(countInvisible("a\u{e0041}\u200b ⟨x⟩ \u00a0 👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿")).toBe(3);
  });
});

test("tag characters are found, except in flags", () => {
  expect(["🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿", "plain", "👨‍👩‍👧"].map(hasTags)).toEqual([false, false, false]);
  const inFlag = "🏴\u{e0072}\u{e006d}\u{e007f}";
  expect(["a\u{e0041}", inFlag, "🏴󠁧󠁢󠁥󠁮󠁧󠁿\u{e0041}", "\u{e0001}"].map(hasTags)).not.toContain(false);
});

test.each([
  [
    "bob@ex\u0430mple.com, Иван <ivan@example.com>",
    true,
    /“bob@ex\u0430mple.com” has letters of Latin and Cyrillic/,
  ],
  ["see https://g\u03bfogle.com/x", false, /“g\u03bfogle.com” has letters of Latin and Greek/],
  ["see https://\uff47oogle.com/x", false, /of an unusual form/],
  ["p\u0430ypal", true, /Latin and Cyrillic/],
  ["T-shirt\u043e\u043c, p\u0430ypal", false, null],
  ["Иван, Ελένη, 田中 <tanaka@example.jp>, café@example.fr, cafe\u0301.fr", true, null],
  ["пример.рф", true, null],
])("%j: whether it is taken for another", (text, isAddress, warning) => {
  const found = warnOfLookalikes(text, isAddress);
  if (warning === null) expect(found).toBeNull();
  else expect(found).toMatch(warning);
});
