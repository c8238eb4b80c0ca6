/** Who makes images and videos for this server: fal when it is configured, else this machine. */
import { config } from "../config.ts";
import { embeddedContent } from "./embedded/embedded.ts";
import { renderQueue } from "./embedded/job-queue.ts";
import { falContent } from "./fal/fal.ts";
import type { ContentProvider } from "./provider.ts";

export function contentProvider(): ContentProvider {
  const { FAL_KEY: key, FAL_BASE_URL: baseUrl, FAL_STORAGE_URL: storageUrl } = config();
  return key ? falContent({ key, baseUrl, storageUrl }) : embeddedContent({ queue: renderQueue() });
}
