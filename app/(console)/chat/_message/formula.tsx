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
    const cancel = drawInTurn((drawFormula) => {
      const drawing = document.createElement("span");
      drawFormula(source, isDisplay, drawing);
      place.current?.replaceChildren(drawing);
      setDrawn(true);
    });
    return () => {
      cancel();
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

type DrawFormula = typeof import("./katex.ts").drawFormula;
type Draw = (drawFormula: DrawFormula) => void;

/** Formulas are drawn one after the other, in tasks that are short enough not to hold up a frame. */
const TASK_MS = 8;

const waiting = new Set<Draw>();
let isWorking = false;

/** Returns a function that cancels it. If `draw` throws, the source stays visible. */
function drawInTurn(draw: Draw): () => void {
  waiting.add(draw);
  if (!isWorking) void work();
  return () => waiting.delete(draw);
}

async function work(): Promise<void> {
  isWorking = true;
  try {
    const { drawFormula } = await loadModule(() => import("./katex.ts"));
    let end = performance.now() + TASK_MS;
    for (const draw of waiting) {
      waiting.delete(draw);
      try {
        draw(drawFormula);
      } catch {
        // The source is not TeX that KaTeX knows, or exceeds a bound.
      }
      if (performance.now() < end) continue;
      await new Promise((resolve) => setTimeout(resolve));
      end = performance.now() + TASK_MS;
    }
  } catch {
    // KaTeX could not be loaded: the next formula tries it again.
    waiting.clear();
  }
  isWorking = false;
}
