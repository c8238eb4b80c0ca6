/** What a run that made content shows: its media, and what it was asked for. */
import type { VideoMode } from "@/lib/content/port.ts";
import type { TaskRun } from "@/lib/tasks/task-run.ts";

export interface ContentMedia {
  readonly kind: "video" | "image";
  /** As the API gave it, and takes it as an input. */
  readonly url: string;
}

/** Runs of this service's content endpoints, and of tasks elsewhere that make the same. */
export const isContentRun = ({ taskIdentifier }: TaskRun): boolean =>
  /(^|[-_])(video|image|content)s?$/.test(taskIdentifier);

export const isImageRun = ({ taskIdentifier }: TaskRun): boolean =>
  /(^|[-_])images?$/.test(taskIdentifier);

/** The media of a run's output: a video before the image it was made from. */
export function mediaIn({ output }: TaskRun): ContentMedia[] {
  if (typeof output !== "object" || output === null) return [];
  const videos = "videoSourceUrl" in output ? [output.videoSourceUrl] : [];
  if (videos.some(isUrl)) return videos.filter(isUrl).map((url) => ({ kind: "video", url }));
  const listed = "images" in output && Array.isArray(output.images) ? output.images : [];
  const single = "imageUrl" in output ? [output.imageUrl] : [];
  const images: unknown[] = listed.length > 0 ? listed : single;
  return images.filter(isUrl).map((url) => ({ kind: "image", url }));
}

const isUrl = (value: unknown): value is string =>
  typeof value === "string" && URL.canParse(value) && /^https?:/i.test(value);

const OWN_MEDIA = /^\/api\/media\/[0-9a-f-]{36}\/[0-9a-f]{32}\.\w+$/;

/**
 * Where the page loads media from: this service's own files from the page's origin, under whichever
 * of the service's names it was opened. Null for what the page's policy keeps out.
 * @param mediaOrigin see `Frame`
 */
export function mediaAddress(url: string, mediaOrigin: string | null): string | null {
  if (!URL.canParse(url)) return null;
  const { pathname, origin } = new URL(url);
  if (OWN_MEDIA.test(pathname)) return pathname;
  return origin === mediaOrigin ? url : null;
}

const modeNames = {
  prompt: "Prompt",
  animate: "Animate",
  reference: "Reference",
  extend: "Extend",
  "first-last": "First and last frame",
  lipsync: "Lipsync",
} as const satisfies Record<VideoMode, string>;

/** `Animate video`, `Image`; what else a run says about itself is its name. */
export function titleOf(run: TaskRun): string {
  if (isImageRun(run)) return "Image";
  const mode = modeNames[String(run.metadata?.mode) as VideoMode];
  return mode === undefined ? "Video" : `${mode} video`;
}

const steps: Readonly<Record<string, string>> = {
  fetching: "Fetching the inputs",
  generating: "Generating",
  storing: "Storing the result",
};

/** What a run is at, where it says so. */
export const stepOf = ({ metadata }: TaskRun): string | null =>
  steps[String(metadata?.step)] ?? null;
