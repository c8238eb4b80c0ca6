import { type Ref, type RefObject, useEffect, useRef, useState } from "react";
import { loadImage } from "../_api/request.ts";
import { useFrame } from "../_shell/frame.tsx";
import { mediaAddress } from "../content/content-result.ts";
import { cn } from "./class-names.ts";

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

interface CoverProps {
  /** An id: the same seed always gives the same cover. */
  readonly seed: string;
  readonly image?: string | null | undefined;
  readonly round?: boolean;
  readonly className?: string;
}

/**
 * The picture of an artist, an album, a track or an organization: the given one, else a drawing that follows
 * from `seed`. It is decorative, because the name always stands beside it.
 */
export function Cover({ seed, image, round = false, className }: CoverProps) {
  const { mediaOrigin } = useFrame();
  const drawing = useRef<SVGSVGElement>(null);
  const address = image ? mediaAddress(image, mediaOrigin) : null;
  const isRemote = address === null && /^https?:/i.test(image ?? "");
  const thumbnail = useRemoteThumbnail(isRemote && image ? image : null, drawing);
  const source = address ?? thumbnail;
  const style = cn(
    "block aspect-square shrink-0 overflow-hidden bg-muted",
    round ? "rounded-full" : "rounded-md",
    className,
  );
  if (source === null) return <Drawing ref={drawing} seed={seed} className={style} />;
  return (
    // biome-ignore lint/performance/noImgElement: an optimizer would need the media's origin on the server
    <img src={source} alt="" loading="lazy" className={cn(style, "object-cover")} />
  );
}

type DrawingProps = Readonly<{ seed: string; className: string; ref: Ref<SVGSVGElement> }>;

/** Two shapes on a ground, whose colors, places and sizes follow from the seed. */
function Drawing({ seed, className, ref }: DrawingProps) {
  const hash = hashOf(seed);
  const [ground, shape, detail] = PALETTES[hash % PALETTES.length] ?? PALETTES[0];
  const size = 24 + ((hash >>> 8) % 5) * 5;
  const edge = 45 + ((hash >>> 12) % 6) * 6;
  return (
    <svg ref={ref} viewBox="0 0 100 100" aria-hidden="true" className={className}>
      <rect width="100" height="100" fill={ground} />
      <g transform={`rotate(${((hash >>> 16) % 8) * 45} 50 50)`}>
        <circle cx={30 + ((hash >>> 20) % 5) * 10} cy="44" r={size} fill={shape} />
        <rect x="-25" y={edge} width="150" height="80" fill={detail} opacity="0.9" />
      </g>
    </svg>
  );
}

/** FNV-1a, as an unsigned number of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return hash >>> 0;
}

/** A page of covers must not take all connections of the browser. */
const MAX_CONCURRENT = 4;
const MAX_KEPT = 300;

/** Object URLs by address; null if there is no picture. */
const loaded = new Map<string, Promise<string | null>>();
const waiting: (() => void)[] = [];
let active = 0;

/**
 * Small versions of pictures on other hosts, fetched by the service: the page's policy allows no other
 * origin, and the host learns nothing of the reader. Only for pictures that the account's own members or
 * the catalog have set; an answer's are fetched after a click.
 */
function load(url: string): Promise<string | null> {
  const known = loaded.get(url);
  if (known) return known;
  const query = new URLSearchParams({ url, width: "320" });
  const loading = inTurn(() => loadImage(`/api/media/proxy?${query}`));
  loaded.set(url, loading);
  const [oldest] = loaded;
  if (loaded.size > MAX_KEPT && oldest) {
    loaded.delete(oldest[0]);
    void oldest[1].then((source) => source !== null && URL.revokeObjectURL(source));
  }
  return loading;
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (active >= MAX_CONCURRENT) await new Promise<void>((begin) => waiting.push(begin));
  active += 1;
  try {
    return await work();
  } finally {
    active -= 1;
    waiting.shift()?.();
  }
}

type Loaded = Readonly<{ url: string; source: string }>;

/** Returns the source of the picture once `element` has been in view and the picture is loaded; else null. */
export function useRemoteThumbnail(url: string | null, element: RefObject<Element | null>) {
  const [source, setSource] = useState<Loaded | null>(null);
  useEffect(() => {
    if (url === null) return;
    let isCurrent = true;
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      observer.disconnect();
      void load(url).then((found) => {
        if (isCurrent && found !== null) setSource({ url, source: found });
      });
    });
    if (element.current) observer.observe(element.current);
    return () => {
      isCurrent = false;
      observer.disconnect();
    };
  }, [url, element]);
  return source?.url === url ? source.source : null;
}
