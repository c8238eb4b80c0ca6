import { memo } from "react";
import { type CodeLine, kinds } from "./languages.ts";
import "./code.css";

/** A text whose first lines are highlighted, as far as `lines` match them. */
export function CodeLines({ text, lines }: Readonly<{ text: string; lines: readonly CodeLine[] }>) {
  const rows = text.split("\n");
  const misfit = rows.findIndex((row, index) => row !== textOf(lines[index]));
  const count = misfit < 0 ? rows.length : misfit;
  return (
    <>
      {lines.slice(0, count).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its position
        <Line key={index} line={line} isLast={index === rows.length - 1} />
      ))}
      {rows.slice(count).join("\n")}
    </>
  );
}

const textOf = (line: CodeLine | undefined): string | undefined =>
  line?.map(([piece]) => piece).join("");

const Line = memo(function Line({ line, isLast }: Readonly<{ line: CodeLine; isLast: boolean }>) {
  return (
    <span>
      {line.map(([piece, kind], index) =>
        kind === 0 ? (
          piece
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never change
          <span key={index} className={`code-${kinds[kind]}`}>
            {piece}
          </span>
        ),
      )}
      {isLast ? "" : "\n"}
    </span>
  );
});
