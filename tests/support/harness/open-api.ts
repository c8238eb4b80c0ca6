import { z } from "zod";

/** What is read of the OpenAPI document that a server gives: it is what callers build on. */
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
