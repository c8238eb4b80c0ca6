"use client";
import { type Ref, useRef } from "react";
import { mediaAddress } from "@/app/(console)/content/content-result.ts";
import { useFrame } from "../_shell/frame.tsx";
import { cn } from "./class-names.ts";
import { useRemoteThumbnail } from "./remote-thumbnail.ts";

/** Ground, shape and detail of a cover. */
const PALETTES = [
  ["#1f2a44", "#e07a5f", "#f2cc8f"],
  ["#0b3954", "#ff6663", "#bfd7ea"],
  ["#2d1e2f", "#e3b23c", "#edebd7"],
  ["#264653", "#e76f51", "#e9c46a"],
  ["#3d405b", "#81b29a", "#f4f1de"],
  ["#5f0f40", "#fb8b24", "#ffd9a0"],
  ["#14213d", "#fca311", "#e5e5e5"],
  ["#283618", "#dda15e", "#fefae0"],
  ["#3a0ca3", "#f72585", "#4cc9f0"],
  ["#6d2e46", "#eaac8b", "#f6e7cb"],
  ["#003049", "#d62828", "#fcbf49"],
  ["#1b4332", "#74c69d", "#ffe066"],
] as const;

/**
 * The picture of an artist, an album, a track or an organization: the given one, else a drawing that follows
 * from `seed`. It is decorative, because the name always stands beside it.
 */
export function Cover({
  seed,
  image,
  round = false,
  className,
}: {
  /** An id, so that the same thing looks the same everywhere. */
  readonly seed: string;
  readonly image?: string | null | undefined;
  /** For artists. */
  readonly round?: boolean;
  readonly className?: string;
}) {
  const { mediaOrigin } = useFrame();
  const address = image ? mediaAddress(image, mediaOrigin) : null;
  const style = cn(
    "block aspect-square shrink-0 overflow-hidden bg-muted",
    round ? "rounded-full" : "rounded-md",
    className,
  );
  if (address !== null) return <Picture source={address} className={style} />;
  if (image && /^https?:/i.test(image)) {
    return <RemotePicture key={image} url={image} seed={seed} className={style} />;
  }
  return <Drawing seed={seed} className={style} />;
}

function Picture({ source, className }: { readonly source: string; readonly className: string }) {
  return (
    // biome-ignore lint/performance/noImgElement: an optimizer would need the media's origin on the server
    <img src={source} alt="" loading="lazy" className={cn(className, "object-cover")} />
  );
}

/** A picture on another host, drawn until it is loaded. */
function RemotePicture({
  url,
  seed,
  className,
}: {
  readonly url: string;
  readonly seed: string;
  readonly className: string;
}) {
  const drawing = useRef<SVGSVGElement>(null);
  const source = useRemoteThumbnail(url, drawing);
  if (source !== null) return <Picture source={source} className={className} />;
  return <Drawing ref={drawing} seed={seed} className={className} />;
}

function Drawing({
  seed,
  className,
  ref,
}: {
  readonly seed: string;
  readonly className: string;
  readonly ref?: Ref<SVGSVGElement>;
}) {
  const hash = hashOf(seed);
  const [ground, shape, detail] = PALETTES[hash % PALETTES.length] ?? PALETTES[0];
  const { Motif, turns } = MOTIFS[(hash >>> 8) % MOTIFS.length] ?? MOTIFS[0];
  return (
    <svg ref={ref} viewBox="0 0 100 100" aria-hidden="true" className={className}>
      <rect width="100" height="100" fill={ground} />
      <g transform={`rotate(${((hash >>> 16) % turns) * 90} 50 50)`}>
        <Motif shape={shape} detail={detail} step={8 + ((hash >>> 20) % 7)} />
      </g>
    </svg>
  );
}

interface MotifProps {
  readonly shape: string;
  readonly detail: string;
  /** 8 to 14: what makes two covers of one motif differ. */
  readonly step: number;
}

function Rings({ shape, detail, step }: MotifProps) {
  return (
    <>
      <circle cx="50" cy="50" r="40" fill={shape} />
      <circle cx="50" cy="50" r={40 - step} fill="none" stroke={detail} strokeWidth="1.5" />
      <circle cx="50" cy="50" r={36 - 2 * step} fill={detail} />
    </>
  );
}

function Horizon({ shape, detail, step }: MotifProps) {
  return (
    <>
      <circle cx={30 + 2 * step} cy="52" r={14 + step} fill={shape} />
      <rect y="60" width="100" height="40" fill={detail} opacity="0.9" />
      <rect y={60 + step} width="100" height="2" fill={shape} />
      <rect y={64 + 2 * step} width="100" height="3" fill={shape} />
    </>
  );
}

function Bars({ shape, detail, step }: MotifProps) {
  return [0, 1, 2, 3, 4, 5].map((bar) => {
    const height = 20 + ((bar * step * 7) % 60);
    return (
      <rect
        key={bar}
        x={8 + bar * 14.5}
        y={50 - height / 2}
        width="9"
        height={height}
        rx="4.5"
        fill={bar % 3 === 1 ? detail : shape}
      />
    );
  });
}

function Quarters({ shape, detail, step }: MotifProps) {
  return (
    <>
      <path d="M0 0h50a50 50 0 0 1-50 50z" fill={shape} />
      <path d="M100 100H50a50 50 0 0 1 50-50z" fill={detail} />
      <circle cx={78 - step} cy={22 + step} r={step} fill={shape} />
    </>
  );
}

function Peaks({ shape, detail, step }: MotifProps) {
  return (
    <>
      <circle cx="72" cy="26" r={step} fill={detail} />
      <path d={`M-10 100 ${24 + step} 34 80 100z`} fill={shape} />
      <path d={`M30 100 ${62 + step} 52 120 100z`} fill={detail} opacity="0.85" />
    </>
  );
}

/** With the number of quarter turns in which they look right. */
const MOTIFS = [
  { Motif: Rings, turns: 1 },
  { Motif: Horizon, turns: 1 },
  { Motif: Bars, turns: 2 },
  { Motif: Quarters, turns: 4 },
  { Motif: Peaks, turns: 1 },
] as const;

/** FNV-1a, as an unsigned number of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return hash >>> 0;
}
