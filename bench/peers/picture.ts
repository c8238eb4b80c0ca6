/** Draws the table as horizontal bars: an SVG that reads on a light and on a dark page. */
export interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly { readonly name: string; readonly value: number | undefined }[];
}

const WIDTH = 760;
const NAMES = 170;
const ROW = 22;
const HEAD = 34;
const BARS = WIDTH - NAMES - 90;

/** @param own names with this prefix are drawn in the stronger color */
export function draw(panels: readonly Panel[], own: string): string {
  const parts: string[] = [];
  let top = 10;
  for (const { title, unit, bars } of panels) {
    const shown = bars.filter((bar) => bar.value !== undefined);
    const largest = Math.max(...shown.map((bar) => bar.value ?? 0));
    parts.push(`<text class="title" x="10" y="${top + 18}">${title}</text>`);
    top += HEAD;
    for (const { name, value = 0 } of shown) {
      const width = Math.max(1, (value / largest) * BARS).toFixed(1);
      const label = `${value.toFixed(value < 100 ? 1 : 0)} ${unit}`;
      parts.push(
        `<text x="${NAMES - 8}" y="${top + 14}" text-anchor="end">${name}</text>`,
        `<rect class="${name.startsWith(own) ? "own" : "other"}" x="${NAMES}" y="${top + 3}" width="${width}" height="${ROW - 6}"/>`,
        `<text x="${NAMES + Number(width) + 6}" y="${top + 14}">${label}</text>`,
      );
      top += ROW;
    }
    top += 14;
  }
  const style =
    "text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:13px}" +
    ".own{fill:#0969da}.other{fill:#8c959f}" +
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.own{fill:#4493f8}}";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}">`,
    "<title>The product beside its peers</title>",
    `<style>${style}</style>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}
