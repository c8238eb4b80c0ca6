import type { VideoMode } from "@platform/media/port";
import type { TaskRun } from "@/lib/task-runs/task-run.ts";

export interface ContentMedia {
  readonly kind: "video" | "image";
  /** The URL that the API returned, which it also takes as an input. */
  readonly url: string;
}

/** Returns true for runs of the content endpoints, and of other tasks that generate the same. */
export const isContentRun = ({ taskIdentifier }: TaskRun): boolean =>
  /(^|[-_])(video|image|content)s?$/.test(taskIdentifier);

export const isImageRun = ({ taskIdentifier }: TaskRun): boolean =>
  /(^|[-_])images?$/.test(taskIdentifier);

/** Returns the media of a run's output; if there is a video, without the image it was made from. */
export function mediaIn({ output }: TaskRun): ContentMedia[] {
  const { videoSourceUrl: video, images, imageUrl } = Object(output);
  if (isUrl(video)) return [{ kind: "video", url: video }];
  const listed: unknown[] = Array.isArray(images) && images.length > 0 ? images : [imageUrl];
  return listed.filter(isUrl).map((url) => ({ kind: "image", url }));
}

const isUrl = (value: unknown): value is string =>
  typeof value === "string" && URL.canParse(value) && /^https?:/i.test(value);

const OWN_MEDIA = /^\/api\/media\/[0-9a-f-]{36}\/[0-9a-f]{32}\.\w+$/;

/**
 * Returns the URL from which the page loads media. The service's own files are loaded from the origin
 * of the page, because the service may have several names. Returns null for media that the page's
 * content security policy blocks.
 * @param mediaOrigin see `Frame`
 */
export function mediaAddress(url: string, mediaOrigin: string | null): string | null {
  if (!URL.canParse(url)) return null;
  const { pathname, origin } = new URL(url);
  if (OWN_MEDIA.test(pathname)) return pathname;
  return origin === mediaOrigin ? url : null;
}

/** Returns the address of a small version of an image that `mediaAddress` returned. */
export const thumbnailAddress = (address: string, width: 160 | 320 | 640): string =>
  address.startsWith("/api/media/") ? `${address}?width=${width}` : address;

const modeNames = {
  prompt: "Prompt",
  animate: "Animate",
  reference: "Reference",
  extend: "Extend",
  "first-last": "First and last frame",
  lipsync: "Lip sync",
} as const satisfies Record<VideoMode, string>;

/** Returns a title such as `Animate video` or `Image`. */
export function titleOf(run: TaskRun): string {
  if (isImageRun(run)) return "Image";
  const mode = modeNames[String(run.metadata?.mode) as VideoMode];
  return mode === undefined ? "Video" : `${mode} video`;
}

const steps: Readonly<Record<string, string>> = {
  fetching: "Loading inputs…",
  generating: "Generating…",
  storing: "Saving the result…",
};

export const stepOf = ({ metadata }: TaskRun): string | null =>
  steps[String(metadata?.step)] ?? null;
