/** Stored conversations for an hour, or for the minutes of `SOAK_MINUTES`. */
import { test } from "vitest";
import { checkConversations } from "./acceptable-requests.ts";

const DURATION_MS = Number(process.env.SOAK_MINUTES ?? 60) * 60_000;

test(
  "any stored conversation leads to an acceptable request",
  () =>
    checkConversations({
      numRuns: Number.MAX_SAFE_INTEGER,
      interruptAfterTimeLimit: DURATION_MS,
      markInterruptAsFailure: false,
    }),
  DURATION_MS + 60_000,
);
