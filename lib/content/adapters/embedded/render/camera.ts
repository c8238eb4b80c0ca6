/** Where a virtual camera looks at a picture, and how it moves there during a clip. */
import type { VideoOrder } from "../../../port.ts";
import type { Mapping } from "./draw.ts";
import type { Frame } from "./frame.ts";
import type { Random } from "./random.ts";

export interface Pose {
  /** 1 shows the whole picture; more shows less of it. */
  readonly zoom: number;
  /** Where in the room that the zoom leaves: -1 left or up, 1 right or down. */
  readonly x: number;
  readonly y: number;
  /** Radians. */
  readonly roll: number;
}

/** From 0, the beginning, to 1, the end. */
export type CameraPath = (progress: number) => Pose;

/** How the target's pixels lie in a source of the same shape and any size. */
export function lookAt(target: Frame, source: Frame, pose: Pose): Mapping {
  // A rolled view needs more room than an upright one, or its corners would be empty.
  const longest = Math.max(target.width / target.height, target.height / target.width);
  const room = Math.cos(pose.roll) + longest * Math.abs(Math.sin(pose.roll));
  const zoom = Math.max(pose.zoom, room);
  const scale = source.width / target.width / zoom;
  const slackX = (source.width * (1 - room / zoom)) / 2;
  const slackY = (source.height * (1 - room / zoom)) / 2;
  const a = scale * Math.cos(pose.roll);
  const d = scale * Math.sin(pose.roll);
  const centreX = (source.width - 1) / 2 + clamp(pose.x) * slackX;
  const centreY = (source.height - 1) / 2 + clamp(pose.y) * slackY;
  const middleX = (target.width - 1) / 2;
  const middleY = (target.height - 1) / 2;
  return {
    a,
    b: -d,
    c: centreX - a * middleX + d * middleY,
    d,
    e: a,
    f: centreY - d * middleX - a * middleY,
  };
}

const clamp = (value: number) => Math.min(1, Math.max(-1, value));

/** Without a jerk at either end. */
export const ease = (progress: number) => progress ** 3 * (progress * (6 * progress - 15) + 10);

/** The whole picture. */
export const STILL: Pose = { zoom: 1, x: 0, y: 0, roll: 0 };

type Move = (amount: number, random: Random) => CameraPath;

const towards =
  (end: (amount: number) => Partial<Pose>): Move =>
  (amount) => {
    const goal = { ...STILL, ...end(amount) };
    return (progress) => between(STILL, goal, ease(progress));
  };

const drift: Move = (amount, random) => {
  const phase = random() * Math.PI * 2;
  const side = random() < 0.5 ? -1 : 1;
  return (progress) => {
    const grown = ease(Math.min(1, progress * 2));
    return {
      zoom: 1 + 0.14 * amount * ease(Math.min(1, progress * 1.4)),
      x: side * 0.8 * grown * Math.sin(phase + progress * 3.6),
      y: 0.7 * grown * Math.cos(phase * 1.7 + progress * 2.9),
      roll: side * 0.012 * amount * grown * Math.sin(progress * 3.1),
    };
  };
};

const pulse: Move = (amount) => (progress) => {
  const beat = Math.abs(Math.sin(progress * Math.PI * 8)) ** 3;
  const grown = Math.min(1, progress * 4);
  return {
    zoom: 1 + amount * (0.06 * ease(progress) + 0.05 * beat * grown),
    x: 0,
    y: -0.6 * beat * grown,
    roll: 0.01 * amount * Math.sin(progress * Math.PI * 4) * grown,
  };
};

const moves = {
  in: towards((amount) => ({ zoom: 1 + 0.26 * amount, y: -0.25 })),
  out: (amount) => {
    const start = { ...STILL, zoom: 1 + 0.3 * amount, y: -0.25 };
    return (progress) => between(start, STILL, ease(progress));
  },
  left: towards((amount) => ({ zoom: 1 + 0.2 * amount, x: -1 })),
  right: towards((amount) => ({ zoom: 1 + 0.2 * amount, x: 1 })),
  up: towards((amount) => ({ zoom: 1 + 0.2 * amount, y: -1 })),
  down: towards((amount) => ({ zoom: 1 + 0.2 * amount, y: 1 })),
  orbit: (amount, random) => {
    const side = random() < 0.5 ? -1 : 1;
    const goal = { zoom: 1 + 0.22 * amount, x: side * 0.5, y: 0, roll: side * 0.07 * amount };
    return (progress) => between(STILL, goal, ease(progress));
  },
  drift,
  pulse,
} satisfies Record<string, Move>;

/** The first that matches counts. */
const words: readonly (readonly [RegExp, keyof typeof moves])[] = [
  [/\b(pull|zoom\w*|dolly|track\w*)[ -]*(out|back|away)\b|\breveal|\bwiden/, "out"],
  [/\b(push\w*|zoom\w*|dolly|track\w*|move[sd]?)[ -]*(in|closer|forward)\b|\bclose[rs -]/, "in"],
  [/\b(pan\w*|truck\w*|slid\w*|sweep\w*|track\w*)\b.*\bleft\b/, "left"],
  [/\b(pan\w*|truck\w*|slid\w*|sweep\w*|track\w*)\b.*\bright\b/, "right"],
  [/\b(tilt\w*|crane|pedestal)\b.*\bup\b|\b(ris(e|es|ing)|ascend|lift|soar)/, "up"],
  [/\b(tilt\w*|crane|pedestal)\b.*\bdown\b|\b(fall(s|ing)?|descend|sink)/, "down"],
  [/\b(orbit|rotat|spin|roll|arc|turn|swirl|circl)/, "orbit"],
  [/\b(puls|beat|danc|nod|bounc|shak|bob|jump|throb)/, "pulse"],
  [/\b(drift|float|handheld|sway|breath|hover|wander|glid)/, "drift"],
  [/\b(zoom|push|dolly)/, "in"],
  [/\b(pan|sweep|truck|slid)/, "right"],
  [/\btilt/, "up"],
];

/** By what is said of the movement, else by the prompt, else by chance; never a move that is ruled out. */
export function chooseCamera(
  order: Pick<VideoOrder, "movement" | "prompt" | "negativePrompt">,
  random: Random,
): CameraPath {
  const unwanted = order.negativePrompt?.toLowerCase() ?? "";
  const wanted = words.filter(([pattern]) => !pattern.test(unwanted));
  for (const text of [order.movement, order.prompt]) {
    const lower = text?.toLowerCase() ?? "";
    const found = wanted.find(([pattern]) => pattern.test(lower));
    if (found) return moves[found[1]](amountOf(lower), random);
  }
  const left = wanted.map(([, name]) => name).filter((name) => name !== "pulse");
  return moves[left[Math.floor(random() * left.length)] ?? "drift"](1, random);
}

function amountOf(text: string): number {
  if (/\b(slow|gentl|subtl|soft|calm|barely)/.test(text)) return 0.65;
  return /\b(fast|quick|rapid|dramatic|strong|intense|energetic)/.test(text) ? 1.4 : 1;
}

export function between(from: Pose, to: Pose, share: number): Pose {
  const mix = (one: number, other: number) => one + (other - one) * share;
  return {
    // By factors, so that a zoom does not seem to slow down on its way in.
    zoom: from.zoom * (to.zoom / from.zoom) ** share,
    x: mix(from.x, to.x),
    y: mix(from.y, to.y),
    roll: mix(from.roll, to.roll),
  };
}
