import { config } from "../platform/config.ts";
import { describeApi } from "./document.ts";
import { examples } from "./examples.ts";
import { operations } from "./registry.ts";

/** Kept by this module, not by the process: `next dev` evaluates it again when a contract changes. */
let described: ReturnType<typeof describeApi> | undefined;

/** Returns the OpenAPI document of this service. */
export function describeService() {
  described ??= describeApi(operations, examples, config().PUBLIC_URL);
  return described;
}
