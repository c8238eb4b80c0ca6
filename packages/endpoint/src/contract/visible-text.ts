/**
 * Text of others as a person reads it before deciding on it: nothing in it is invisible, reorders what stands around
 * it, or pushes the rest out of sight.
 *
 * Writes invisible characters between angle brackets: `⟨U+202E⟩`, `⟨1,997 blanks⟩`, `⟨12 line breaks⟩`,
 * `⟨3,000 characters left out⟩`. A `⟨` of the text is `⟨U+27E8⟩`, so no text can imitate such a mark.
 */

/** A part of a text as it is shown. */
export interface VisiblePiece {
  readonly shown: string;
  /** Whether it stands for characters that cannot be seen. */
  readonly isMark: boolean;
  /** How many characters of the text it stands for, in UTF-16 code units. */
  readonly chars: number;
}

/**
 * In this order: emoji, which stay; what cannot be seen, or can be taken for a blank; marks that pile up on a letter;
 * line breaks and blanks that go on for long.
 */
const PARTS =
  /((?=[\p{Extended_Pictographic}\p{Regional_Indicator}])\p{RGI_Emoji})|([[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[ \t\n]]+|⟨+|(?<=\p{M}{4})\p{M}+)|((?:[ \t]*\n){4,}[ \t]*|[ \t]{17,})/gv;

const MAX_LISTED = 8;
const MAX_VALUE_CHARS = 2_000;
/** Each half that is searched for the beginning and the end of a text. */
const MAX_SEARCHED_CHARS = 8_000;

const numbers = new Intl.NumberFormat("en");
const count = (number: number, noun: string) => `${numbers.format(number)} ${noun}`;

function markOf(hidden: string): string {
  const names = Array.from(hidden, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return `U+${code}`;
  });
  const more = names.length - MAX_LISTED;
  return `⟨${names.slice(0, MAX_LISTED).join(" ")}${more > 0 ? ` and ${count(more, "more")}` : ""}⟩`;
}

function markOfBlanks(blanks: string): string {
  const breaks = blanks.split("\n").length - 1;
  return breaks > 0 ? `⟨${count(breaks, "line breaks")}⟩` : `⟨${count(blanks.length, "blanks")}⟩`;
}

/** Returns the pieces of a text, in its order. */
export function visiblePieces(text: string): VisiblePiece[] {
  const pieces: VisiblePiece[] = [];
  const add = (shown: string, isMark: boolean, chars: number) => {
    const last = pieces.at(-1);
    if (chars === 0) return;
    if (isMark || !last || last.isMark) pieces.push({ shown, isMark, chars });
    else
      pieces[pieces.length - 1] = { ...last, shown: last.shown + shown, chars: last.chars + chars };
  };
  let end = 0;
  for (const { 0: found, 1: emoji, 2: hidden, index } of text.matchAll(PARTS)) {
    add(text.slice(end, index), false, index - end);
    end = index + found.length;
    if (emoji !== undefined) add(found, false, found.length);
    else add(hidden === undefined ? markOfBlanks(found) : markOf(found), true, found.length);
  }
  add(text.slice(end), false, text.length - end);
  return pieces;
}

const join = (pieces: readonly VisiblePiece[]) => pieces.map(({ shown }) => shown).join("");

export const visibleText = (text: string): string => join(visiblePieces(text));

/** How many characters of a text cannot be seen, in UTF-16 code units. Blanks are not counted. */
export const countInvisible = (text: string): number =>
  [...text.matchAll(PARTS)].reduce(
    (sum, [, , hidden = ""]) => sum + hidden.replace(/[⟨\p{Zs}]/gu, "").length,
    0,
  );

/**
 * Returns the visible text of a value: if it is long, about three quarters of `maxChars` of its beginning and one
 * of its end, with the number of characters between them.
 */
export function visibleExcerpt(
  text: string,
  maxChars = MAX_VALUE_CHARS,
): { readonly value: string; readonly is_cut?: true } {
  const isSearched = text.length <= 2 * MAX_SEARCHED_CHARS;
  const pieces = visiblePieces(isSearched ? text : text.slice(0, MAX_SEARCHED_CHARS));
  const whole = join(pieces);
  if (isSearched && whole.length <= maxChars) return { value: whole };
  const ofTail = Math.floor(maxChars / 4);
  const head = takePieces(pieces, maxChars - ofTail, false);
  const last = isSearched ? pieces : visiblePieces(text.slice(-MAX_SEARCHED_CHARS));
  const tail = takePieces([...last].reverse(), ofTail, true);
  const omitted = count(text.length - head.chars - tail.chars, "characters left out");
  return { value: `${head.shown}⟨${omitted}⟩${tail.shown}`, is_cut: true };
}

/** Returns the first of the pieces, at most as many characters, without a half of one. */
function takePieces(pieces: readonly VisiblePiece[], maxChars: number, isFromEnd: boolean) {
  const taken: string[] = [];
  let [room, chars] = [maxChars, 0];
  for (const piece of pieces) {
    if (piece.shown.length <= room) {
      taken.push(piece.shown);
      room -= piece.shown.length;
      chars += piece.chars;
      continue;
    }
    if (piece.isMark || room === 0) break;
    const part = isFromEnd
      ? piece.shown.slice(-room).replace(/^[\uDC00-\uDFFF]/, "")
      : piece.shown.slice(0, room).replace(/[\uD800-\uDBFF]$/, "");
    taken.push(part);
    chars += part.length;
    break;
  }
  return { shown: (isFromEnd ? taken.reverse() : taken).join(""), chars };
}

/** Scripts with letters that look like letters of the others. */
const LOOKALIKES = ["Latin", "Greek", "Cyrillic", "Armenian", "Cherokee", "Coptic"].map(
  (script) => [script, new RegExp(`\\p{Script=${script}}`, "u")] as const,
);
const MAX_NAMED = 3;
const MAX_NAMED_CHARS = 80;

/**
 * Returns a warning of words that look like others, because they have letters of two scripts or letters of another
 * form (`ｂ`, `𝐛`); null for none.
 *
 * @param isAddress whether the whole text is of addresses; otherwise only words count that look like one
 */
export function warnOfLookalikes(text: string, isAddress: boolean): string | null {
  const words = text.slice(0, MAX_SEARCHED_CHARS).match(/[^\s<>()[\]{}"'`,;=/\\|]+/g);
  const named = new Map<string, string>();
  for (const word of new Set(words)) {
    if (/^\p{ASCII}*$/u.test(word) || (!isAddress && !/[@.:]/.test(word))) continue;
    const letters = word.replace(/[^\p{L}\p{N}]/gu, "").normalize("NFC");
    const scripts = LOOKALIKES.filter(([, ofScript]) => ofScript.test(letters));
    if (scripts.length < 2 && letters === letters.normalize("NFKC")) continue;
    const reason =
      scripts.length < 2
        ? "of an unusual form"
        : `of ${scripts.map(([name]) => name).join(" and ")}`;
    named.set(visibleText(word.slice(0, MAX_NAMED_CHARS)), `letters ${reason}`);
    if (named.size === MAX_NAMED) break;
  }
  const found = [...named].map(([word, reason]) => `“${word}” has ${reason}`);
  return found.length > 0 ? found.join("; ") : null;
}

/** Characters with which text hides as text: each stands for an ASCII character, and none is drawn. */
const TAGS = /(\p{RGI_Emoji_Tag_Sequence})|[\u{E0000}-\u{E007F}]/gv;

/** Returns whether a text has tag characters (U+E0000 to U+E007F) outside of the emoji of a flag. */
export const hasTags = (text: string): boolean =>
  [...text.matchAll(TAGS)].some(([, flag]) => flag === undefined);
