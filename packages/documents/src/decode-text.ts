import { isUtf8 } from "node:buffer";

/** The encoding is such as `UTF-16LE` or `windows-1252, guessed`. */
type DecodedText = { readonly text: string; readonly encoding: string };

/** The sample of a file that distinguishes text from binary data. */
const SAMPLE_BYTES = 64 * 1024;
/** Of a text, to guess its encoding: each encoding is tried. */
const GUESSED_BYTES = 8 * 1024;
/** A text in UTF-8 with some damage has more whole characters than broken ones. */
const WHOLE_FOR_EACH_BROKEN = 5;

/** Returns the text of a file in another common encoding than UTF-8, empty for UTF-8; null for a binary file. */
export function decodeText(bytes: Uint8Array): Partial<DecodedText> | null {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  if (mark === "fffe" || mark === "feff") {
    const wide = mark === "fffe" ? "utf-16le" : "utf-16be";
    const text = decode(wide, bytes);
    const isText = text !== null && !hasControls(Buffer.from(text.slice(0, SAMPLE_BYTES)));
    return isText ? decodedAs(wide.toUpperCase(), text) : null;
  }
  if (bytes.includes(0)) return null;
  if (isUtf8(bytes)) return {};
  if (hasControls(sample)) return null;
  const damaged = new TextDecoder().decode(bytes);
  const broken = unitsIn(damaged, (code) => code === 0xfffd);
  const whole = unitsIn(damaged, (code) => code > 0x7f) - broken;
  if (whole > broken * WHOLE_FOR_EACH_BROKEN) {
    return decodedAs(`UTF-8 with ${broken} invalid bytes, shown as \ufffd`, damaged);
  }
  const encoding = guess(bytes);
  if (encoding === null) return null;
  return decodedAs(`${encoding}, guessed`, new TextDecoder(encoding).decode(bytes));
}

/** Old programs for the Mac end lines with a carriage return alone. */
const decodedAs = (encoding: string, text: string): DecodedText => ({
  encoding,
  text: text.includes("\n") ? text : text.replaceAll("\r", "\n"),
});

/** Counts UTF-16 code units without an array of them, of which a hostile text has millions. */
function unitsIn(text: string, isCounted: (code: number) => boolean): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) if (isCounted(text.charCodeAt(at))) count++;
  return count;
}

const hasControls = (bytes: Uint8Array): boolean =>
  bytes.some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20));

/** Returns null for invalid bytes, and for an unknown encoding. */
export function decode(encoding: string, bytes: Uint8Array, isCut = false): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    return null;
  }
}

/** Returns the encoding in which the bytes look most like written text; null if none does. */
function guess(bytes: Uint8Array): string | null {
  const start = Math.max(0, bytes.findIndex((byte) => byte > 0x7f) - GUESSED_BYTES / 2);
  const sample = bytes.subarray(start, start + GUESSED_BYTES);
  // The second byte of a pair is an ASCII letter in Big5, and not in GB 2312.
  const pairs =
    Buffer.from(sample)
      .toString("latin1")
      .match(/[\x81-\xfe][\x40-\xfe]/g) ?? [];
  const chinese = pairs.some((pair) => pair.charCodeAt(1) < 0x7f) ? "big5" : "gb18030";
  // The most frequent first: it is taken of several that are as likely.
  const single = ["windows-1252", "macintosh", "windows-1250", "iso-8859-2", "windows-1251"];
  const all = [...single, "koi8-r", "windows-1253", "shift_jis", chinese, "euc-kr", "euc-jp"];
  const likely = all.flatMap((encoding) => {
    const text = decode(encoding, sample, true);
    return text === null ? [] : [{ encoding, score: plausibility(text) }];
  });
  return likely.sort((one, other) => other.score - one.score)[0]?.encoding ?? null;
}

const LETTER = /\p{L}/u;
const WESTERN = /[äöüßéèêëàâáãåæøçñôóõîíïúûù]/iu;
const CENTRAL = /[ąęłśżźćńčřěšžůőűťď]/iu;
const SIGNS = /[€£“”„‘’«»–—…•°§©®™´¿¡\u00a0\u3000-\u303f\uff00-\uff60]/u;
const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Hangul}/u,
];
const scriptOf = (char: string): number => SCRIPTS.findIndex((script) => script.test(char));

/** Returns a number that is high if words have one script and a usual case, and if signs stand outside of them. */
function plausibility(text: string): number {
  let score = 0;
  const hasKana = /[\u3041-\u30fa]/.test(text);
  for (const { 0: char, index } of text.matchAll(/[^\0-\x7f]/g)) {
    const [before = " ", after = " "] = [text[index - 1], text[index + 1]];
    const neighbors = [before, after].filter((each) => LETTER.test(each));
    if (/[\x80-\x9f\ufffd\ue000-\uf8ff\uff61-\uff9f]/.test(char)) score -= 3;
    else if (!LETTER.test(char) || /[ªºˆﬁﬂ]/.test(char)) {
      const isInside = neighbors.length === 2 && !/[’·\u3000-\u303f]/.test(char);
      score += isInside ? -2 : SIGNS.test(char) ? 1.5 : -1;
    } else {
      const script = scriptOf(char);
      if (neighbors.some((each) => scriptOf(each) !== script)) score -= 3;
      if (script !== 0) {
        // A character of two bytes stands for two of one byte. Japanese has kana.
        score += script === 3 ? 2.2 : script > 0 ? 1 : hasKana ? 2.1 : 2;
        if (/\p{Lu}/u.test(char) && /\p{Ll}/u.test(before)) score -= 2;
        continue;
      }
      score += WESTERN.test(char) ? 1.5 : CENTRAL.test(char) ? 1.2 : 0.5;
      if (before > "\x7f" && LETTER.test(before)) score -= 1;
      const isLowerBefore = /\p{Ll}/u.test(before);
      if (/\p{Lu}/u.test(char) && (isLowerBefore || neighbors.length === 0)) score -= 2;
    }
  }
  return score;
}
