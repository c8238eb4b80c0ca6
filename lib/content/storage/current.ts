/**
 * Which storage this server uses: it goes with the database. Beside the embedded one files are on
 * this machine's disk; a Supabase project keeps them in its own Storage.
 */
import { join, resolve } from "node:path";
import { config } from "../../platform/config.ts";
import { serviceOrigin } from "../../platform/service-origin.ts";
import { createDiskStorage, type DiskStorage } from "./adapters/disk.ts";
import { createSupabaseStorage } from "./adapters/supabase.ts";
import type { MediaStorage } from "./port.ts";

export function mediaStorage(): MediaStorage {
  const { SUPABASE_URL: url, SUPABASE_SECRET_KEY: secretKey, MEDIA_BUCKET: bucket } = config();
  return diskStorage() ?? createSupabaseStorage({ url, secretKey, bucket });
}

/** Null when files are not on this machine: then this service serves none. */
export function diskStorage(): DiskStorage | null {
  const { EMBEDDED_SUPABASE, DATA_DIR } = config();
  if (!EMBEDDED_SUPABASE) return null;
  return createDiskStorage({ folder: join(resolve(DATA_DIR), "media"), origin: serviceOrigin() });
}
