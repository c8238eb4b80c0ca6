import { createHash, timingSafeEqual } from "node:crypto";
import { type AppError, appError } from "@platform/endpoint/contract/app-error";
import { config } from "../platform/config.ts";

/** Errors: 401 unless the header has `CRON_SECRET`, 503 without such a setting. */
export function checkCronSecret(authorization: string | null): AppError | undefined {
  const { CRON_SECRET } = config();
  if (CRON_SECRET === undefined) return appError("not_configured", "CRON_SECRET is not configured");
  const [given, expected] = [authorization ?? "", `Bearer ${CRON_SECRET}`].map((text) =>
    createHash("sha256").update(text).digest(),
  );
  return given && expected && timingSafeEqual(given, expected)
    ? undefined
    : appError("unauthorized", "Unauthorized");
}
