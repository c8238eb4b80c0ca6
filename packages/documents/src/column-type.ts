/** Finds out the type of a column. A text that would lose anything as a number stays a text. */

export interface ColumnType {
  readonly format?: string;
  readonly toNumber: (text: string) => number;
}

/** Longer whole numbers are ids, such as a UPC, and Excel would show them in scientific notation. */
const MAX_PLAIN_DIGITS = 11;
/** The digits that a number of Excel keeps. */
const MAX_DIGITS = 15;
const FIRST_DAY = "1900-03-01";
const DAY_MS = 86_400_000;

/** Headers of columns whose digits are not amounts. */
const ID_HEADER =
  /(?<![\p{L}\d])(?:upc|ean|gtin|barcode|isrc|iswc|ipi|isni|iban|phone|telephone|tel|mobile|fax|zip|postcode|plz|sku|id)(?![\p{L}\d])/iu;
const UNIT =
  "[€$£¥]|USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|INR|KRW|CNY|ZAR|SGD|HKD|TRY|ILS";
const AMOUNT = new RegExp(
  `^(?<sign>-?)(?:(?<prefix>${UNIT})(?<gap>\\s?))?(?<inner>-?)(?<digits>\\d[\\d.,]*)(?:(?<blank>\\s?)(?<suffix>${UNIT}|%))?$`,
);
const WITH_POINT = /^(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/;
const WITH_COMMA = /^(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?$/;

/** Returns the type that all texts of a column have; null for texts. */
export function columnTypeOf(texts: readonly string[], header = ""): ColumnType | null {
  const [first] = texts;
  if (first === undefined || ID_HEADER.test(header)) return null;
  if (texts.every((text) => !Number.isNaN(dayOf(text)))) {
    return { format: "yyyy-mm-dd", toNumber: dayOf };
  }
  const { prefix = "", gap = "", blank = "", suffix = "" } = AMOUNT.exec(first)?.groups ?? {};
  const numbers: string[] = [];
  for (const text of texts) {
    const found = AMOUNT.exec(text)?.groups;
    const { sign = "", inner = "", digits = "" } = found ?? {};
    const isAlike = (found?.prefix ?? "") === prefix && (found?.suffix ?? "") === suffix;
    if (!found || !isAlike || (prefix && suffix) || (sign && inner)) return null;
    if (digits.replace(/\D/g, "").length > MAX_DIGITS || (sign + inner && !/[1-9]/.test(digits))) {
      return null;
    }
    numbers.push(digits);
  }
  const unit = prefix || suffix;
  const has = (pattern: RegExp) => numbers.some((digits) => pattern.test(digits));
  const isPoint = numbers.every((digits) => WITH_POINT.test(digits));
  const isComma = (unit || has(/,/)) && numbers.every((digits) => WITH_COMMA.test(digits));
  // `1,234 €` alone can be two numbers.
  if (isPoint === Boolean(isComma) && (!isPoint || has(/[.,]/))) return null;
  const groups = isPoint ? "," : ".";
  const places = numbers.map((digits) => digits.split(isPoint ? "." : ",")[1]?.length ?? 0);
  const isGrouped =
    unit !== "%" && (unit !== "" || numbers.some((digits) => digits.includes(groups)));
  if (!isGrouped && has(new RegExp(`^\\d{${MAX_PLAIN_DIGITS + 1}}`))) return null;
  const most = places.reduce((one, other) => Math.max(one, other));
  const toNumber = (text: string): number => {
    const plain = text
      .replace(/[^\d.,-]/g, "")
      .replaceAll(groups, "")
      .replace(",", ".");
    return Number(unit === "%" ? `${plain}e-2` : plain);
  };
  // Numbers of several lengths are shown as they are.
  if (!isGrouped && !unit && (most === 0 || places.some((count) => count !== most))) {
    return { toNumber };
  }
  const pattern = `${isGrouped ? "#,##0" : "0"}${most > 0 ? `.${"0".repeat(most)}` : ""}`;
  const space = gap || blank ? "\\ " : "";
  if (unit === "%") return { format: `${pattern}${space}%`, toNumber };
  if (!unit) return { format: pattern, toNumber };
  return {
    format: prefix ? `"${prefix}"${space}${pattern}` : `${pattern}${space}"${suffix}"`,
    toNumber,
  };
}

/** Returns the number of a day such as `2026-01-31`; NaN for any other text. */
function dayOf(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) && text >= FIRST_DAY ? Date.parse(text) : Number.NaN;
  // JavaScript takes 30 February for 2 March.
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
  return isDay ? (ms - Date.UTC(1899, 11, 30)) / DAY_MS : Number.NaN;
}
