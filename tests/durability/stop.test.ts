/**
 * POST /api/chat/{chatId}/stop: a turn that would hang for good ends, what was answered stays.
 * How soon is measured by `npm run bench -- stop`.
 */
import { stopSuite } from "./suites/stop.ts";

stopSuite();
