/** Who makes images and videos for this server: fal when it is configured, else this machine. */
import { config } from "../platform/config.ts";
import { embeddedContent } from "./adapters/embedded/embedded.ts";
import { renderQueue } from "./adapters/embedded/job-queue.ts";
import { falContent } from "./adapters/fal/fal.ts";
import type { ContentProvider } from "./port.ts";

export function contentProvider(): ContentProvider {
  const { FAL_KEY: key, FAL_BASE_URL: baseUrl, FAL_STORAGE_URL: storageUrl } = config();
  return key ? falContent({ key, baseUrl, storageUrl }) : embeddedContent({ queue: renderQueue() });
}
