import { memo, useEffect, useRef, useState } from "react";
import { loadModule } from "../../_load/load-module.ts";
import { cn } from "../../_ui/class-names.ts";

/** Longer sources are shown as they are written, because drawing one must not hold up a frame. */
const MAX_LENGTH = 2_000;

interface FormulaProps {
  readonly source: string;
  readonly isDisplay: boolean;
  /** False while the source still grows. */
  readonly isComplete: boolean;
}

/** A formula. Its source is shown until KaTeX is loaded, and when it cannot be drawn. */
export const Formula = memo(function Formula({ source, isDisplay, isComplete }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    if (!isComplete || source.length > MAX_LENGTH) return;
    const left = new AbortController();
    drawInTurn((drawFormula) => {
      const drawing = document.createElement("span");
      drawFormula(source, isDisplay, drawing);
      place.current?.replaceChildren(drawing);
      setDrawn(true);
    }, left.signal);
    return () => {
      left.abort();
      setDrawn(false);
    };
  }, [source, isDisplay, isComplete]);
  return (
    <>
      {!isDrawn && (
        <code
          className={cn(
            "rounded bg-muted px-1 py-0.5 font-mono text-[0.92em] whitespace-pre-wrap",
            isDisplay && "block px-3 py-2",
          )}
        >
          {source}
        </code>
      )}
      <span
        ref={place}
        hidden={!isDrawn}
        {...(isDisplay && displayed)}
        className={cn(
          isDisplay && "overflow-x-auto overflow-y-hidden py-0.5",
          isDisplay && isDrawn && "block",
        )}
      />
    </>
  );
});

/** The keyboard must be able to scroll a wide formula. */
const displayed = { role: "group", "aria-label": "Formula", tabIndex: 0 };

type Draw = (drawFormula: typeof import("./katex.ts").drawFormula) => void;

/** Formulas are drawn one after the other, in tasks that are short enough not to hold up a frame. */
const TASK_MS = 8;

let turn: Promise<unknown> = Promise.resolve();
let taskEnd = 0;

/** Returns a function that cancels it. If `draw` throws, the source stays visible. */
function drawInTurn(draw: Draw, signal: AbortSignal): void {
  const work = async () => {
    if (signal.aborted) return;
    const { drawFormula } = await loadModule(() => import("./katex.ts"));
    if (performance.now() >= taskEnd) {
      await new Promise((resolve) => setTimeout(resolve));
      taskEnd = performance.now() + TASK_MS;
    }
    if (!signal.aborted) draw(drawFormula);
  };
  turn = turn.then(work).catch(() => {});
}
