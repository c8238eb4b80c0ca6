/** Draws formulas one after the other, in tasks that are short enough not to hold up a frame. */
import { loadModule } from "../../_load/load-module.ts";

type DrawFormula = typeof import("./katex.ts").drawFormula;
type Draw = (drawFormula: DrawFormula) => void;

const TASK_MS = 8;

const waiting = new Set<Draw>();
let isWorking = false;

/** Returns a function that cancels it. What `draw` throws leaves the source shown. */
export function drawInTurn(draw: Draw): () => void {
  waiting.add(draw);
  if (!isWorking) void work();
  return () => waiting.delete(draw);
}

async function work(): Promise<void> {
  isWorking = true;
  try {
    const { drawFormula } = await loadModule(() => import("./katex.ts"));
    while (waiting.size > 0) {
      drawSome(drawFormula);
      await new Promise((resolve) => setTimeout(resolve));
    }
  } catch {
    // KaTeX could not be loaded: the next formula tries it again.
    waiting.clear();
  }
  isWorking = false;
}

function drawSome(drawFormula: DrawFormula): void {
  const end = performance.now() + TASK_MS;
  for (const draw of waiting) {
    waiting.delete(draw);
    try {
      draw(drawFormula);
    } catch {
      // The source is not TeX that KaTeX knows, or exceeds a bound.
    }
    if (performance.now() > end) return;
  }
}
