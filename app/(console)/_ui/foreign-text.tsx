import { countInvisible, visiblePieces } from "@platform/endpoint/contract/visible-text";
import { useMemo } from "react";
import { keyed } from "./keyed.ts";

/** Letters of right-to-left scripts, with the blanks and marks between them. */
const RIGHT_TO_LEFT =
  /([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}](?:[ \p{M}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}])*)/u;
/**
 * Matches only marks that the service writes. A request made before it wrote out hidden characters
 * may contain other brackets.
 */
const MARK = /(⟨[\w+, ]*⟩)/;

interface ForeignTextProps {
  readonly text: string;
  /** Whether the service has already written out what cannot be seen. */
  readonly isWrittenOut?: boolean;
}

/**
 * Untrusted text that a person decides on. Invisible characters are written out and colored, and
 * right-to-left words are isolated, so nothing in the text can move its surroundings.
 */
export function ForeignText({ text, isWrittenOut = false }: ForeignTextProps) {
  const pieces = useMemo(() => {
    const parts = isWrittenOut ? text.split(MARK) : [text];
    return parts.flatMap((part, index) =>
      index % 2 === 1 ? { shown: part, isMark: true } : visiblePieces(part),
    );
  }, [text, isWrittenOut]);
  return (
    <bdi dir="ltr">
      {keyed(pieces).map(({ key, item: { shown, isMark } }) =>
        isMark ? (
          <span key={key} className="rounded-xs bg-warning-soft text-warning-text">
            {shown}
          </span>
        ) : (
          keyed(shown.split(RIGHT_TO_LEFT)).map(({ key: place, item }, index) =>
            index % 2 === 1 ? <bdi key={`${key} ${place}`}>{item}</bdi> : item,
          )
        ),
      )}
    </bdi>
  );
}

/** Says how many characters of a text cannot be seen, if there are any. */
export function InvisibleCount({ text }: { readonly text: string }) {
  const count = countInvisible(text);
  if (count === 0) return null;
  return (
    <p className="font-medium text-warning-text">
      {count.toLocaleString("en")} invisible {count === 1 ? "character" : "characters"}
    </p>
  );
}
