/** The characters of a name that no one sees, or that reorder the text around them. */

/** Scripts whose letters are never joined. */
const UNJOINED = ["Latin", "Greek", "Cyrillic", "Hebrew", "Han", "Hiragana", "Katakana", "Hangul"];
const LETTER = `(?!${UNJOINED.map((name) => `\\p{Script=${name}}`).join("|")})[\\p{L}\\p{M}]`;
const TAGS = ["gbeng", "gbsct", "gbwls"].map((region) =>
  [...region, "\x7f"].map((tag) => `\\u{e00${tag.charCodeAt(0).toString(16)}}`).join(""),
);
/** Characters that scripts and emoji need: joiners, one variant of a character, three flags. */
const NEEDED = [
  `(?<=${LETTER})[\\u200c\\u200d](?=${LETTER})`,
  "(?<=[\\p{ExtPict}\\p{Emoji_Modifier}]\\ufe0f?)\\u200d(?=\\p{ExtPict})",
  "(?<=[\\p{L}\\p{S}\\p{Emoji}])\\p{Variation_Selector}",
  `(?<=\\u{1f3f4})(?:${TAGS.join("|")})`,
].join("|");
/** Besides formats and characters that fonts ignore, the blank pattern of Braille. */
const HIDDEN = "[\\p{Cf}\\p{DI}\\p{Zl}\\p{Zp}\\u2800]";

const HIDING = new RegExp(`${NEEDED}|(${HIDDEN})`, "gu");
const UNSEEN = new RegExp(`${NEEDED}|(${HIDDEN}|\\p{Cc})`, "gu");

/** Returns whether a name has characters that are invisible or change the direction of the text around them. */
export const hidesCharacters = (name: string): boolean => withoutHidden(name) !== name;

/** Returns a name with such characters, and control characters, as escapes: `inv\u202efdp.html`. */
export const visibleName = (name: string): string =>
  name.replace(UNSEEN, (whole, hidden) => (hidden === undefined ? whole : escapeOf(whole)));

/** Returns a name without such characters. */
export const withoutHidden = (name: string): string =>
  name.replace(HIDING, (whole, hidden) => (hidden === undefined ? whole : ""));

function escapeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}
