import type { AspectRatio, Resolution } from "../../../port.ts";

const shortSides: Readonly<Record<Resolution, number>> = { "720p": 720, "1080p": 1080, "4k": 2160 };

/**
 * Returns the size of a picture; both sides are even. `auto` keeps the aspect ratio of the input, or uses
 * 16:9 without one. The resolution sets the shorter side, unless the longer side would then be longer
 * than at 16:9.
 */
export function frameSize(
  aspectRatio: AspectRatio,
  resolution: Resolution,
  input: { readonly width: number; readonly height: number } | null,
): { readonly width: number; readonly height: number } {
  const shortest = shortSides[resolution];
  const longest = (shortest * 16) / 9;
  const own = input ? input.width / input.height : 16 / 9;
  const ratio = aspectRatio === "16:9" ? 16 / 9 : aspectRatio === "9:16" ? 9 / 16 : own;
  // Beyond 3:1 the picture would be too narrow to show anything.
  const wide = Math.min(3, Math.max(ratio, 1 / ratio));
  const long = even(Math.min(longest, shortest * wide));
  const short = even(Math.min(shortest, long / wide));
  return ratio >= 1 ? { width: long, height: short } : { width: short, height: long };
}

const even = (length: number) => Math.round(length / 2) * 2;
