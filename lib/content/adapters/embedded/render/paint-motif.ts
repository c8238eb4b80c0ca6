/** The drawings of posters: each is made of a few simple forms that the seed places anew. */
import type { Palette } from "./palette.ts";
import type { Random } from "./random.ts";

export interface Motif {
  /** SVG, without its root. */
  readonly drawing: string;
  /** Where words are at home on it, in shares of width and height. */
  readonly words: {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
    readonly align: "left" | "centre" | "right";
    readonly colour: string;
    readonly face: "poster" | "serif";
  };
}

type Painter = (width: number, height: number, palette: Palette, random: Random) => Motif;

const round = (value: number) => Math.round(value * 10) / 10;
const pick = <T>(from: readonly [T, ...T[]], random: Random): T =>
  from[Math.floor(random() * from.length)] ?? from[0];
const lightest = (palette: Palette) => palette.at(-1) ?? palette[3];

const slope = (id: string, angle: number, stops: readonly string[]) =>
  `<linearGradient id="${id}" gradientTransform="rotate(${angle} .5 .5)">${stops
    .map((colour, at) => `<stop offset="${at / (stops.length - 1)}" stop-color="${colour}"/>`)
    .join("")}</linearGradient>`;

/** A sun with bars across it, over rows of hills. */
const horizon: Painter = (width, height, palette, random) => {
  const [dark, deep, bright, warm] = palette;
  const short = Math.min(width, height);
  const radius = short * (0.26 + 0.08 * random());
  const [x, y] = [width * (0.3 + 0.4 * random()), height * (0.5 + 0.08 * random())];
  const bars = Array.from({ length: 7 }, (_, at) => {
    const top = y + radius * (at * 0.145 - 0.05);
    return `<rect x="${x - radius}" y="${round(top)}" width="${2 * radius}" height="${round(radius * 0.012 * (at + 1))}" fill="#000"/>`;
  });
  const hills = [0.7, 0.79, 0.89].map((level, at) => {
    const colour = [bright, deep, dark][at];
    return `<path d="${ridge(width, height, level, 0.07 - at * 0.012, random)}" fill="${colour}" opacity="${at === 0 ? 0.75 : 1}"/>`;
  });
  return {
    drawing: `<defs>${slope("s", 90, [dark, deep, bright, warm])}${slope("d", 90, [lightest(palette), warm, bright])}
      <mask id="m"><circle cx="${x}" cy="${y}" r="${radius}" fill="#fff"/>${bars.join("")}</mask></defs>
      <rect width="100%" height="100%" fill="url(#s)"/>
      <circle cx="${x}" cy="${y}" r="${radius * 1.5}" fill="${warm}" opacity=".16"/>
      <rect x="${x - radius}" y="${y - radius}" width="${2 * radius}" height="${2 * radius}" fill="url(#d)" mask="url(#m)"/>
      ${hills.join("")}`,
    words: {
      ...{ x: 0.06, y: 0.06, width: 0.88, height: 0.3 },
      ...{ align: "left", colour: lightest(palette), face: "poster" },
    },
  };
};

function ridge(width: number, height: number, level: number, swing: number, random: Random) {
  const [one, other] = [random() * 6.28, random() * 6.28];
  const points = Array.from({ length: 61 }, (_, at) => {
    const share = at / 60;
    const rise = Math.sin(share * 5 + one) * 0.6 + Math.sin(share * 11 + other) * 0.4;
    return `${round(share * width)} ${round(height * (level - swing * rise))}`;
  });
  return `M0 ${height} L${points.join(" L")} L${width} ${height}Z`;
}

/** Rings around a corner, on paper. */
const rings: Painter = (width, height, palette, random) => {
  const paper = lightest(palette);
  const isLeft = random() < 0.5;
  const reach = Math.max(width, height) * (0.62 + 0.12 * random());
  const inks = [palette[0], palette[2], palette[1], palette[3], palette[2]];
  const circles = Array.from({ length: 10 }, (_, at) => {
    const radius = reach * (1 - at * 0.096);
    const colour = at % 2 ? paper : (inks[(at / 2) % inks.length] ?? palette[1]);
    return `<circle cx="${isLeft ? 0 : width}" cy="${height}" r="${round(radius)}" fill="${colour}"/>`;
  });
  const dot = Math.min(width, height) * 0.07;
  return {
    drawing: `<rect width="100%" height="100%" fill="${paper}"/>${circles.join("")}
      <circle cx="${width * (isLeft ? 0.86 : 0.14)}" cy="${height * 0.78}" r="${round(dot)}" fill="${palette[2]}"/>`,
    words: {
      ...{ x: isLeft ? 0.46 : 0.06, y: 0.07, width: 0.48, height: 0.38 },
      align: isLeft ? "right" : "left",
      colour: palette[0],
      face: "serif",
    },
  };
};

/** Tiles of quarter circles, halves, dots and bars. */
const tiles: Painter = (width, height, palette, random) => {
  const isWide = width > height;
  const across = isWide ? 8 : 4;
  const side = width / across;
  const band = isWide ? 0.3 : 0.24;
  const down = Math.ceil((height * (1 - band)) / side);
  const shapes: string[] = [];
  for (let at = 0; at < across * down; at++) {
    const [x, y] = [
      (at % across) * side,
      height * (1 - band) - (Math.floor(at / across) + 1) * side,
    ];
    const ground = pick(
      [palette[0], palette[1], palette[2], palette[3], lightest(palette)],
      random,
    );
    const others = palette.filter((colour) => colour !== ground);
    const ink = others[Math.floor(random() * others.length)] ?? palette[0];
    shapes.push(
      `<g transform="translate(${round(x)} ${round(y)}) rotate(${90 * Math.floor(random() * 4)} ${round(side / 2)} ${round(side / 2)})">
      <rect width="${round(side + 1)}" height="${round(side + 1)}" fill="${ground}"/>${tile(side, ink, random)}</g>`,
    );
  }
  return {
    drawing: `<rect width="100%" height="100%" fill="${palette[0]}"/>${shapes.join("")}`,
    words: {
      ...{ x: 0.05, y: 1 - band + 0.04, width: 0.9, height: band - 0.08 },
      ...{ align: "left", colour: lightest(palette), face: "poster" },
    },
  };
};

function tile(side: number, ink: string, random: Random): string {
  const half = side / 2;
  return pick(
    [
      `<path d="M0 0 H${side} A${side} ${side} 0 0 1 0 ${side}Z" fill="${ink}"/>`,
      `<path d="M0 ${half} A${half} ${half} 0 0 1 ${side} ${half}Z" fill="${ink}"/>`,
      `<circle cx="${half}" cy="${half}" r="${side * 0.32}" fill="${ink}"/>`,
      `<path d="M0 0 L${side} ${side} H0Z" fill="${ink}"/>`,
      `<rect width="${side}" height="${side / 3}" fill="${ink}"/><rect y="${(side * 2) / 3}" width="${side}" height="${side / 3}" fill="${ink}"/>`,
    ],
    random,
  );
}

/** Ribbons that swing across, one behind the other. */
const ribbons: Painter = (width, height, palette, random) => {
  const inks = palette.slice(1);
  const count = 13;
  const [phase, bend] = [random() * 6.28, 1.6 + random() * 2];
  const paths = Array.from({ length: count }, (_, at) => {
    const level = 0.34 + (0.62 * at) / count;
    const points = Array.from({ length: 49 }, (_, step) => {
      const share = step / 48;
      const swing = Math.sin(share * bend * 2 + phase + at * 0.19) * (0.16 - 0.006 * at);
      return `${round(share * width)} ${round(height * (level + swing))}`;
    });
    const colour = inks[at % inks.length];
    return `<path d="M0 ${height} L${points.join(" L")} L${width} ${height}Z" fill="${colour}" opacity="${at === 0 ? 1 : 0.86}"/>`;
  });
  return {
    drawing: `<defs>${slope("s", 60, [palette[0], palette[1]])}</defs>
      <rect width="100%" height="100%" fill="url(#s)"/>${paths.join("")}`,
    words: {
      ...{ x: 0.06, y: 0.06, width: 0.88, height: 0.26 },
      ...{ align: "centre", colour: lightest(palette), face: "serif" },
    },
  };
};

/** Clouds of colour that run into each other. */
const clouds: Painter = (width, height, palette, random) => {
  const long = Math.max(width, height);
  const spots = Array.from({ length: 9 }, (_, at) => {
    const colour = palette[1 + (at % (palette.length - 1))];
    return `<circle cx="${round(random() * width)}" cy="${round(random() * height)}" r="${round(long * (0.14 + 0.16 * random()))}" fill="${colour}"/>`;
  });
  const ring = Math.min(width, height) * 0.31;
  return {
    drawing: `<defs><filter id="b" x="-50%" y="-50%" width="200%" height="200%">
      <feGaussianBlur stdDeviation="${round(long * 0.075)}"/></filter></defs>
      <rect width="100%" height="100%" fill="${palette[1]}"/><g filter="url(#b)">${spots.join("")}</g>
      <circle cx="${width / 2}" cy="${height / 2}" r="${ring}" fill="none" stroke="${lightest(palette)}"
        stroke-width="${round(ring * 0.012)}" opacity=".7"/>
      <rect width="100%" height="100%" fill="${palette[0]}" opacity=".12"/>`,
    words: {
      ...{ x: 0.1, y: 0.34, width: 0.8, height: 0.32 },
      ...{ align: "centre", colour: lightest(palette), face: "serif" },
    },
  };
};

export const painters: readonly [Painter, ...Painter[]] = [horizon, tiles, clouds, rings, ribbons];
