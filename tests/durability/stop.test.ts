/**
 * POST /api/chat/{chatId}/stop ends a turn that would hang forever, and keeps its answer so far.
 * `npm run bench -- stop` measures the delay.
 */
import { stopSuite } from "./suites/stop.ts";

stopSuite();
