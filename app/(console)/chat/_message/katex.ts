import katex from "katex";
import "katex/dist/katex.min.css";

/**
 * Draws a formula into an element. The source is untrusted: no links, images or attributes, and bounds for
 * what macros and sizes may become.
 * @throws Error when the source is not well-formed or exceeds a bound
 */
export function drawFormula(source: string, isDisplay: boolean, element: HTMLElement): void {
  katex.render(source, element, {
    displayMode: isDisplay,
    throwOnError: true,
    trust: false,
    strict: false,
    maxExpand: 500,
    maxSize: 20,
    errorColor: "inherit",
  });
}
