/** The request that a call of the tool `make_media` amounts to. */
import type { MediaRequest } from "@platform/agent/tools/media-request";
import { serviceOrigin } from "../platform/service-origin.ts";

/** A folder of the sandbox. */
export const MEDIA_FOLDER = "media/";

/**
 * Returns the request to this service that a call amounts to, by which it is also approved.
 * @param stored the URL of the file, if it is stored already
 */
export function mediaOrder({ kind, image, duration, ...given }: MediaRequest, stored?: string) {
  const isUrl = image !== undefined && /^https?:\/\//i.test(image);
  const source = stored ?? (isUrl ? image : undefined);
  const body = {
    ...given,
    ...(duration !== undefined && { duration: `${duration}s` }),
    ...(source !== undefined && {
      [kind === "image" ? "reference_image_url" : "image_url"]: source,
    }),
  };
  const url = new URL(`/api/content/${kind}`, serviceOrigin());
  return { url, body, ...(image !== undefined && !isUrl && { file: image }) };
}
