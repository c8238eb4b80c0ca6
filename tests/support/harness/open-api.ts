import { z } from "zod";

/** The parts of a server's OpenAPI document that these tests read, as callers do. */
export const openApi = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ responses: z.record(z.string(), z.object({ description: z.string() })) }),
    ),
  ),
});
export type OpenApi = z.output<typeof openApi>;
